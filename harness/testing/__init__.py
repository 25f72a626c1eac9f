"""Make pytest items of scenarios, for the pytest plugin and for tests of other repositories."""

from harness.testing.items import ScenarioFile
from harness.testing.suite import conformance_suite

__all__ = ["ScenarioFile", "conformance_suite"]
