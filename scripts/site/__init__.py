"""The documentation site: `python -m scripts.site` builds it from `docs/` and the catalogue."""
