"""The documentation, and the code that keeps it true."""
