"""Share code between dialects. It imports `turns` and `wire`, and never a dialect."""
