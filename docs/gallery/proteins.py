# %% [markdown]
# # Hubs and bridges of a protein network
#
# Two ways to be important among proteins: many partners, or the only link between groups.
#
# Vertices are proteins, edges are interactions between them that were found in studies of cancer.

# %%
import hopwave as hw

G = hw.read("ppi-cancer.mtx.gz")
parts = hw.connected_components(G)
print(G, "with", parts.count, "components; the largest has", parts.sizes.max(), "vertices")
G = G.largest_component()

# %% [markdown]
# ## All distances
#
# The graph is small enough for every pair.

# %%
hops = hw.distance_histogram(G)
print(f"mean distance {hops.mean():.2f}, diameter {hw.diameter(G)}")
hops.plot()

# %% [markdown]
# ## Hubs and bridges
#
# Exact betweenness beside the degree. The marked proteins have the most betweenness for their degree: few partners, but
# many shortest paths need them.

# %%
import matplotlib.pyplot as plt
import numpy as np

between = hw.betweenness_centrality(G)
print(between.certificate)
degree, score = G.degrees, between.scores
bridges = np.argsort(-score / degree**2)[:25]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(degree, score, s=6, color="#9ca3af", rasterized=True)
ax.scatter(degree[bridges], score[bridges], s=16, color="#b0468f", label="few partners, many paths")
ax.set_xscale("log")
ax.set_yscale("symlog", linthresh=1e-6)
ax.set(xlabel="degree", ylabel="betweenness")
ax.legend(frameon=False)

# %% [markdown]
# ## How tightly they are tied
#
# The k-core is what remains after all vertices with fewer than k neighbours are taken away, again and again. The middle of
# a dense complex has a high core number.

# %%
core = hw.core_numbers(G).scores
for name, some in {"all proteins": slice(None), "the marked ones": bridges}.items():
    print(f"{name}: median degree {np.median(degree[some]):.0f}, median core number {np.median(core[some]):.0f}")
