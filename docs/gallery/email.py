# %% [markdown]
# # Who carries the mail
#
# An e-mail network: how far apart its people are, and which of them connect the others.
#
# Vertices are addresses of the company Enron; an edge joins two addresses that wrote to each other.

# %%
import hopwave as hw

G = hw.read("email-Enron.mtx.gz").largest_component()
G

# %% [markdown]
# ## Levels around the busiest address
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
# Betweenness counts the shortest paths through a vertex. 200 random sources give an estimate, and every score comes with
# a bound that holds for all vertices together with 90% probability: the error bars.

# %%
between = hw.betweenness_centrality(G, k=200, seed=1)
print(between)
between.plot(top=12)

# %% [markdown]
# The bounds are honest and therefore wide. More sources make them narrower; `epsilon=` chooses their number for you
# ([samples with bounds](../betweenness.md#samples-with-bounds)).
#
# ## Is it simply the degree?
#
# How many of the twenty highest by betweenness are also among the twenty highest by degree, by closeness and by PageRank?

# %%
best = {name for name, _ in between.top(20)}
by_degree = {G.label(int(v)) for v in (-G.degrees).argsort(kind="stable")[:20]}
others = {
    "degree": by_degree,
    "closeness": {name for name, _ in hw.closeness_centrality(G, top=20).top(20)},
    "PageRank": {name for name, _ in hw.pagerank(G).top(20)},
}
for name, highest in others.items():
    print(f"{name:>10}: {len(best & highest)} of 20")
