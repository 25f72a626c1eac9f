"""One file for each text dialect, a format in which models write tool calls in text."""
