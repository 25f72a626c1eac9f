"""The dialect `gemini`: generateContent streams of the Gemini API and of Vertex AI."""

from harness.dialects.gemini.parse_request import parse_request
from harness.dialects.gemini.read import read
from harness.dialects.gemini.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    "gemini", "Gemini API and Vertex AI, streamGenerateContent", read, write, parse_request
)
