"""The dialect `google-interactions`: the event stream of Google's Interactions API."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="google-interactions",
    title="Google Interactions API",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.GoogleInteractionsOracle,
    parse_request=parse_request.parse_request,
    done="added",
    unknown_events=({"event_type": "x.progress", "percent": 50},),
    meaningful_options=frozenset(("status",)),
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
)
