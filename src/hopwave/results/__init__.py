"""What the public functions return: the answer, how it was computed, and how accurate it is.

    search           searches: BFSResult, ShortestPaths
    scores           numbers by vertex or edge: VertexScores, BetweennessResult, EdgeBetweennessResult
    estimates        Estimate, DistanceHistogram, HyperBall, MemoryEstimate
    components       Components, Communities, Blocks
    accessibility    DistanceTable, Accessibility, NearestOf, Isochrone
    tables           results as tables of pandas and polars

Results are frozen dataclasses with NumPy arrays, or CuPy arrays if the graph is on a GPU. `to_dict()` and `to_pandas()`
convert them; notebooks show them as tables.
"""
