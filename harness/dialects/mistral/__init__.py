"""Register the dialect `mistral`: the chat completions stream of Mistral's own API."""

from harness.dialects.kit.detect import Detection, Strength, is_chat_choice, shape
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="mistral",
    reference="https://docs.mistral.ai/api/#tag/chat",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.MistralOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    meaningful_options=frozenset(("call_id",)),
    can_require_tool=False,
    below_base_url="/v1/chat/completions",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"publishers/mistralai/models/[^/]+:(?:streamR|r)awPredict$",),
        signs=(
            # Mistral pads its chunks, so that their length shows nothing.
            shape(
                Strength.CHOICES_OF_ONE_PROVIDER,
                "choices p",
                lambda event: isinstance(event.get("p"), str) and is_chat_choice(event),
            ),
        ),
        looks_like="openai-chat",
        providers=("mistral",),
    ),
    record_path="/v1/chat/completions",
)
