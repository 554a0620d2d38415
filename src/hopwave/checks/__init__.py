"""Checks of arguments: keywords, options and integers."""
