"""Define the oracle of the dialect `cohere`, written from the documentation of the API alone."""

from harness.dialects.cohere.oracle.body import CohereOracle

__all__ = ["CohereOracle"]
