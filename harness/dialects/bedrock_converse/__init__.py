"""Register the dialect `bedrock-converse`: Amazon Bedrock's API for the models of all makers."""

from typing import Any

from harness.dialects.kit.detect import Detection, Strength, frame_names, members, shape
from harness.dialects.kit.dialect import Dialect
from harness.turns.json_values import as_dict
from harness.wire.aws import AWS_CONTENT_TYPE

from . import build_request, oracle, parse_request, read, write


def _is_metadata(event: dict[str, Any]) -> bool:
    return event.keys() == {"metadata"} and "usage" in as_dict(event["metadata"])


DIALECT = Dialect(
    name="bedrock-converse",
    reference="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
    content_type=AWS_CONTENT_TYPE,
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.BedrockConverseOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    meaningful_options=frozenset(("metadata",)),
    # The AWS SDKs define the start of a block as a union, which is not empty.
    option_needs=dict.fromkeys(("framing", "block_starts"), "other-encodings"),
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `toolUseId`
    base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    below_base_url="/model/.+",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/model/[^/]+/converse(?:-stream)?$",),
        request_keys=("inferenceConfig",),
        shared_request_keys=("toolConfig",),  # of Gemini's requests too
        content_types=(AWS_CONTENT_TYPE,),
        signs=(
            frame_names(
                "contentBlockDelta",
                "contentBlockStart",
                "contentBlockStop",
                "messageStart",
                "messageStop",
                "metadata",
            ),
            members(
                "contentBlockIndex",
                "stopReason metrics",
                "output stopReason",
                # Recordings that lost the framing have the event's name as the one key around it.
                "contentBlockDelta",
                "contentBlockStart",
                "contentBlockStop",
                "messageStart",
                "messageStop",
            ),
            shape(Strength.MEMBERS, "metadata", _is_metadata),
        ),
        events_in_lists="message",
    ),
)
