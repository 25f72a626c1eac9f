"""Make recordings: record while a client streams, import files of other tools, remove secrets."""
