"""Optional libraries, imported on first use; if one is missing, the error says how to install it."""

from typing import Any

from hopwave.errors import EngineError
from hopwave.system.threads import imported

# Library → extra of pyproject.toml.
EXTRAS = {"igraph": "igraph", "matplotlib": "plot", "networkx": "networkx", "pandas": "io", "pyarrow": "io"}


def install(extra: str) -> str:
    """The command that installs the libraries of an extra. It also works if hopwave was installed from a clone."""
    return f'pip install "hopwave[{extra}]"'


def optional(name: str, purpose: str) -> Any:
    """The module with that name; raises an EngineError that says how to install it or its missing dependency."""
    try:
        return imported(name)
    except (ImportError, OSError) as error:  # an OSError: a shared library that does not fit into memory
        named = getattr(error, "name", None)
        library, missing = (whole.partition(".")[0] for whole in (name, named or name))
        reason = "is not installed" if library == missing and named else f"cannot be imported ({error})"
        command = install(EXTRAS[missing]) if missing in EXTRAS else f"pip install {missing}"
        raise EngineError(f"{purpose} needs {library}, which {reason}; run: {command}") from None
