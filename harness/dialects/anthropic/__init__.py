"""Register the dialect `anthropic`: Anthropic's Messages API, direct or through a cloud."""

from harness.dialects.kit.detect import Detection, Strength, error_in, shape, types
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="anthropic",
    reference="https://platform.claude.com/docs/en/build-with-claude/streaming",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.AnthropicOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    sealed_kind="signature",
    request_headers=(("anthropic-version", "2023-06-01"),),
    done="added",
    unknown_events=({"type": "ping"}, {"type": "x_progress", "percent": 50}),
    option_needs={"framing": "other-encodings"},
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `tool_use.id`
    base_url_variable="ANTHROPIC_BASE_URL",
    below_base_url="/v1/messages",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(
            r"/messages$",
            r"publishers/anthropic/models/[^/]+:(?:streamR|r)awPredict$",
            r"/model/[^/]*anthropic\.[^/]+/invoke(?:-with-response-stream)?$",
        ),
        headers=("anthropic-version", "anthropic-beta"),
        request_keys=("anthropic_version",),
        signs=(
            types("message_start$", "message_delta$", "message_stop$", "content_block_"),
            # `message` is too common a type to show the API without the role.
            shape(
                Strength.MESSAGE,
                "type message",
                lambda event: (event.get("type"), event.get("role")) == ("message", "assistant"),
            ),
            shape(
                Strength.FORM_OF_ERROR,
                "type error",
                lambda event: bool(error_in(event)) and event.get("type") == "error",
            ),
            shape(Strength.STRAY, "type ping", lambda event: event.get("type") == "ping"),
        ),
        events_in_lists="named-event",
    ),
)
