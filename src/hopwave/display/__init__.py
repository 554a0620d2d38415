"""HTML tables and plots of results."""
