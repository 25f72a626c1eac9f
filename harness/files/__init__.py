"""Bounded reads, YAML, TOML and JSON as typed values, and the nearest name."""
