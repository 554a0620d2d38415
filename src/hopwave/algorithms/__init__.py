"""Algorithms, one short file each, written like their papers. They run on any engine."""
