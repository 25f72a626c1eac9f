"""The oracle: bytes of one interaction -> what the API's contract says they hold.

It reads the whole body at once, shares no code with `harness.dialects`, and abstains where
the contract leaves the meaning open: a judge must not guess.
"""

from harness.dialects.kit.oracle.reading import CallReading, Deviation, OracleReading

__all__ = ["CallReading", "Deviation", "OracleReading"]
