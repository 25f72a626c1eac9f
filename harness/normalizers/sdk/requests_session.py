"""Create a session of the package requests that answers requests from an interaction."""

import importlib
from typing import Any

from harness.normalizers.sdk.answers import Answers
from harness.normalizers.sdk.urllib3_body import raw_body, text_headers
from harness.wire.interaction import Request


def make_requests_session(answers: Answers) -> Any:  # noqa: ANN401 - of a package that may not be installed
    """Return a `requests.Session` that answers its requests with `answers`."""
    requests: Any = importlib.import_module("requests")
    adapters: Any = importlib.import_module("requests.adapters")
    session = requests.Session()
    session.trust_env = False  # it needs no proxy and no password of the user
    kind = type(_Adapter.__name__, (_Adapter, adapters.BaseAdapter), {})
    for scheme in ("http://", "https://"):
        session.mount(scheme, kind(answers))
    return session


class _Adapter:
    """Answers the requests of a session."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self._answers = answers

    def send(self, request: Any, **_options: object) -> Any:  # noqa: ANN401 - values of a package that may not be installed
        """Return the response to a prepared request."""
        requests: Any = importlib.import_module("requests")
        utils: Any = importlib.import_module("requests.utils")
        found = self._answers(Request(request.method, request.url))
        if found is None:
            raise requests.ConnectionError("no interaction answers the request")
        interaction, reads = found
        response = requests.Response()
        response.status_code = interaction.status
        response.headers.update(text_headers(interaction))
        response.encoding = utils.get_encoding_from_headers(response.headers)
        response.raw = raw_body(interaction, reads)
        response.request, response.url = request, request.url
        return response

    def close(self) -> None:
        """Do nothing, because no connection is open."""
