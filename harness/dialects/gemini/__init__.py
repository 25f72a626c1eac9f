"""The dialect `gemini`: generateContent streams of the Gemini API and of Vertex AI."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="gemini",
    title="Gemini API and Vertex AI, streamGenerateContent",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.GeminiOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    meaningful_options=frozenset(("call_id", "finish")),
    arguments="object",
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
)
