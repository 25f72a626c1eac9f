"""The dialect `google-interactions`: the event stream of Google's Interactions API."""

from harness.dialects.dialect import Dialect
from harness.dialects.google_interactions.read import read
from harness.dialects.google_interactions.request import read_request
from harness.dialects.google_interactions.write import write

DIALECT = Dialect("google-interactions", "Google Interactions API", read, write, read_request)
