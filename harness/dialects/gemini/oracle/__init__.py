"""Define the oracle of the dialect `gemini`, written from the documentation of the API alone."""

from harness.dialects.gemini.oracle.body import GeminiOracle

__all__ = ["GeminiOracle"]
