"""Where a search stands: the records and cells that its compiled loop works on.

A search can stop between two jobs (when its trace is full) and go on, and Python reads how far it is. So all that
changes during a search is kept in arrays: those of the `Workspace`, and one row of int64 cells called `here`.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

# A graph, prepared (engines/cpu/graph.py). hub[v] is v's in-neighbour of highest degree, or hub is empty; skip is 1
# where the hub also stands first in v's row. The set bits of `closed` are vertices without in-arcs and what pads the
# last word, those of `padding` the latter alone. unvisited: see search/steps.py; scattered: policy.SCATTERED.
Adjacency = namedtuple("Adjacency", "indptr indices in_indptr in_indices hub skip unvisited closed padding scattered")

# The arrays of one search. segments: one row per level in the queue: (where it begins, its depth, the shift of its
# path counts). sigma is empty where no paths are counted.
Workspace = namedtuple("Workspace", "parent distance queue visited bitmaps buffers segments sigma")

BUFFER = 4096  # found vertices a worker keeps before it makes room for them in the queue

# ------------------------------------------------------------------ the cells of `here`

# What a rule looks at (hopwave/rules.py): this level, the one before, and the step that was taken there.
DEPTH, NF, MF, MU, NF0, MF0, LAST = range(0, 7)
# How much is found, and how much can be: when REACHED is FINDABLE, nothing is left to look for.
REACHED, FINDABLE = 7, 8
# The frontier: queue[QUEUE_BEGIN:QUEUE_END], or bitmaps[WHICH], or both. FIRST is where a push puts what it finds.
QUEUE_BEGIN, QUEUE_END, FIRST, HAS_QUEUE, HAS_BITMAP, WHICH = range(9, 15)
# The bitmap of visited vertices: whether it was begun, and up to where in the queue it is complete.
HAS_VISITED, MARKED = 15, 16
# Vertices that an asynchronous pull found one level early: how many, and the arcs that leave them.
EARLY, EARLY_EDGES = 17, 18
# Path counts: rows of `segments`, a bound on the exponent of the last level, whether a level was too wide.
SEGMENTS, BOUND, OVERFLOWED = 19, 20, 21
# The level in work: the step chosen and its flags, then what it found: the next frontier, and what it newly visited
# (which includes vertices found early).
CHOICE, FLAGS, NEXT_NF, NEXT_MF, NEW, NEW_MF, LEVEL_CHECKED, LEVEL_AHEAD = range(22, 30)
# The trace: rows filled since Python last took them, and when the level began, in nanoseconds.
TRACED, BEGAN = 30, 31
# How to go on: what the job on the board is, or was, for.
PHASE = 32
HERE_CELLS = 33

# The values of PHASE, in the order of a search. NumPy's integers, not Python's: of those Numba compiles one version of
# a function for every value it meets.
START, INITIALISED, BETWEEN_LEVELS, MARKED_UP, PUSHED, PULLED, COUNTED, FILLED, OVER = (np.int64(x) for x in range(9))

# ------------------------------------------------------------------ what a search is given

# limits: the deepest level, threads, bits of the greatest in-degree, whether a step reads distances during the search,
# and how many vertices have in-arcs (or a negative number: look until the frontier is empty).
DEPTH_LIMIT, THREADS, DEGREE_BITS, READS_DISTANCES, WITH_IN_ARCS = range(5)
# steps: one row per step of the plan. rule: its code in hopwave/rules.py and its two parameters.
IS_PULL, STEP_FLAGS, IS_ASYNCHRONOUS = range(3)

TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, ahead, nanoseconds
