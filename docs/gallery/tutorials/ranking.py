# %% [markdown]
# # From a pandas table to a ranking with error bars
#
# In about twenty minutes you turn a table of messages into a graph, rank its people by three measures, estimate a ranking from a sample, and tell which
# places of that ranking are certain. You need hopwave with the extras `io` and `plot`; `pip install '.[all]'` installs both.
#
# The table is made up. Skip the first cell if you have a table of your own.

# %%
import numpy as np
import pandas as pd

import hopwave as hw

people, random = hw.generate.barabasi_albert(3000, 3, seed=1), np.random.default_rng(1)
ends = np.repeat(np.stack(people.to_edges(), -1), random.integers(1, 9, people.number_of_edges), axis=0)
messages = pd.DataFrame(ends, columns=["sender", "recipient"])
messages.sample(3, random_state=1)

# %% [markdown]
# ## 1. From messages to a graph
#
# One row is one message. First count the messages of each pair, then build the graph. `weight=` names the column that becomes the weight of the edges.

# %%
pairs = messages.groupby(["sender", "recipient"]).size().rename("messages").reset_index()
G = hw.Graph.from_pandas(pairs, "sender", "recipient", weight="messages")
G

# %% [markdown]
# ## 2. A weight that is a strength, not a length
#
# Most functions that use weights take them as lengths: a path of weight 8 is longer than a path of weight 1. Here a weight is a strength: 8 messages mean that two
# people are *close*. Turn strengths into lengths before you compute distances:

# %%
lengths = G.with_weights(1 / G.weights)
print(hw.shortest_path(lengths, 10, 2000))  # over people who write to each other often
print(hw.shortest_path(G, 10, 2000, weights=False))  # over as few people as possible

# %% [markdown]
# PageRank is different: its random walk follows an edge in proportion to the weight, so it takes strengths as they are.
#
# ## 3. Three rankings
#
# How many messages did a person send and receive? That sum is called the strength, or the weighted degree. Who would receive the most messages if everybody passed them on at random (PageRank)? Who is on
# the shortest paths between others (betweenness)?

# %%
strength = hw.strength(G).scores
ranks = hw.pagerank(G)
between = hw.betweenness_centrality(G, weights=False)
table = pd.DataFrame({"strength": strength, "pagerank": ranks.scores, "betweenness": between.scores}, index=list(G))
table.sort_values("betweenness", ascending=False).head(5)

# %% [markdown]
# The three rankings agree on the first person, and swap people whose scores are close. Betweenness is computed exactly here. The time grows with the number of vertices times
# the number of edges, so on millions of vertices you need a sample.
#
# ## 4. Estimate from a sample
#
# `k=200` searches from 200 random people instead of all 3,000. `interval="normal"` gives each score an interval that contains the exact score with a
# probability of about 95% (`delta=0.05`).

# %%
sample = hw.harmonic_centrality(G, k=200, seed=1, interval="normal", delta=0.05, weights=False)
ranking = sample.to_pandas().sort_values("harmonic", ascending=False)
ranking.head(5)

# %% [markdown]
# `low` and `high` are the ends of the interval. `plot(top=15)` draws them as error bars.

# %%
ax = sample.plot(top=15)

# %% [markdown]
# ## 5. Which places are certain?
#
# A person is certainly ahead of another if the whole interval is above the other's. For each person of the top five, count the rivals: people whose
# interval reaches above the lower end.


# %%
def with_rivals(scores):
    ranked = scores.to_pandas().sort_values("harmonic", ascending=False)
    best = ranked.head(5)
    return best.assign(rivals=[int((ranked["high"] > low).sum()) - 1 for low in best["low"]])[
        ["harmonic", "low", "high", "rivals"]
    ]


with_rivals(sample)

# %% [markdown]
# A place without rivals is certain, with about 95% for each interval. Here even the first place is open. Draw more sources: four times as many halve the intervals.

# %%
more = hw.harmonic_centrality(G, k=800, seed=1, interval="normal", delta=0.05, weights=False)
print(np.median(sample.bounds).round(1), np.median(more.bounds).round(1))
with_rivals(more)

# %% [markdown]
# Now the first place is certain. For only the highest scores, exact results are often cheap: `top=10` skips most of the searches.

# %%
exact = hw.harmonic_centrality(G, top=10, weights=False)
exact

# %% [markdown]
# ## 6. Save the table

# %%
ranking.to_csv("ranking.csv")

# %% [markdown]
# On the command line, `hopwave closeness messages.csv --harmonic -k 200 --interval normal --delta 0.05 --out ranking.csv` does the same with a file of edges.
#
# ## Where to go next
#
# - [Choose a centrality](../../ranking.md): which measure answers which question.
# - [Betweenness](../../betweenness.md): exact, or a sample with `k=` or `epsilon=`.
# - [Distances, closeness and diameter](../../distances.md): what the intervals promise.
