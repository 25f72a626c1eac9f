"""Make a normalizer of a client in any language: a command that exchanges JSON Lines.

The harness starts the command, and a server on 127.0.0.1. For each replay, the harness writes one
`case` to the command: a base URL that answers one request with the recorded response, split into
the reads of the replay. The client sends the request with its own library, and writes the `turn`
that it read. The module `lines` defines all messages. Rules, blame, gate, fuzzing and the report
treat it as any other normalizer.
"""

import atexit
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import msgspec

from harness.dialects.table import DIALECTS
from harness.errors import NormalizerLoadError
from harness.normalizers.client.lines import Case, Introduction, TimedCaseLine
from harness.normalizers.client.process import ClientProcess
from harness.normalizers.client.turn import deltas_of_turn
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.timing import TOLD, TimedCase, TimedClient
from harness.playback.case_server import replay_server
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction
from harness.wording import did_you_mean

__all__ = ["client_normalizer", "process_of"]

# Longer than the limit of a replay, which the harness enforces itself in a main thread.
_CASE_SECONDS = 60.0
_Line = TypeVar("_Line", Case, TimedCaseLine)


def client_normalizer(command: str) -> Normalizer:
    """Start `command`, and return a normalizer that uses its process until this process ends.

    Args:
        command: a command line such as `node client.mjs`, split as by a shell; no shell is used.

    Raises:
        NormalizerLoadError: the command cannot be started, or does not answer `hello`.
    """
    client = _started(command)
    hello = client.introduction
    return Normalizer(
        name=f"client:{command}",
        normalize=client.normalize,
        dialects=frozenset(hello.dialects),
        capabilities=frozenset(hello.capabilities),
        streams=False,  # a turn comes as a whole, so how promptly text comes is not judged
        role="peer",
        kind=hello.kind,
        summary=" ".join(filter(None, (hello.name, hello.version, hello.language))),
        hides=frozenset(hello.hides),
        policies=hello.policies,
        timed=_timed(client),
    )


def _timed(client: "_Client") -> TimedClient | None:
    """Return how the client takes part in timing scenarios; None if it does not."""
    hello = client.introduction
    if hello.times is None or hello.protocol == 1:
        return None
    places = {each: hello.untold.get(each, "") for each in TOLD if each not in hello.times}
    return TimedClient(client.run_timed, places, leaves=True)


def process_of(normalizer: Normalizer) -> int | None:
    """Return the id of the process in which the client of `normalizer` runs now.

    It is None if the normalizer runs in this process, or if its process has ended.
    """
    client = getattr(normalizer.normalize, "__self__", None)
    return client.process_id if isinstance(client, _Client) else None


@cache
def _started(command: str) -> "_Client":
    """Return the process of `command`, which is started once in this process."""
    client = _Client(command)
    atexit.register(client.close)
    return client


class _Client:
    """Runs a client in a process that sends its requests to a server in this process."""

    def __init__(self, command: str) -> None:
        self._process = ClientProcess(command)
        self._cases = 0
        self.introduction = self._process.start()
        try:
            _check(self.introduction, command)
        except NormalizerLoadError:
            self._process.close()
            raise

    @property
    def process_id(self) -> int | None:
        """The id of the process; None if it has ended."""
        return self._process.id

    def close(self) -> None:
        """Stop the process."""
        self._process.close()

    def normalize(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        """Let the client send its request, and yield the deltas of the turn that it reports.

        Raises:
            ClientError: the client broke the protocol, or reported an undocumented exception.
        """
        with replay_server(interaction, reads) as base_url:
            turn = self._process.turn(self._case(Case, interaction, base_url), _CASE_SECONDS)
        yield from deltas_of_turn(turn)

    def run_timed(self, case: TimedCase) -> Iterator[Delta]:
        """Let the client send the request of a timing scenario, and yield the deltas of its turn.

        Raises:
            ClientError: as for `normalize`.
        """
        times = {name: getattr(case, name) for name in TOLD}
        line = self._case(TimedCaseLine, case.interaction, case.base_url, **times)
        yield from deltas_of_turn(self._process.turn(line, _CASE_SECONDS))

    def _case(
        self,
        kind: type[_Line],
        interaction: Interaction,
        base_url: str,
        **times: Any,  # noqa: ANN401 - the fields of TOLD
    ) -> _Line:
        self._cases += 1
        body = _request_body(interaction)
        model = body.get("model")
        return kind(
            id=self._cases,
            dialect=interaction.dialect,
            base_url=base_url,
            model=model if isinstance(model, str) and model else "replay",
            request=body,
            **times,
        )


def _request_body(interaction: Interaction) -> dict[str, object]:
    try:
        body: object = msgspec.json.decode(interaction.request.body)
    except msgspec.DecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _check(hello: Introduction, command: str) -> None:
    """Reject a declared name that the harness does not know: every cell would be `unsupported`."""
    where = f"client {command!r}: hello"
    for field, found, known in (
        ("dialects", hello.dialects, DIALECTS),
        ("capabilities", hello.capabilities, CAPABILITIES),
    ):
        for word in found:
            if word not in known:
                raise NormalizerLoadError(
                    f"{field}: unknown value {word!r}",
                    where=where,
                    hint=did_you_mean(word, sorted(known), "known"),
                )
