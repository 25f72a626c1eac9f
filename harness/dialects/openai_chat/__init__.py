"""Register the dialect `openai-chat`: chat completions, as many providers implement them."""

from harness.dialects.kit.detect import (
    Detection,
    Strength,
    error_in,
    is_chat_choice,
    objects,
    shape,
)
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="openai-chat",
    reference="https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.OpenAIChatOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    unknown_events=({"type": "x_progress", "percent": 50}, {"object": "x.progress", "choices": []}),
    meaningful_options=frozenset(("first_id", "index", "arguments", "where", "finish")),
    has_text_call_clients=True,
    base_url_variable="OPENAI_BASE_URL",
    below_base_url="/chat/completions",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(
            r"/chat/completions$",
            r"/model/[^/]*openai\.[^/]+/invoke(?:-with-response-stream)?$",
        ),
        signs=(
            shape(Strength.CHOICES, "choices delta", is_chat_choice),
            objects("chat.completion"),
            shape(Strength.ERROR, "error", lambda event: bool(error_in(event))),
            shape(Strength.STRAY, "choices", lambda event: isinstance(event.get("choices"), list)),
        ),
    ),
    record_path="/v1/chat/completions",
)
