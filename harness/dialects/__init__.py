"""One package for each provider API. It reads frames into deltas, and writes deltas as events.

Dialects do not import each other, open no file and read no clock.
"""
