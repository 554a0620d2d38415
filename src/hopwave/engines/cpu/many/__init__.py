"""Searches from many sources on the CPU."""
