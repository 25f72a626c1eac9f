"""The dialect `mistral`: the chat completions stream of Mistral's own API."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="mistral",
    title="Mistral chat completions",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.MistralOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    meaningful_options=frozenset(("call_id",)),
    can_require_tool=False,
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
    record_path="/v1/chat/completions",
)
