"""Find and replace secrets in bytes: one table of detectors, views of a body, and replacement.

Recording, importing and auditing use only this table. A secret is also found if it is escaped, or
if a stream splits it over its events.
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
