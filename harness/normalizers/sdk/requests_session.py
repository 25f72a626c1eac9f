"""A session of the package requests that answers from a cassette, for libraries that take one."""

import importlib
from collections.abc import Iterator
from typing import Any

from harness.normalizers.sdk import Answers
from harness.playback.transports import headers_to_send
from harness.wire.interaction import Interaction, Request


def lasting_session() -> tuple[Any, Answers]:
    """Return a `requests.Session` for many turns, and the object that gives it the answers.

    If the recorded connection broke, the session raises its own error after the last read.
    """
    requests: Any = importlib.import_module("requests")
    adapters: Any = importlib.import_module("requests.adapters")
    answers = Answers()
    session = requests.Session()
    kind = type(_Adapter.__name__, (_Adapter, adapters.BaseAdapter), {})
    for scheme in ("http://", "https://"):
        session.mount(scheme, kind(answers))
    return session, answers


class _Adapter:
    """Answers the requests of a session."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self._answers = answers

    def send(self, request: Any, **_options: object) -> Any:  # noqa: ANN401 - values of a package that may not be installed
        """Return the response to a prepared request."""
        requests: Any = importlib.import_module("requests")
        utils: Any = importlib.import_module("requests.utils")
        found = self._answers(Request(request.method, request.url, (), b""))
        if found is None:
            raise requests.ConnectionError("no interaction answers the request")
        interaction, reads = found
        response = requests.Response()
        response.status_code = interaction.status
        for name, value in headers_to_send(interaction.headers):
            response.headers[name.decode()] = value.decode()
        response.encoding = utils.get_encoding_from_headers(response.headers)
        response.raw = RawBody(interaction, reads)
        response.request, response.url = request, request.url
        return response

    def close(self) -> None:
        """Do nothing, because no connection is open."""


class RawBody:
    """The body of a response, with the methods of urllib3 that requests and botocore call."""

    def __init__(self, interaction: Interaction, reads: Iterator[bytes]) -> None:
        self._interaction = interaction
        self._reads = reads

    def stream(self, _size: int = 0, **_options: bool) -> Iterator[bytes]:
        """Yield the reads one by one, and fail as urllib3 does if the connection broke."""
        yield from self._reads
        if self._interaction.broken:
            urllib3: Any = importlib.import_module("urllib3.exceptions")
            raise urllib3.ProtocolError("recorded: the connection broke in the middle of the body")

    def close(self) -> None:
        """Do nothing, because no connection is open."""
