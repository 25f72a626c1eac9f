"""The dialect `openai-chat`: the chat completions stream, as many providers implement it."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="openai-chat",
    title="OpenAI chat completions, as many providers implement it",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.OpenAIChatOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    unknown_events=({"type": "x_progress", "percent": 50}, {"object": "x.progress", "choices": []}),
    meaningful_options=frozenset(("first_id", "index", "arguments", "where", "finish")),
    has_text_call_clients=True,
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
    record_path="/v1/chat/completions",
)
