"""The reads of one interaction as the answer to whatever a library's HTTP client sends.

No byte leaves the process. Each read is handed over when the client asks for it, not before, so
that the harness sees how far a library had to read.
"""

import importlib
from collections.abc import Iterable
from typing import Any, Literal

from harness.playback.response import headers_to_send
from harness.wire.interaction import Interaction

Http = Literal["httpx", "httpx2"]

# Any name that no server bears; a library needs one, and nothing is ever looked up.
BASE_URL = "http://replay.invalid/v1"
KEY = "none"


def client(library: Http, interaction: Interaction, reads: Iterable[bytes]) -> Any:  # noqa: ANN401 - one of two modules that may not be installed
    """Return a `Client` of httpx or httpx2 that answers every request with `reads`.

    Args:
        library: name of the module.
        interaction: gives status and headers.
        reads: the body, read by read.
    """
    http: Any = importlib.import_module(library)
    headers = headers_to_send(interaction.headers)

    def answer(_request: object) -> Any:  # noqa: ANN401 - a response of that module
        # Content that is iterated is streamed, read by read; bytes would come as one read.
        return http.Response(interaction.status, headers=headers, content=filter(None, reads))

    return http.Client(transport=http.MockTransport(answer))
