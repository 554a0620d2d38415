"""What the public functions return: the answer, how it was computed, and how accurate it is.

    search           BFSResult
    shortest_paths   ShortestPaths: paths along arcs with weights
    betweenness      BetweennessResult, EdgeBetweennessResult
    scores           VertexScores
    estimates        Estimate, DistanceHistogram
    components       Components, Communities
    tables           results as tables of pandas and polars

Results are frozen dataclasses with NumPy arrays, or CuPy arrays if the graph is on a GPU. `to_dict()` and `to_pandas()`
convert them; notebooks show them as tables.
"""
