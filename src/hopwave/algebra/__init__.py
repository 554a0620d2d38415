"""Operators, semirings, matrices and vectors: what linalg multiplies."""
