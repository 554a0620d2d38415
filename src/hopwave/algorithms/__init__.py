"""Algorithms, one short file each; they read as their papers do."""
