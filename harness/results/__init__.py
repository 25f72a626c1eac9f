"""Define what a run contains, as values: results, findings, detail pages and the run file.

This package neither reads streams nor runs clients, so commands about runs start fast.
"""
