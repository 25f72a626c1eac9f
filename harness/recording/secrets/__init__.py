"""Secrets in bytes: one table of detectors, the views in which they look, and the replacing.

Whoever records, imports or audits uses this table and no other. A secret is found where it
is escaped, and where a stream splits it over its events.
"""

from harness.recording.secrets.detectors import KINDS, Detector, literal_detector
from harness.recording.secrets.scan import Secret, secrets_in, without_secrets
from harness.recording.secrets.views import URL_ESCAPE

__all__ = [
    "KINDS",
    "URL_ESCAPE",
    "Detector",
    "Secret",
    "literal_detector",
    "secrets_in",
    "without_secrets",
]
