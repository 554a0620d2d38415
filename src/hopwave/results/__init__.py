"""What comes back: the answer, how it was found, and how far it can be trusted."""
