"""The best existing code's times for a search on one H200, collected before hopwave was written."""

from __future__ import annotations

# Graph → (milliseconds, the code). For XBFS it is the time of its kernels alone.
BEST_SEARCH = {
    "email-Enron": (0.57, "XBFS"),
    "kron18": (0.4, "XBFS"),
    "kron21": (0.64, "Gunrock 1.2"),
    "rmat22": (0.73, "Gunrock 1.2"),
    "uniform20": (0.59, "XBFS"),
    "mycielskian17": (0.19, "XBFS"),
    "delaunay20": (10.9, "GSWITCH"),
    "grid1000": (32.5, "GSWITCH"),
    "luxembourg_osm": (19.2, "TurboBFS"),
    "osm-netherlands-cities": (15.4, "GSWITCH"),
}
