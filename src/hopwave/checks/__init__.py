"""Checks of values that a caller gave: options and whole numbers."""
