"""Hold one package for each provider API, which reads frames as deltas and writes deltas.

Dialects do not import each other, open no file and read no clock.
"""
