"""Scenarios as pytest items: for other repositories, and for the plugin."""

from harness.testing.items import ScenarioFile
from harness.testing.suite import conformance_suite

__all__ = ["ScenarioFile", "conformance_suite"]
