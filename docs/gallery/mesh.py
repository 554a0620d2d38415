# %% [markdown]
# # A mesh, drawn from its distances
#
# The shape of a mesh without coordinates, its diameter, and path counts that no float can hold.
#
# The graph is the Delaunay triangulation of 8,192 random points of a square; nothing below knows the points.

# %%
import hopwave as hw

G = hw.generate.delaunay(2**13, seed=1)
G

# %% [markdown]
# ## Coordinates from four searches
#
# Take two vertices that are far apart, then two that are far from both. The differences of the distances to each pair are
# coordinates of a kind.

# %%
import numpy as np

a = int(hw.bfs(G, 0).distances.argmax())
b = int(hw.bfs(G, a).distances.argmax())
to_a, to_b = hw.bfs_many(G, [a, b])
c = int(np.where(abs(to_a - to_b) <= 2, to_a, 0).argmax())
d = int(np.where(abs(to_a - to_b) <= 2, hw.bfs(G, c).distances, 0).argmax())
to_c, to_d = hw.bfs_many(G, [c, d])
x, y = to_a - to_b, to_c - to_d

# %% [markdown]
# ## Where the paths lead
#
# Colours show betweenness, estimated from 100 sources: shortest paths lead through the middle. Distances are whole
# numbers, so points are shaken a little, which keeps them from covering each other.

# %%
import matplotlib.pyplot as plt

between = hw.betweenness_centrality(G, k=100, seed=1)
shaken = np.random.default_rng(1).uniform(-0.5, 0.5, (2, G.n)) + np.array([x, y])
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
points = ax.scatter(*shaken, c=between.scores**0.5, s=2, cmap="viridis_r", rasterized=True)
fig.colorbar(points, label="square root of betweenness")
ax.set_axis_off()

# %% [markdown]
# The diameter is exact; bounds from some searches make most of the others needless.

# %%
print(f"diameter {hw.diameter(G)} hops; {to_a[b]} between the first two vertices above")

# %% [markdown]
# ## Path counts
#
# Between two vertices of a mesh there are very many shortest paths. Their number doubles every few hops; on larger meshes
# and grids it leaves the range of float64, and many programs then return infinity or NaN. hopwave scales the counts.

# %%
paths = hw.bfs(G, a, path_counts=True)
print(f"from {a} to {b}: {to_a[b]} hops, {paths.path_counts[b]:.3g} shortest paths")
deep = hw.generate.diamonds(1100)  # a chain of 1,100 diamonds: 2 to the power of 1,100 paths
counts = hw.bfs(deep, 0, path_counts=True).path_counts
print(f"from one end of a chain of diamonds to the other: 2 ** {counts.log2()[-1]:.0f} shortest paths")

# %% [markdown]
# So betweenness is right on such graphs, too, and says how exact its arithmetic is:

# %%
print(hw.betweenness_centrality(deep, normalized=False).certificate)
