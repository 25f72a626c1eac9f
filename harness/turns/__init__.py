"""Turns: the closed union of deltas, and how they fold to one provider-neutral turn."""
