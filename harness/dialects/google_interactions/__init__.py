"""The dialect `google-interactions`: the event stream of Google's Interactions API."""

from harness.dialects.google_interactions.build_request import REQUEST_FORMS
from harness.dialects.google_interactions.detect import DETECTION
from harness.dialects.google_interactions.oracle import GoogleInteractionsOracle
from harness.dialects.google_interactions.parse_request import parse_request
from harness.dialects.google_interactions.read import read
from harness.dialects.google_interactions.write import write
from harness.dialects.google_interactions.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="google-interactions",
    title="Google Interactions API",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=GoogleInteractionsOracle,
    parse_request=parse_request,
    done="added",
    unknown_events=({"event_type": "x.progress", "percent": 50},),
    meaningful_options=frozenset(("status",)),
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
