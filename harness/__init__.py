"""harness: a conformance suite for tool calling over streams.

Importing this package imports nothing else: the pytest plugin and the command line load
what they need when they need it.
"""

__version__ = "0.1.0"
