# %% [markdown]
# # A road network's diameter and bottlenecks
#
# The longest of all shortest routes, found exactly with few searches, and the junctions that most routes pass.
#
# Vertices are the points of Luxembourg's roads in OpenStreetMap. Roads are the opposite of a social network: nearly every
# vertex has two neighbours, and a search has hundreds of levels.

# %%
import hopwave as hw

G = hw.read("luxembourg_osm.mtx.gz")
sizes = G.stats()
print(f"{sizes.n:,} vertices, mean degree {sizes.mean_degree:.2f}, greatest degree {sizes.max_degree}")

# %% [markdown]
# ## The diameter
#
# An exact diameter seems to need a search from every vertex. Bounds from a few searches rule nearly all of them out
# ([how](../distances.md#how-far-apart)).

# %%
import time

begin = time.perf_counter()
diameter = hw.diameter(G)
print(f"{diameter} hops, exactly; {time.perf_counter() - begin:.2f} s for a graph of {G.n:,} vertices")

# %% [markdown]
# Two searches, each from the farthest vertex of the one before, lead to the end of a long route. A search from there has
# hundreds of levels, each of them small, so hopwave pushes all the way.

# %%
far = int(hw.bfs(G, 0).distances.argmax())
far = int(hw.bfs(G, far).distances.argmax())
search = hw.bfs(G, far, trace=True)
print(f"{search.depth} hops from vertex {far}; directions: {set(search.trace.directions)}")
search.plot()

# %% [markdown]
# ## Bottlenecks
#
# Shortest paths between 64 random junctions and all others, counted on every vertex. In a road network a few points carry
# a large share of all routes: the curve below ends far to the right.

# %%
routes = hw.betweenness_centrality(G, k=64, seed=1)
routes.plot()

# %%
for junction, share in routes.top(5):
    print(f"junction {junction}: about {share:.1%} of all shortest routes lead through it")
