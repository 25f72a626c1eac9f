"""Register the dialect `dashscope`: the text generation stream of DashScope's native API."""

from harness.dialects.kit.detect import Detection, members
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="dashscope",
    reference="https://help.aliyun.com/zh/model-studio/qwen-api-reference",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.DashScopeOracle,
    parse_request=parse_request.parse_request,
    may_send_snapshots=True,
    base_url_variable="DASHSCOPE_HTTP_BASE_URL",
    below_base_url="/services/aigc/.+",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/services/aigc/",),
        headers=("x-dashscope-sse",),
        signs=(members("output request_id"),),
    ),
)
