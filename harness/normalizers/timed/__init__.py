"""A client of HTTP for timing scenarios, and copies of it with one seeded fault each."""

from harness.normalizers.timed.client import TIMED_REFERENCES
from harness.normalizers.timed.mutants import TIMED_MUTANTS

__all__ = ["TIMED_MUTANTS", "TIMED_REFERENCES"]
