"""Answer the requests of a client of boto3 or botocore from an interaction."""

import importlib
from collections.abc import Iterable
from typing import Any, Final

from harness.normalizers.sdk.answers import Answers
from harness.normalizers.sdk.urllib3_body import raw_body, text_headers
from harness.wire.interaction import Interaction, Request

# A handler of this event may return the response, and then nothing is sent.
_EVENT: Final = "before-send"
_ID: Final = "harness-replay"


def replay_botocore(client: Any, interaction: Interaction, reads: Iterable[bytes]) -> None:  # noqa: ANN401 - of a package that may not be installed
    """Answer every request of a client with `reads`; this replaces an earlier call.

    If the recorded connection broke, the client raises its own error after the last read.

    Args:
        client: a client from `boto3.client(...)` or `botocore.session.Session.create_client`,
            without retries: `Config(retries={"total_max_attempts": 1})`.
        interaction: provides status and headers, and how the body ended.
        reads: the body, read by read.
    """
    answers = Answers()
    answers.use(interaction, reads)
    events = client.meta.events
    events.unregister(_EVENT, unique_id=_ID)
    events.register_first(_EVENT, _Sender(answers), unique_id=_ID)


class _Sender:
    """Answers the requests of the client."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def __call__(self, request: Any, **_facts: object) -> Any:  # noqa: ANN401 - classes of a package that may not be installed
        awsrequest: Any = importlib.import_module("botocore.awsrequest")
        answer = self._answers(Request(request.method, request.url))
        if answer is None:
            return None
        interaction, reads = answer
        return awsrequest.AWSResponse(
            request.url,
            interaction.status,
            awsrequest.HeadersDict(text_headers(interaction)),
            raw_body(interaction, reads),
        )
