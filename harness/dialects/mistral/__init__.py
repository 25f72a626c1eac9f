"""The dialect `mistral`: the chat completions stream of Mistral's own API."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.mistral.parse_request import parse_request
from harness.dialects.mistral.read import read
from harness.dialects.mistral.write import write

DIALECT = Dialect("mistral", "Mistral chat completions", read, write, parse_request)
