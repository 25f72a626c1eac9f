"""The dialect `gemini`: generateContent streams of the Gemini API and of Vertex AI."""

from harness.dialects.dialect import Dialect
from harness.dialects.gemini.read import read
from harness.dialects.gemini.request import read_request
from harness.dialects.gemini.write import write

DIALECT = Dialect(
    "gemini", "Gemini API and Vertex AI, streamGenerateContent", read, write, read_request
)
