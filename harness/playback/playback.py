"""Play a cassette: answer each request with an interaction, and keep all requests.

A client that is tested against a playback is judged by `requests`, `surplus` and `unplayed`. So the
playback stores every request with its answer, and no request raises an exception. Several threads
may send requests at the same time.

A request that no interaction answers gets status 410 Gone. No provider sends it, and no SDK retries
such a request. Most SDKs retry 409 and anything from 500 on, and each attempt would be one more
surplus request.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from types import ModuleType
from typing import Any, Final

import msgspec

from harness.playback.delivery import Cut
from harness.playback.matching import ORDER, matchers
from harness.playback.transports import CassetteTransport, with_bases
from harness.turns.exact_json import encode_json
from harness.wire.cassette import Cassette
from harness.wire.cuts import split
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_interaction

SURPLUS_STATUS: Final = 410

SURPLUS_HEADERS: Final = (("content-type", "application/json"), ("x-should-retry", "false"))
_MOST_CANDIDATES: Final = 5
_MOST_CHARS: Final = 300
# A client that retries without end must not fill the memory.
_MOST_SURPLUS: Final = 1_000
_MOST_SURPLUS_BYTES: Final = 64 * 1024 * 1024


class Candidate(msgspec.Struct, frozen=True):
    """An interaction of the cassette that did not match a request, and why.

    Fields:
        interaction: the index of the interaction in the cassette.
        differs: matcher -> the difference between the request and the recorded request.
    """

    interaction: int
    method: str
    uri: str
    differs: dict[str, str]


class AnsweredRequest(msgspec.Struct, frozen=True):
    """A request of the client, and its answer.

    Fields:
        index: the index of the interaction in the cassette; None for a surplus request.
        reason: why no interaction answers a surplus request.
    """

    request: Request
    answer: Interaction
    index: int | None = None
    reason: str = ""


class Playback:
    """Answers requests with the interactions of a cassette, each of them once.

    Args:
        cassette: the interactions to play.
        match: the names of the matchers that must find no difference (`matching.NAMES`). With
            `order`, only the next interaction may answer. Without it, the first unplayed
            interaction that matches answers.
        cuts: where the body of an answer is split into reads; by default as recorded.

    Raises:
        UsageError: `match` contains an unknown name.
    """

    def __init__(
        self,
        cassette: Cassette,
        match: Sequence[str] = (ORDER,),
        cuts: Cut = Interaction.recorded_cuts,
    ) -> None:
        self.cassette = cassette
        self.surplus_count = 0
        self._surplus_bytes = 0
        self._matchers = matchers(match)
        self._in_order = ORDER in match
        self._cuts = cuts
        self._unplayed = list(range(len(cassette.interactions)))
        self._requests: list[AnsweredRequest] = []
        self._lock = Lock()

    def transport(self, library: ModuleType) -> Any:  # noqa: ANN401 - a transport of the library that is given
        """Return a transport for clients of `library`, which is httpx or httpx2.

        Args:
            library: the module; its `Client` and `AsyncClient` both take the transport.
        """

        def play(request: Request) -> tuple[Interaction, Iterator[bytes]]:
            answer = self.answer(request)
            return answer, self.reads(answer)

        return with_bases(library, CassetteTransport, "BaseTransport")(library, play)

    def answer(self, request: Request) -> Interaction:
        """Return the answer to `request`: an interaction, or an error document."""
        return self.receive(request).answer

    def receive(self, request: Request) -> AnsweredRequest:
        """Return `request` with its answer, and store both."""
        with self._lock:
            answered = self._answered(request)
            if answered.index is None:
                self.surplus_count += 1
                self._surplus_bytes += len(request.body)
            if answered.index is not None or (
                self.surplus_count <= _MOST_SURPLUS and self._surplus_bytes <= _MOST_SURPLUS_BYTES
            ):
                self._requests.append(answered)
            return answered

    def reads(self, interaction: Interaction) -> Iterator[bytes]:
        """Yield the body of an answer, split into reads that are not empty."""
        return filter(None, split(interaction.body, self._cuts(interaction)))

    @property
    def requests(self) -> tuple[AnsweredRequest, ...]:
        """All requests with their answers.

        It has the first thousand surplus requests, up to 64 MiB; `surplus_count` counts all.
        """
        with self._lock:
            return tuple(self._requests)

    def surplus(self) -> tuple[AnsweredRequest, ...]:
        """Return the requests that no interaction answered."""
        return tuple(answered for answered in self.requests if answered.index is None)

    def unplayed(self) -> tuple[int, ...]:
        """Return the indexes of the interactions that answered no request."""
        with self._lock:
            return tuple(self._unplayed)

    def _answered(self, request: Request) -> AnsweredRequest:
        candidates: list[Candidate] = []
        for index in self._unplayed[:1] if self._in_order else self._unplayed:
            recorded = self.cassette.interactions[index]
            differs = self._differs(request, recorded.request)
            if not differs:
                self._unplayed.remove(index)
                return AnsweredRequest(request, recorded, index)
            sent = recorded.request
            candidates.append(Candidate(index, sent.method, sent.uri, differs))
        reason = _surplus_reason(candidates, len(self.cassette.interactions))
        answer = _surplus_answer(request, candidates, reason, self.cassette.dialect)
        return AnsweredRequest(request, answer, reason=reason)

    def _differs(self, sent: Request, recorded: Request) -> dict[str, str]:
        compared = ((name, differs(sent, recorded)) for name, differs in self._matchers.items())
        return {name: difference for name, difference in compared if difference}


def _surplus_reason(candidates: Sequence[Candidate], total: int) -> str:
    """Return why no interaction of a cassette of `total` interactions answers a request."""
    if not candidates:
        return f"all {total} interactions of the cassette are played"
    first = candidates[0]
    differs = "; ".join(f"{name}: {what}" for name, what in first.differs.items())
    more = f" and {len(candidates) - 1} more" if len(candidates) > 1 else ""
    return f"the request differs from interaction {first.interaction}{more}: {differs}"


def _surplus_answer(
    request: Request, candidates: Sequence[Candidate], reason: str, dialect: str
) -> Interaction:
    """Return the answer to a surplus request; it lists the first few candidates."""
    error = {
        "code": "no_interaction_matches" if candidates else "no_interaction_left",
        "type": "surplus_request",
        "message": f"surplus request: {reason}",
        "expected": [
            msgspec.structs.asdict(each) | {"uri": each.uri[:_MOST_CHARS]}
            for each in candidates[:_MOST_CANDIDATES]
        ],
    }
    body = encode_json({"error": error})
    return synthetic_interaction(
        body, request, status=SURPLUS_STATUS, headers=SURPLUS_HEADERS, dialect=dialect
    )
