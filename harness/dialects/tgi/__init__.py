"""The dialect `tgi`: Hugging Face text-generation-inference, a stream of tokens of text."""

from harness.dialects.dialect import Dialect
from harness.dialects.tgi.read import read
from harness.dialects.tgi.request import read_request
from harness.dialects.tgi.write import write

DIALECT = Dialect(
    "tgi", "Hugging Face text-generation-inference, /generate_stream", read, write, read_request
)
