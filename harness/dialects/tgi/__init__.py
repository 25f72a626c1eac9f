"""The dialect `tgi`: Hugging Face text-generation-inference, a stream of tokens of text."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.tgi.parse_request import parse_request
from harness.dialects.tgi.read import read
from harness.dialects.tgi.write import write

DIALECT = Dialect(
    "tgi", "Hugging Face text-generation-inference, /generate_stream", read, write, parse_request
)
