"""The dialect `tgi`: Hugging Face text-generation-inference, a stream of tokens of text."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.tgi.build_request import REQUEST_FORMS
from harness.dialects.tgi.detect import DETECTION
from harness.dialects.tgi.oracle import TgiOracle
from harness.dialects.tgi.parse_request import parse_request
from harness.dialects.tgi.read import read
from harness.dialects.tgi.write import WriterOptions, write

DIALECT = Dialect(
    name="tgi",
    title="Hugging Face text-generation-inference, /generate_stream",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=TgiOracle,
    parse_request=parse_request,
    meaningful_options=frozenset(("details",)),
    arguments="none",
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
