"""One search on the CPU: its levels, and the compiled loop around them."""
