"""Results of the public functions, with the method of computation and the accuracy.

Results are frozen dataclasses with NumPy arrays, or CuPy arrays if the graph is on a GPU. `to_dict()` and `to_pandas()`
convert them; notebooks show them as tables.
"""
