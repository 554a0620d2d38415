# %% [markdown]
# # Within twenty minutes on foot
#
# How much land every place has within reach, which hut is the nearest, and how far one comes from it: accessibility, as planners of cities
# ask for it, drawn as a map from coordinates.
#
# The heights are real: 30 × 32 km around the Jacksboro fault in Tennessee, which Matplotlib brings along as sample data. A city's roads are
# read the same way, with `hw.read` or `Graph.from_edges`: a vertex is a crossing, and a weight is a time.

# %%
import numpy as np
from matplotlib import cbook

with cbook.get_sample_data("jacksboro_fault_dem.npz") as model:
    height = model["elevation"][::6, ::6].astype(float)
    degree, south = 6 * float(model["dx"]), float(model["ymax"])
rows, columns = height.shape
north_south = degree * 111_320  # metres
east_west = north_south * np.cos(np.radians(south))
square = np.arange(height.size).reshape(rows, columns)
xy = np.stack([square % columns * east_west, -(square // columns) * north_south], -1).reshape(-1, 2) / 1000
print(f"{rows} × {columns} squares of {east_west:.0f} × {north_south:.0f} m")

# %% [markdown]
# Minutes on an arc by Tobler's hiking function: 6 · exp(−3.5 · |slope + 0.05|) kilometres an hour.

# %%
import hopwave as hw

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
# ## Land within reach
#
# The value of a square is its area. Steep slopes are dark: one does not come far there.

# %%
area = np.full(G.n, east_west * north_south / 1e6)  # square kilometres
reach = hw.accessibility(G, {"km²": area}, limit=[10, 20])
ax = reach.plot(xy=xy)

# %% [markdown]
# ## The nearest of some huts
#
# One search from all of them gives every square its two nearest.

# %%
huts = square[10::20, 10::20].ravel()
near = hw.nearest_of(G, huts, k=2)
print(f"{len(huts)} huts; the farthest square has {near.distances[:, 0].max():.0f} minutes to the nearest")
print(f"and {near.distances[:, 1].max():.0f} to the second")

# %% [markdown]
# ## From hut to hut
#
# A table with these rows and columns alone, and what one hut reaches in half an hour.

# %%
table = hw.distance_table(G, huts[:4], huts[:4])
table.to_pandas().round(0)

# %%
half_hour = hw.isochrone(G, int(huts[0]), [15, 30])
arcs = half_hour.arcs()
print(f"{len(half_hour.vertices())} squares; {np.count_nonzero(arcs.fraction < 1)} arcs are reached in part")
