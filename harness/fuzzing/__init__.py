"""Search for failing inputs: strategies, wire mutators, search and shrinking.

The only package that imports Hypothesis; `pip install 'toolcall-harness[fuzz]'` brings it.
"""
