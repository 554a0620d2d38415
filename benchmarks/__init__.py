"""Benchmarks: each measures one promise, verifies before it times, and prints or writes one JSON line per run."""
