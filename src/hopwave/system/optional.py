"""Optional libraries, imported on first use; if one is missing, the error says how to install it."""

from typing import Any

from hopwave.errors import EngineError
from hopwave.system.threads import imported

# Arguments of pip for each extra of pyproject.toml. Error messages name the libraries instead of the extra, because
# that works whether hopwave was installed from an index, a wheel or a clone.
LIBRARIES = {
    "cuda12": "cupy-cuda12x 'cuda-toolkit[cudart,nvrtc,cccl]==12.*'",
    "cuda13": "cupy-cuda13x 'cuda-toolkit[cudart,nvrtc,cccl]==13.*'",
    "igraph": "igraph",
    "io": "pyarrow pandas",
    "mpi": "mpi4py mpich",
    "networkx": "networkx",
    "plot": "matplotlib",
}


def install(extra: str) -> str:
    """The command that installs the libraries of an extra."""
    return f"pip install {LIBRARIES[extra]}"


def optional(name: str, purpose: str) -> Any:
    """The module with that name; raises an EngineError that says how to install it or its missing dependency."""
    try:
        return imported(name)
    except ImportError as error:
        library, missing = (whole.partition(".")[0] for whole in (name, error.name or name))
        reason = "is not installed" if library == missing and error.name else f"cannot be imported ({error})"
        raise EngineError(f"{purpose} needs {library}, which {reason}; run: pip install {missing}") from None
