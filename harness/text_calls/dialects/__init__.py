"""Define the text dialects, one module for each format in which models write calls in text."""
