"""Register the dialect `tgi`: text-generation-inference of Hugging Face, a stream of tokens."""

from harness.dialects.kit.detect import Detection, members
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="tgi",
    reference="https://huggingface.co/docs/text-generation-inference/reference/api_reference",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.TgiOracle,
    parse_request=parse_request.parse_request,
    meaningful_options=frozenset(("details",)),
    arguments="none",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/generate_stream$",),
        request_keys=("inputs",),
        signs=(members("token details", "token generated_text", "generated_text"),),
    ),
)
