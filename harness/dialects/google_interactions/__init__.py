"""The dialect `google-interactions`: the event stream of Google's Interactions API."""

from harness.dialects.google_interactions.parse_request import parse_request
from harness.dialects.google_interactions.read import read
from harness.dialects.google_interactions.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect("google-interactions", "Google Interactions API", read, write, parse_request)
