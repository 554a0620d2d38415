# %% [markdown]
# # Walking over a mountain range
#
# Minutes on foot from a valley, the way that walkers take, and the places that most ways lead through.
#
# The heights are real: 30 × 32 km around the Jacksboro fault in Tennessee, which Matplotlib brings along as sample data.
# A vertex is a square of about 150 × 185 m, and arcs lead to its eight neighbours. As with roads, no vertex has many
# neighbours, and a search has hundreds of levels.

# %%
import numpy as np
from matplotlib import cbook

with cbook.get_sample_data("jacksboro_fault_dem.npz") as model:
    height = model["elevation"][::2, ::2].astype(float)
    degree, south = 2 * float(model["dx"]), float(model["ymax"])
rows, columns = height.shape
north_south = degree * 111_320  # metres
east_west = north_south * np.cos(np.radians(south))
print(f"{rows} × {columns} squares, {height.min():.0f} to {height.max():.0f} m high")

# %% [markdown]
# ## Minutes on an arc
#
# Tobler's hiking function: 6 · exp(−3.5 · |slope + 0.05|) kilometres an hour. A slope costs time, and down is not as slow
# as up, so an arc and its reverse have different weights: the graph is directed.

# %%
import hopwave as hw

square = np.arange(height.size).reshape(rows, columns)
sources, targets, minutes = [], [], []
for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
    here = square[: rows - down, max(0, -right) : columns - max(0, right)].ravel()
    there = square[down:, max(0, right) : columns - max(0, -right)].ravel()
    metres = np.hypot(down * north_south, right * east_west)
    for a, b in ((here, there), (there, here)):
        slope = (height.flat[b] - height.flat[a]) / metres
        sources.append(a)
        targets.append(b)
        minutes.append(metres / (100 * np.exp(-3.5 * abs(slope + 0.05))))
G = hw.Graph.from_edges(*map(np.concatenate, (sources, targets)), weights=np.concatenate(minutes), directed=True)
G

# %% [markdown]
# ## How far one comes
#
# One search along the weights gives the minutes to every square. Each line is another hour.

# %%
import matplotlib.pyplot as plt

start, goal = int(square[120, 20]), int(square[20, 180])
walk = hw.sssp(G, start)
hours = walk.distances.reshape(rows, columns) / 60
path = np.array(walk.path_to(goal))
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.imshow(height, cmap="gist_earth", alpha=0.8)
ax.clabel(ax.contour(hours, levels=np.arange(1, 12), colors="black", linewidths=0.8), fmt="%d h")
ax.plot(path % columns, path // columns, color="#b0468f", linewidth=2)
ax.set_axis_off()

# %%
straight = np.hypot((goal // columns - start // columns) * north_south, (goal % columns - start % columns) * east_west)
print(f"{straight / 1000:.0f} km as the crow flies: {walk.distances[goal] / 60:.1f} hours")
print(f"and back: {hw.sssp(G, goal).distances[start] / 60:.1f} hours")

# %% [markdown]
# ## Where the ways meet
#
# Betweenness along the weights, from 48 random squares to all others. The quickest ways keep to valleys and cross the
# ridges at a few places; nobody drew these lines.

# %%
ways = hw.betweenness_centrality(G, k=48, seed=1, weights=True)
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.imshow(height, cmap="Greys", alpha=0.6)
shown = ax.imshow(ways.scores.reshape(rows, columns) ** 0.5, cmap="magma_r", alpha=0.8)
fig.colorbar(shown, label="square root of betweenness", shrink=0.7)
ax.set_axis_off()

# %% [markdown]
# ## The longest of all quickest ways
#
# The diameter needs a search from every vertex, it seems. Bounds from a few searches rule nearly all of them out
# ([how](../distances.md#how-far-apart)).

# %%
import time

begin = time.perf_counter()
longest = hw.diameter(G, weights=True)
print(f"{longest / 60:.1f} hours, exactly; {time.perf_counter() - begin:.1f} s for a graph of {G.n:,} vertices")
