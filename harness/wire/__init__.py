"""Bytes: what a provider sent, how the network cut it, and where its frames lie.

Framing here is sans-IO; only `cassette_file` opens files.
"""
