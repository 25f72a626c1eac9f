"""What a run contains: results, findings, detail pages and the run file, as values.

Nothing here reads a stream or runs a client, so that a command about runs loads no engine.
"""
