"""Wire mutators: an interaction -> one that a provider might have sent instead."""
