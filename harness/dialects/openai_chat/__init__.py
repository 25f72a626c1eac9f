"""The dialect `openai-chat`: the chat completions stream, as many providers implement it."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_chat.build_request import REQUEST_FORMS, build_request
from harness.dialects.openai_chat.detect import DETECTION
from harness.dialects.openai_chat.oracle import OpenAIChatOracle
from harness.dialects.openai_chat.parse_request import parse_request
from harness.dialects.openai_chat.read import read
from harness.dialects.openai_chat.write import write
from harness.dialects.openai_chat.writer_options import WriterOptions

DIALECT = Dialect(
    name="openai-chat",
    title="OpenAI chat completions, as many providers implement it",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=OpenAIChatOracle,
    parse_request=parse_request,
    build_request=build_request,
    done="sent",
    unknown_events=({"type": "x_progress", "percent": 50}, {"object": "x.progress", "choices": []}),
    meaningful_options=frozenset(("first_id", "index", "arguments", "where", "finish")),
    has_text_call_clients=True,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
    record_path="/v1/chat/completions",
)
