# %% [markdown]
# # The split of a karate club
#
# Hubs, bridges and groups, and how well they foretell what happened.
#
# Wayne Zachary watched a karate club for two years (1977). Vertices are its 34 members, edges join those who met outside of
# the club. Then the instructor (vertex 0) and the president (vertex 33) quarrelled, and the club split.

# %%
import hopwave as hw

G = hw.datasets.load("karate")
print(G)
hops = hw.distance_histogram(G)
print(f"mean distance {hops.mean():.2f}, diameter {hw.diameter(G)}")
hops.plot()

# %% [markdown]
# ## Hubs and bridges
#
# Exact betweenness beside the degree. A member with few friends and a high score is a bridge: many shortest paths need it.

# %%
import matplotlib.pyplot as plt
import numpy as np

between = hw.betweenness_centrality(G)
print(between.certificate)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(G.degrees, between.scores, s=20, color="#0e8fa9")
for member in (0, 31, 33):
    ax.annotate(str(member), (G.degrees[member], between.scores[member]), xytext=(4, 4), textcoords="offset points")
ax.set(xlabel="degree", ylabel="betweenness")

# %% [markdown]
# ## Two groups
#
# Girvan and Newman (2002): take the edge with the highest betweenness away, again and again, until the graph falls apart.

# %%
edges = set(zip(*(end.tolist() for end in G.to_edges()[:2]), strict=True))
rest, taken = G, 0
while hw.connected_components(rest).count == 1:
    (a, b), _ = hw.edge_betweenness_centrality(rest).top(1)[0]
    edges -= {(a, b), (b, a)}
    rest, taken = hw.Graph.from_edges(sorted(edges), n=G.n), taken + 1
parts = hw.connected_components(rest)
print(f"{taken} edges taken away; groups of {parts.sizes.tolist()}, modularity {hw.modularity(G, parts):.2f}")

# %% [markdown]
# NetworkX has the same graph with the side that each member took. All but a few were foretold by their friends.

# %%
import networkx as nx

club = nx.karate_club_graph().nodes(data="club")
took = np.array([side == "Officer" for _, side in club])
foretold = parts.labels == parts.labels[33]
print(
    f"{(took == foretold).sum()} of {G.n} members went with their group; not: {np.flatnonzero(took != foretold).tolist()}"
)

# %% [markdown]
# ## How tightly they are tied
#
# The k-core is what remains after all vertices with fewer than k neighbours are taken away, again and again.

# %%
core = hw.core_numbers(G).scores
for k in np.unique(core):
    print(f"core number {k}: members {np.flatnonzero(core == k).tolist()}")
