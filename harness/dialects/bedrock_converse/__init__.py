"""The dialect `bedrock-converse`: one API of Amazon Bedrock for the models of all makers."""

from harness.dialects.bedrock_converse.parse_request import parse_request
from harness.dialects.bedrock_converse.read import read
from harness.dialects.bedrock_converse.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    "bedrock-converse",
    "Amazon Bedrock ConverseStream",
    read,
    write,
    parse_request,
    content_type="application/vnd.amazon.eventstream",
)
