"""The dialect `openai-completions`: the legacy text completion, a stream of text alone."""

from harness.dialects.dialect import Dialect
from harness.dialects.openai_completions.read import read
from harness.dialects.openai_completions.request import read_request
from harness.dialects.openai_completions.write import write

DIALECT = Dialect("openai-completions", "OpenAI legacy completions", read, write, read_request)
