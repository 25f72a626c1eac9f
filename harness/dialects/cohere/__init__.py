"""The dialect `cohere`: Cohere's chat API, version 2 and the version 1 that is still served."""

from harness.dialects.cohere.read import read
from harness.dialects.cohere.request import read_request
from harness.dialects.cohere.write import write
from harness.dialects.dialect import Dialect

DIALECT = Dialect("cohere", "Cohere Chat API v2, and v1", read, write, read_request)
