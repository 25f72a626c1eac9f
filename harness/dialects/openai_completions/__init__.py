"""The dialect `openai-completions`: the legacy text completion, a stream of text alone."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_completions.build_request import REQUEST_FORMS
from harness.dialects.openai_completions.detect import DETECTION
from harness.dialects.openai_completions.oracle import OpenAICompletionsOracle
from harness.dialects.openai_completions.parse_request import parse_request
from harness.dialects.openai_completions.read import read
from harness.dialects.openai_completions.write import WriterOptions, write

DIALECT = Dialect(
    name="openai-completions",
    title="OpenAI legacy completions",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=OpenAICompletionsOracle,
    parse_request=parse_request,
    done="sent",
    arguments="none",
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
