"""Arrays in one file, as numpy.load reads them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np


def write_arrays(stream: Any, arrays: Mapping[str, Any], *, packed: bool) -> None:
    """Write arrays by name to an .npz archive; `packed` compresses them.

    numpy.savez leaves an archive behind if a write fails, whose deletion fails again, with a traceback on stderr.
    """
    with _Archive(stream, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)


class _Archive(zipfile.ZipFile):
    """An archive that writes its end where it is closed, and nothing when it is deleted."""

    def __del__(self) -> None:
        """Do nothing."""
