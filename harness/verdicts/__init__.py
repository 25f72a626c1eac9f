"""Runs -> verdicts: the gate, comparisons, rankings, statistics and the run database."""
