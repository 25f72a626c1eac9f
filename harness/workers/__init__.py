"""Processes for third-party code: their start, limits and end, here and on a cluster."""
