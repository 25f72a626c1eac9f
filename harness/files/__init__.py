"""Read files with a size limit, and load YAML, TOML and JSON as typed values."""
