"""Register the dialect `openai-completions`: the legacy text completion, a stream of text alone."""

from harness.dialects.kit.detect import (
    Detection,
    Strength,
    first_choice,
    is_chat_choice,
    objects,
    shape,
)
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="openai-completions",
    reference="https://platform.openai.com/docs/api-reference/completions",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.OpenAICompletionsOracle,
    parse_request=parse_request.parse_request,
    done="sent",
    arguments="none",
    base_url_variable="OPENAI_BASE_URL",
    below_base_url="/completions",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"(?<!/chat)/completions$",),
        signs=(
            shape(
                Strength.CHOICES,
                "choices text",
                lambda event: "text" in (first_choice(event) or {}) and not is_chat_choice(event),
            ),
            objects("text_completion$"),
        ),
    ),
)
