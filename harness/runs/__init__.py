"""Cells -> rows: selection, planning, loading, judging and execution."""
