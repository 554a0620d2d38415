"""What the public functions return: the answer, how it was computed, and how accurate it is.

Results are frozen dataclasses with NumPy arrays, or CuPy arrays if the graph is on a GPU. `to_dict()` and `to_pandas()`
convert them; notebooks show them as tables.
"""
