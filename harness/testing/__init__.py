"""Scenarios as pytest items: `conformance_suite` for other repositories, and the plugin's own."""

from harness.testing.items import ScenarioFile
from harness.testing.suite import conformance_suite

__all__ = ["ScenarioFile", "conformance_suite"]
