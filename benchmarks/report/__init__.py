"""`make report`: every measurement of benchmarks/results on one page, with filters."""
