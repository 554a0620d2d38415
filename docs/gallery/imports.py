# %% [markdown]
# # What Python's standard library rests on
#
# Which modules does everything else need? Cores, PageRank and reachability in a directed graph.
#
# Vertices are the modules of the standard library that runs this page; an arc leads from a module to one that it imports
# anywhere in its source.

# %%
import re
import sys
import sysconfig
from pathlib import Path

import hopwave as hw

library = Path(sysconfig.get_path("stdlib"))
WORDS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
files = {}
for name in sorted(sys.stdlib_module_names - {"idlelib", "lib2to3", "turtledemo", "antigravity"}):
    parts = [library / f"{name}.py", *sorted((library / name).rglob("*.py"))]
    files[name] = "\n".join(
        part.read_text(errors="ignore") for part in parts if part.exists() and "test" not in part.parts
    )
pairs = {
    (name, other) for name, text in files.items() for other in WORDS.findall(text) if other in files and other != name
}
G = hw.Graph.from_edges(sorted(pairs), directed=True)
G

# %% [markdown]
# ## Ways round in a circle
#
# If every module imported only simpler ones, no way along the arcs would lead round in a circle. Imports inside of functions
# allow it. The strong components show how far that goes: all modules of one of them need each other, over some steps.

# %%
strong, weak = hw.strongly_connected_components(G), hw.weakly_connected_components(G)
print(f"largest weak component: {weak.sizes.max():,} of {G.n:,} modules")
print(f"largest strong component: {strong.sizes.max():,}; {(strong.sizes == 1).sum():,} modules are on no circle")

# %% [markdown]
# ## Cores
#
# Seen as an undirected graph, the innermost core is the largest group in which every module is linked to many others
# of the group.

# %%
import matplotlib.pyplot as plt
import numpy as np

core = hw.core_numbers(G.to_undirected()).scores
inner = np.flatnonzero(core == core.max())
print(f"innermost core: {len(inner)} modules, each linked to at least {core.max()} others of it")
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.bar(*np.unique(core, return_counts=True), color="#0e8fa9")
ax.set(xlabel="core number", ylabel="modules")

# %% [markdown]
# ## Imported, and imported by the imported
#
# PageRank follows imports of imports. It prefers modules that important modules import, which need not be those with the
# most importers.

# %%
ranks = hw.pagerank(G)
importers = dict(zip(G.labels, G.reverse().degrees, strict=True))
for module, rank in ranks.top(8):
    print(f"{module}: PageRank {rank:.3f}, imported by {importers[module]} modules")
ranks.plot()

# %% [markdown]
# ## What a module rests on
#
# A search along the arcs finds everything that a module can need.

# %%
for module in ("asyncio", "json", "heapq"):
    print(f"{module} imports {G.degree(module)} modules; {hw.bfs(G, module).reached - 1} are found along imports")
