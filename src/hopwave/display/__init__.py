"""HTML tables and pictures of results."""
