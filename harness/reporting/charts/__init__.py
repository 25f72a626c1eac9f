"""Drawings of the report: the byte axis, lanes of one case, squares, and stacked bars."""
