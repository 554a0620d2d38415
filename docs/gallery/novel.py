# %% [markdown]
# # Who holds a novel together
#
# The people of *Les Misérables*: how far apart they are, and which of them connect the others.
#
# Vertices are the 77 persons of Victor Hugo's novel; an edge joins two that appear in the same chapter (Knuth, 1993). Its
# weight counts the chapters.

# %%
import hopwave as hw

G = hw.datasets.load("les-miserables")
G

# %% [markdown]
# ## Levels around the busiest person
#
# A search from the vertex with most neighbours reaches everyone in a few hops. Colours show how hopwave computed each
# level: *push* follows the arcs that leave the frontier, *pull* lets every vertex that is not yet reached look for a
# neighbour in it.

# %%
hub = G.label(int(G.degrees.argmax()))
search = hw.bfs(G, hub, trace=True)
search.plot().set_title(f"hops from {hub}, which has {G.degree(hub)} neighbours")

# %% [markdown]
# ## Who lies between
#
# Betweenness counts the shortest paths through a vertex. This graph is small, so every pair is counted, and the scores
# are exact.

# %%
between = hw.betweenness_centrality(G, weights=False)
print(between)
between.plot(top=12)

# %% [markdown]
# For a large graph, random sources give an estimate, and every score comes with a bound: the error bars. More sources make
# them narrower; `epsilon=` chooses their number for you ([samples with bounds](../betweenness.md#samples-with-bounds)).

# %%
sampled = hw.betweenness_centrality(G, k=40, seed=1, weights=False)
sampled.plot(top=12)

# %% [markdown]
# ## Is it simply the degree?
#
# How many of the ten highest by betweenness are also among the ten highest by degree, by closeness and by PageRank?

# %%
best = {name for name, _ in between.top(10)}
others = {
    "degree": hw.degree_centrality(G),
    "closeness": hw.closeness_centrality(G, weights=False),
    "PageRank": hw.pagerank(G, weights=False),
}
for name, scores in others.items():
    print(f"{name:>10}: {len(best & {person for person, _ in scores.top(10)})} of 10")
