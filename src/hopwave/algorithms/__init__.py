"""Algorithms, one short file each. They read like their papers and run on any engine."""
