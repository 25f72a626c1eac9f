"""Test third-party libraries (peers), each in a separate environment and process.

`peers.toml` lists them, and `locks/` contains the exact version of every installed package.
"""
