"""The cost of a client: time, memory, and held back bytes, as ratios that machines agree on."""
