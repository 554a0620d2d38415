# %% [markdown]
# # The core of a citation graph
#
# Which papers does a field rest on? Cores, PageRank and reachability in a directed graph.
#
# Vertices are papers on high-energy physics; an arc leads from a paper to one that it cites.

# %%
import hopwave as hw

G = hw.read("cit-HepPh.mtx.gz")
G

# %% [markdown]
# ## Ways round in a circle
#
# If every paper cited only older ones, no citations would lead round in a circle. Papers of the same time cite each other,
# and preprints are revised. The strong components show how far that goes: all papers of one of them cite each other, over
# some steps.

# %%
strong, weak = hw.strongly_connected_components(G), hw.weakly_connected_components(G)
print(f"largest weak component: {weak.sizes.max():,} of {G.n:,} papers")
print(f"largest strong component: {strong.sizes.max():,}; {(strong.sizes == 1).sum():,} papers are on no circle")

# %% [markdown]
# ## Cores
#
# Seen as an undirected graph, the innermost core is the largest group in which every paper is linked to many others
# of the group.

# %%
import matplotlib.pyplot as plt
import numpy as np

U = G.to_undirected()
core = hw.core_numbers(U).scores
inner = np.flatnonzero(core == core.max())
print(f"innermost core: {len(inner)} papers, each linked to at least {core.max()} others of it")
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.bar(*np.unique(core, return_counts=True), color="#0e8fa9")
ax.set(xlabel="core number", ylabel="papers")

# %% [markdown]
# ## Cited, and cited by the cited
#
# PageRank follows citations of citations. It prefers papers that important papers cite, which need not be those with the
# most citations.

# %%
ranks = hw.pagerank(G)
cited = G.reversed().degrees
for paper, rank in ranks.top(8):
    print(f"paper {paper}: PageRank {rank:.2e}, cited {cited[paper]} times, core {core[paper]}")
ranks.plot()

# %% [markdown]
# ## What a paper rests on
#
# A search along the arcs finds everything that a paper rests on. Here is the one with most references among those that
# nobody cites.

# %%
newest = int(np.argmax(np.where(cited == 0, G.degrees, 0)))
print(f"paper {newest} cites {G.degree(newest)} papers; {hw.bfs(G, newest).reached - 1:,} are found along citations")
