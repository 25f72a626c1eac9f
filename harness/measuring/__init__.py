"""Logs of any size -> one row for each turn, and rates of them.

A log is read in parts, each by a worker that writes its rows to a Parquet file. Only counts come
back, so that the memory of the command does not grow with the log.
"""
