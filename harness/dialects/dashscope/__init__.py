"""The dialect `dashscope`: the text generation stream of DashScope's native API."""

from harness.dialects.dashscope.parse_request import parse_request
from harness.dialects.dashscope.read import read
from harness.dialects.dashscope.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    "dashscope", "Alibaba DashScope, native generation API", read, write, parse_request
)
