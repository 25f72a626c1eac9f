"""The dialect `openai-completions`: the legacy text completion, a stream of text alone."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_completions.parse_request import parse_request
from harness.dialects.openai_completions.read import read
from harness.dialects.openai_completions.write import write

DIALECT = Dialect("openai-completions", "OpenAI legacy completions", read, write, parse_request)
