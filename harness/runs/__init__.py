"""Cells -> rows: plan, executors, the store, statistics, rankings and the gate."""
