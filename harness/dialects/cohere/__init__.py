"""The dialect `cohere`: Cohere's chat API, version 2 and the version 1 that is still served."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="cohere",
    title="Cohere Chat API v2, and v1",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.CohereOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    unknown_events=({"type": "x-progress", "percent": 50}, {"type": "debug", "prompt": "x"}),
    meaningful_options=frozenset(("version",)),
    can_require_tool=False,
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
    record_path="/v2/chat",
)
