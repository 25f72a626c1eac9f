"""Inputs that nobody wrote down: strategies, wire mutators, search and shrink.

The only package that imports Hypothesis; `pip install 'toolcall-harness[fuzz]'` brings it.
"""
