"""What hw.estimate_memory returns."""

from __future__ import annotations

from dataclasses import dataclass

from hopwave.display import html
from hopwave.errors import amount


@dataclass(frozen=True)
class MemoryEstimate:
    """The memory that a call would take at its peak. `int()` returns its bytes.

    Attributes
    ----------
    what : str
        The function.
    device : str
        "cpu": `bytes` is resident memory of the process. "cuda": it is memory of the GPU.
    bytes : int
        The peak, without the graph's own arrays on the host.
    parts : dict of str to int
        The arrays that exist at the peak, with their bytes, largest first.
    free : int, or None
        Bytes that are free on that device now; None if unknown.
    rows : str, or None
        How a GPU would keep the graph's rows: "plain"; "compressed", if they do not fit otherwise; or "across the bus",
        with `host_bytes` of them in pinned memory of the host. None on a CPU.
    host_bytes : int
        Bytes of compressed rows that would stay on the host.

    Examples
    --------
    >>> needed = hw.estimate_memory(hw.generate.grid(500, 500), "bfs", device="cpu")
    >>> 5e6 < needed.bytes < 12e6, needed.fits
    (True, True)
    """

    what: str
    device: str
    bytes: int
    parts: dict[str, int]
    free: int | None = None
    rows: str | None = None
    host_bytes: int = 0

    @property
    def fits(self) -> bool:
        """Whether `bytes` are free on the device; True if `free` is unknown."""
        return self.free is None or self.bytes <= self.free

    def __int__(self) -> int:
        return self.bytes

    def __str__(self) -> str:
        most = ", ".join(f"{name} {amount(size)}" for name, size in list(self.parts.items())[:4])
        where = "the GPU" if self.device == "cuda" else "the CPU"
        free = "" if self.free is None else f"; {amount(self.free)} are free"
        rows = "; its rows are compressed" if self.rows in ("compressed", "across the bus") else ""
        if self.rows == "across the bus":
            rows += f", and {amount(self.host_bytes)} of them are read across the bus"
        return f"{self.what} on {where}: {amount(self.bytes)} at its peak ({most}){free}{rows}"

    def _repr_html_(self) -> str:
        facts = [("peak", amount(self.bytes)), *((name, amount(size)) for name, size in self.parts.items())]
        if self.free is not None:
            facts.append(("free", amount(self.free)))
        if self.rows is not None:
            facts.append(("rows", self.rows))
        return html.table(f"Memory of {self.what} on {self.device}", facts)
