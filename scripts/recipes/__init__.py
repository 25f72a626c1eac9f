"""Recipes for the emulated cassettes: a model's meaning, a provider's spelling, byte edits."""
