"""Register the dialect `gemini`: generateContent streams of the Gemini API and of Vertex AI."""

from harness.dialects.kit.detect import Detection, Strength, error_in, members, shape
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="gemini",
    reference="https://ai.google.dev/api/generate-content",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.GeminiOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    sealed_kind="thoughtSignature",
    meaningful_options=frozenset(("call_id", "finish")),
    option_needs={
        **dict.fromkeys(("framing", "names", "wrapped"), "other-encodings"),
        "arguments": "partial-arguments",
    },
    arguments="object",
    base_url_variable="GOOGLE_GEMINI_BASE_URL",
    below_base_url=r"/v1\w*/models/.+",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r":(?:streamG|g)enerateContent$",),
        headers=("x-goog-api-key", "x-goog-api-client"),
        request_keys=("contents",),
        signs=(
            members("candidates", "promptFeedback", "usageMetadata modelVersion"),
            shape(
                Strength.FORM_OF_ERROR,
                "error status",
                lambda event: isinstance(error_in(event).get("status"), str),
            ),
            shape(Strength.STRAY, "usageMetadata", lambda event: "usageMetadata" in event),
        ),
        sends_arrays=True,
    ),
)
