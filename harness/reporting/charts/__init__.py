"""Compute the drawings of the report: the bytes and deltas of a case, and tables of squares."""
