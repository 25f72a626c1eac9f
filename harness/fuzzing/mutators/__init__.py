"""Wire mutators: an interaction in, one that a provider might have sent instead out."""
