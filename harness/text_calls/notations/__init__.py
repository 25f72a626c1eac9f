"""One file for each text dialect: a way in which models spell tool calls in text."""
