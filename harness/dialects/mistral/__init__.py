"""The dialect `mistral`: the chat completions stream of Mistral's own API."""

from harness.dialects.dialect import Dialect
from harness.dialects.mistral.read import read
from harness.dialects.mistral.request import read_request
from harness.dialects.mistral.write import write

DIALECT = Dialect("mistral", "Mistral chat completions", read, write, read_request)
