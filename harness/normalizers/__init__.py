"""Implementations under test: bytes of one interaction in, deltas out."""
