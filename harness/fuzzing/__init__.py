"""Search for inputs with which a client fails, and shrink them.

Only this package imports Hypothesis, which `pip install 'toolcall-harness[fuzz]'` installs.
"""
