"""The dialect `cohere`: Cohere's chat API, version 2 and the version 1 that is still served."""

from harness.dialects.cohere.build_request import REQUEST_FORMS, build_request
from harness.dialects.cohere.detect import DETECTION
from harness.dialects.cohere.oracle import CohereOracle
from harness.dialects.cohere.parse_request import parse_request
from harness.dialects.cohere.read import read
from harness.dialects.cohere.write import write
from harness.dialects.cohere.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="cohere",
    title="Cohere Chat API v2, and v1",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=CohereOracle,
    parse_request=parse_request,
    build_request=build_request,
    done="sent",
    unknown_events=({"type": "x-progress", "percent": 50}, {"type": "debug", "prompt": "x"}),
    meaningful_options=frozenset(("version",)),
    can_require_tool=False,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
    record_path="/v2/chat",
)
