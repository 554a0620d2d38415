"""Structs that kernels declare and Python fills or reads; tests/engines/cuda/test_kernels.py compares both layouts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

TYPES = {
    "ptr": np.uint64, "u64": np.uint64, "i64": np.int64, "f64": np.float64, "u32": np.uint32, "i32": np.int32,
}  # fmt: skip


@dataclass(frozen=True)
class Mirrored:
    """A struct of one header (its path below kernels/), with template arguments, and its layout in Python."""

    header: str
    struct: str
    dtype: np.dtype[Any]


MIRRORED: list[Mirrored] = []


def record(header, struct, *declarations, size=None, offsets=None):
    """The dtype of a C++ struct. Each declaration is a type and names; name[4] is an array.

    `size`: bytes, if the alignment exceeds that of the fields. `offsets`: of the fields, if only some are declared.

    >>> record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin").itemsize
    16
    """
    fields = [_field(TYPES[kind], name) for kind, *names in map(str.split, declarations) for name in names]
    dtype = np.dtype(fields, align=True)
    if size is not None:
        places = offsets or [dtype.fields[name][1] for name in dtype.names]
        formats = [dtype[name] for name in dtype.names]
        dtype = np.dtype({"names": list(dtype.names), "formats": formats, "offsets": places, "itemsize": size})
    MIRRORED.append(Mirrored(header, struct, dtype))
    return dtype


def _field(kind, name):
    name, _, length = name.partition("[")
    return (name, kind, int(length[:-1])) if length else (name, kind)


class Record(np.ndarray):
    """A record as a kernel argument. NumPy's own description of its fields would lose a Ctrl-C."""

    @property
    def __array_interface__(self):
        return {"data": (self.ctypes.data, False)}


def filled(dtype, **values):
    """One record with these values, as a kernel argument. An array becomes its address, None a null pointer."""
    made = np.zeros(1, dtype).view(Record)
    fill(made, **values)
    return made


def fill(made, **values):
    """Set some fields of a record. The caller keeps arrays alive: a record stores only their addresses."""
    for name, value in values.items():
        made[name] = address(value) if value is None or hasattr(value, "get") else value


def address(array):
    return 0 if array is None else array.data.ptr
