"""Text deltas -> tool calls that the model spelled in its text, and the text without them."""
