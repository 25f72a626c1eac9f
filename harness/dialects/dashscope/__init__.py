"""The dialect `dashscope`: the text generation stream of DashScope's native API."""

from harness.dialects.dashscope.build_request import REQUEST_FORMS
from harness.dialects.dashscope.detect import DETECTION
from harness.dialects.dashscope.oracle import DashScopeOracle
from harness.dialects.dashscope.parse_request import parse_request
from harness.dialects.dashscope.read import read
from harness.dialects.dashscope.write import write
from harness.dialects.dashscope.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="dashscope",
    title="Alibaba DashScope, native generation API",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=DashScopeOracle,
    parse_request=parse_request,
    may_send_snapshots=True,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
