"""Operators, semirings, matrices and vectors: the operands of linalg."""
