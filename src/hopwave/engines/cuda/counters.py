"""The counters of a level, in the order of enum Counter in kernels/steps/report.cuh."""

FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS = range(11)
