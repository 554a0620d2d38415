# %% [markdown]
# # All published searches on one graph
#
# Every plan of five papers finds the same distances. What differs is the number of arcs that it checks, and the time.
#
# A *plan* is the algorithm of a paper, written as a record that every engine can run ([plans](../plans.md)).

# %%
import hopwave as hw

G = hw.generate.kronecker(14, seed=1)  # as Graph500 makes them: few hubs, many leaves
root = int(G.degrees.argmax())
plans = [plan.name for plan in hw.plans() if plan.task == "search"]
len(plans)

# %% [markdown]
# ## Arcs checked
#
# With `trace=True` every level says how many arcs it read. This number belongs to the algorithm, not to the machine (but
# XBFS looks ahead into the next level, and how often that helps depends on timing).

# %%
right = hw.bfs(G, root).distances
checked = {}
for name in plans:
    found = hw.bfs(G, root, plan=name, trace=True)
    assert (found.distances == right).all()
    checked[name] = sum(level.checked for level in found.trace)

# %%
import matplotlib.pyplot as plt

order = sorted(checked, key=checked.get, reverse=True)
fig, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
ax.barh(order, [checked[name] for name in order], color="#0e8fa9")
ax.axvline(G.m, color="#b0468f", linewidth=1)
ax.set_xscale("log")
ax.set(xlabel="arcs checked (the line: all arcs of the graph)")

# %% [markdown]
# A plan that only pushes reads every arc once. A plan that only pulls reads the arcs of unvisited vertices again in every
# level. To read less than the whole graph, a plan must switch in time and stop at the first parent.
#
# ## When they switch

# %%
for name in ("merrill", "turbobfs-tdbu", "hiragushi-hybrid", "xbfs", "pushpull", "hopwave"):
    print(f"{name:>17}: {' '.join(hw.bfs(G, root, plan=name, trace=True).trace.directions)}")

# %% [markdown]
# Times depend on the machine: `hopwave bench FILE` runs every plan on yours, checks the answers, and ranks
# them where times differ by more than their spread. [papers-xbfs](../../benchmarks/results/papers-xbfs.md) and the other pages of papers have times on one H200.
