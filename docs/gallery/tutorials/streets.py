# %% [markdown]
# # From a CSV file of streets to a map
#
# In about twenty minutes you read a street network, find routes, measure what is within walking distance, and draw maps. You need hopwave with
# the extras `io` and `plot`; `pip install '.[all]'` installs both.
#
# The town in this tutorial is invented, so that the page needs no download. Skip the first cell if you have files of your own.

# %%
import numpy as np
import pandas as pd

random, size = np.random.default_rng(7), 14
names = [f"{chr(65 + x)}{y + 1}" for x in range(size) for y in range(size)]  # A1, A2, ..., N14
x, y = np.divmod(np.arange(size**2), size)
town = pd.DataFrame({"x": 100 * x, "y": 100 * y}, index=pd.Index(names, name="crossing"))
town = (town + random.normal(0, 12, town.shape)).round(1)
town.to_csv("crossings.csv")

start = np.concatenate([np.flatnonzero(x < size - 1), np.flatnonzero(y < size - 1)])
end = start + np.repeat([size, 1], len(start) // 2)
river = (y[start] == 6) & (y[end] == 7) & ~np.isin(x[start], [3, 10])  # two bridges cross it
there = ~river & (random.random(len(start)) < 0.9)
streets = pd.DataFrame({"from": town.index[start[there]], "to": town.index[end[there]]})
steps = town.loc[streets["from"]].to_numpy() - town.loc[streets["to"]].to_numpy()
streets["length"] = np.hypot(*steps.T).round(1)
streets.to_csv("streets.csv", index=False)
streets.head(3)

# %% [markdown]
# ## 1. Read the streets
#
# `streets.csv` has one row per street: the crossings at both ends, and the length in metres. `hw.read` finds the columns by their titles. The column
# `length` becomes the weight of the edges. If a file has other titles, pass `source=`, `target=` and `weight=`.
# If its numbers have decimal commas, pass `decimal=","` as well.

# %%
import hopwave as hw

G = hw.read("streets.csv")
G

# %% [markdown]
# A street can be walked in both directions, so the graph is undirected. For a car, add a column `oneway` with `yes`, `no` or `-1` (against the row's direction), and
# `hw.read` returns a directed graph. A table with one row per direction needs `directed=True` instead.
#
# Some streets are missing in this town. Is every crossing connected with every other one?

# %%
parts = hw.connected_components(G)
print(parts)
G = G.subgraph(parts.largest())
G

# %% [markdown]
# ## 2. Read the coordinates
#
# Maps need a place for every crossing. A pandas table whose index contains the crossings is enough; the order of its rows does not matter.

# %%
places = pd.read_csv("crossings.csv", index_col="crossing")
places = places.loc[list(G)]
places.head(3)

# %% [markdown]
# ## 3. Find a route, and alternatives
#
# Paths follow the weights, so the length of a path is in metres. `k_shortest_paths` returns the three shortest routes, each with its length.

# %%
print(hw.shortest_path(G, "B2", "M13"))
routes = hw.k_shortest_paths(G, "B2", "M13", 3)
for length, route in routes:
    print(f"{length:.0f} m over {len(route)} crossings")

# %%
ax = routes.plot(xy=places)

# %% [markdown]
# The grey lines are the streets. Every map below is drawn by `plot(xy=places)`.
#
# ## 4. What is within walking distance?
#
# An isochrone is the part of the town within a distance. Streets on its border are included up to the limit.

# %%
near = hw.isochrone(G, "E5", [300, 600])
print(near)
ax = near.plot(xy=places)

# %% [markdown]
# The river cuts off the north: one must first walk to a bridge.
#
# ## 5. Who lives far from a school?
#
# `nearest_of` finds the nearest of several places for every crossing, in one call.

# %%
schools = ["C3", "L4", "H11"]
school = hw.nearest_of(G, schools)
table = school.to_pandas().sort_values("distance 1", ascending=False)
table.head(5).round(0)

# %%
ax = school.plot(xy=places)

# %% [markdown]
# ## 6. How many shops can one reach?
#
# `accessibility` adds up values within a distance. Here each of 30 crossings has between one and five shops.

# %%
shops = pd.Series(random.integers(1, 6, 30), index=random.choice(list(G), 30, replace=False))
reach = hw.accessibility(G, {"shops": shops}, limit=[400, 800])
reach.to_pandas().describe().loc[["min", "50%", "max"]]

# %%
ax = reach.plot(xy=places)

# %% [markdown]
# ## 7. Which streets carry the traffic?
#
# Edge betweenness is the share of all shortest paths that use a street. Without `weights=True` it would count streets instead of metres.

# %%
load = hw.edge_betweenness_centrality(G, weights=True)
print(load.top(2))
ax = load.plot(xy=places)

# %% [markdown]
# The two bridges are the bottlenecks of this town.
#
# ## 8. Save the results
#
# A picture is written by matplotlib, a table by pandas.

# %%
ax.figure.savefig("traffic.png", dpi=150)
table.to_csv("schools.csv")

# %% [markdown]
# Much of this works on the command line as well:
#
# ```sh
# hopwave routes streets.csv --source B2 --target M13 -k 3
# hopwave isochrones streets.csv --source E5 --limit 300,600 --out reached.csv
# hopwave nearest streets.csv --facility C3 --facility L4 --facility H11 --out schools.csv
# ```
#
# ## Where to go next
#
# - [Travel tables and accessibility](../../accessibility.md): tables of distances, decay with distance, large networks.
# - [Weighted shortest paths](../../shortest-paths.md): one source and all targets.
# - [File formats](../../formats.md): what `hw.read` accepts, and how to name the columns.
