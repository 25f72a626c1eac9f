"""Bytes of a provider: how the network split them into reads, and where their frames are.

The framing code does no input or output (sans-IO). Only `cassette_file` opens files.
"""
