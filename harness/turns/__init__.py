"""Define deltas, and fold the deltas of a response to one provider-neutral turn."""
