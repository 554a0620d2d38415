"""What hopwave adds to NetworkX's page of a function; `python -m docs` writes it into _hopwave_nx_info.py."""

from __future__ import annotations

ALONG = "Along an edge attribute, in NetworkX's order."
BOTH = "In hops, or along an edge attribute by Dijkstra's algorithm; in NetworkX's order."
CORNERS = "Unweighted, of all vertices, in graphs without parallel edges."
SIMPLE = "Graphs without parallel edges, where the graph has been converted before."
EVERY_NODE = "Where `nstart`, if given, names every node."
RANKED = "In hops, or along an edge attribute; equally long paths in NetworkX's order."
ORDER = "Counted in hops, in NetworkX's order."
CONVERTED_BEFORE = "Runs where the graph has been converted before; otherwise NetworkX's own search finishes sooner."
HOPS = "Counted in hops; all sources at once, 64 per machine word."
LENGTHS = "In hops, 64 sources per machine word, or along an edge attribute, one source per thread."
CHECKED = "Path counts never overflow; every run is checked against an identity of exact scores."
CERTIFIED = "In hops, or along an edge attribute. " + CHECKED
BRANDES = CERTIFIED + " Samples (k, seed) are those that NetworkX draws."
