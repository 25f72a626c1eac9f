"""One room per provider API: frames in, deltas out, and the way back.

Dialects know nothing of each other, of files or of clocks.
"""
