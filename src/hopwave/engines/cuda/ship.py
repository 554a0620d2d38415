"""Compiles the kernels of ordinary calls for the GPUs of a wheel: `python -m hopwave.engines.cuda.ship FOLDER`."""

import json
import os
import sys
from pathlib import Path

from hopwave.engines.cuda import kernel_files, nvrtc
from hopwave.system.files import replacing
from hopwave.system.threads import Pool

GPUS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
ORDINARY = Path(__file__).resolve().parent / "ordinary.json"


def ship(place: Path, gpus: tuple[str, ...] = GPUS, ordinary: Path = ORDINARY) -> int:
    """Compile the recorded instances for these GPUs into a folder; returns the number of files."""
    from cupy_backends.cuda.libs import nvrtc as library

    place.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(ordinary.read_text(encoding="utf-8"))

    def one(arch, header, names, more, text):
        code, symbols = nvrtc._compile(header, arch, names, more, text)
        path = kernel_files.path_of(nvrtc.shipped_key(header, arch, names, more, text), place)
        with replacing(path) as stream:
            stream.write(kernel_files.content_of(code, symbols))

    pool = Pool(os.cpu_count() or 1)
    begun = [pool.begin(one, arch, *instance) for arch in gpus for instance in recorded]
    for task in begun:
        task.result()
    with replacing(place / kernel_files.ABOUT) as stream:
        stream.write(json.dumps({"nvrtc": library.getVersion()}).encode() + b"\n")
    return len(begun)


if __name__ == "__main__":
    print(f"{ship(Path(sys.argv[1]))} files")
