"""Measure the cost of a client as ratios to a minimal client, so that machines can be compared."""
