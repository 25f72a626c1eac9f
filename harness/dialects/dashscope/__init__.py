"""The dialect `dashscope`: the text generation stream of DashScope's native API."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="dashscope",
    title="Alibaba DashScope, native generation API",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.DashScopeOracle,
    parse_request=parse_request.parse_request,
    may_send_snapshots=True,
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
)
