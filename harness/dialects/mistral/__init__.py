"""The dialect `mistral`: the chat completions stream of Mistral's own API."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.mistral.build_request import REQUEST_FORMS, build_request
from harness.dialects.mistral.detect import DETECTION
from harness.dialects.mistral.oracle import MistralOracle
from harness.dialects.mistral.parse_request import parse_request
from harness.dialects.mistral.read import read
from harness.dialects.mistral.write import write
from harness.dialects.mistral.writer_options import WriterOptions

DIALECT = Dialect(
    name="mistral",
    title="Mistral chat completions",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=MistralOracle,
    parse_request=parse_request,
    build_request=build_request,
    done="sent",
    meaningful_options=frozenset(("call_id",)),
    can_require_tool=False,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
    record_path="/v1/chat/completions",
)
