"""What one rank of a distributed graph computes on its CPU."""
