"""Parse the bytes of a provider: the reads into which the network split them, and their frames.

The framing code does no input or output (sans-IO). Only `cassette_file` opens files.
"""
