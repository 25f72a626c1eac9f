"""Define the oracle of the dialect `anthropic`, written from the documentation of the API alone."""

from harness.dialects.anthropic.oracle.body import AnthropicOracle

__all__ = ["AnthropicOracle"]
