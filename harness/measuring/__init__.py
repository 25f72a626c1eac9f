"""Measure logs of any size: one row for each turn, and the rates of these rows.

Worker processes read parts of a log, and each writes its rows to a Parquet file. The command gets
only counts from them, so its memory does not grow with the log.
"""
