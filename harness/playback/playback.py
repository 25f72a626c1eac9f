"""A cassette of several interactions -> the answer to each request, and what was asked.

Whoever plays it is judged by `exchanges`, `surplus` and `unplayed`; so every request is kept
with what answered it, and no request is ever an exception. Threads may ask at once.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Final, TypeAlias

import msgspec

from harness.playback.matching import ORDER, matchers
from harness.turns.exact_json import encode_json
from harness.wire.cassette import Cassette
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, seams, split
from harness.wire.interaction import Interaction, Read, Request

SURPLUS_STATUS: Final = 410

_LEFT: Final = "no_interaction_left"
_MATCHES: Final = "no_interaction_matches"
_MOST_EXPECTED: Final = 5
_MOST_CHARS: Final = 300
_HEADERS: Final = (("content-type", "application/json"), ("x-should-retry", "false"))


class Candidate(msgspec.Struct, frozen=True):
    """An interaction that might have answered.

    Fields:
        interaction: its place in the cassette.
        differs: by matcher, in what the request that came is another.
    """

    interaction: int
    method: str
    uri: str
    differs: dict[str, str]


def surplus_reason(expected: Sequence[Candidate], total: int) -> str:
    """Return why nothing answers a request.

    Args:
        expected: the interactions that might have answered it.
        total: how many interactions the cassette has.
    """
    if not expected:
        return f"all {total} interactions of the cassette are played"
    differs = "; ".join(f"{name}: {what}" for name, what in expected[0].differs.items())
    which = f"interaction {expected[0].interaction}"
    more = f" and {len(expected) - 1} more" if len(expected) > 1 else ""
    return f"the request is not that of {which}{more}: {differs}"


def surplus_answer(
    request: Request, expected: Sequence[Candidate], why: str, dialect: str
) -> Interaction:
    """Return the answer to `request`; of what was expected the first few are told."""
    error = {
        "code": _MATCHES if expected else _LEFT,
        "type": "surplus_request",
        "message": f"surplus request: {why}",
        "expected": [_candidate_facts(each) for each in expected[:_MOST_EXPECTED]],
    }
    body = encode_json({"error": error})
    return Interaction(request, SURPLUS_STATUS, _HEADERS, body, (Read(len(body)),), dialect=dialect)


def _candidate_facts(expected: Candidate) -> dict[str, Any]:
    return msgspec.structs.asdict(expected) | {"uri": expected.uri[:_MOST_CHARS]}


Cut: TypeAlias = Callable[[Interaction], Chunking]

CUTS: Final[dict[str, Cut]] = {
    "recorded": Interaction.recorded_cuts,
    "whole": lambda _: UNSPLIT,
    "each-byte": lambda interaction: each_byte(interaction.body),
    "seams": lambda interaction: seams(interaction.body),
}

# A client that never ends its retries must not fill the memory.
_MOST_SURPLUS: Final = 1_000


class AnsweredRequest(msgspec.Struct, frozen=True):
    """A request that came, and what answered it.

    Fields:
        place: the interaction's place in the cassette; None for a surplus request.
        why: why no interaction answered a surplus request.
    """

    request: Request
    answer: Interaction
    place: int | None = None
    why: str = ""


class Playback:
    """Answers requests with the interactions of a cassette, each of them once.

    Args:
        cassette: what is played.
        match: what a request and the recorded one must have in common
            (`matching.NAMES`). With `order` only the next interaction may answer, else the
            first one left that matches.
        cuts: where the body of an answer is cut into reads; by default as recorded.

    Raises:
        UsageError: `match` names what there is not.
    """

    def __init__(
        self,
        cassette: Cassette,
        match: Sequence[str] = (ORDER,),
        cuts: Cut = Interaction.recorded_cuts,
    ) -> None:
        self.cassette = cassette
        self.surplus_count = 0
        self._matchers = matchers(match)
        self._in_order = ORDER in match
        self._cuts = cuts
        self._left = list(range(len(cassette.interactions)))
        self._exchanges: list[AnsweredRequest] = []
        self._lock = Lock()

    def answer(self, request: Request) -> Interaction:
        """Return what answers `request`: an interaction, or an error document."""
        return self.exchange(request).answer

    def exchange(self, request: Request) -> AnsweredRequest:
        """Return `request` with what answers it, and keep both."""
        with self._lock:
            exchange = self._exchange(request)
            self.surplus_count += exchange.place is None
            if exchange.place is not None or self.surplus_count <= _MOST_SURPLUS:
                self._exchanges.append(exchange)
            return exchange

    def reads(self, interaction: Interaction) -> Iterator[bytes]:
        """Yield the body of an answer, read by read; none is empty."""
        return filter(None, split(interaction.body, self._cuts(interaction)))

    @property
    def exchanges(self) -> tuple[AnsweredRequest, ...]:
        """All requests that came, with what answered them.

        Of surplus ones the first thousand are kept; `surplus_count` counts all.
        """
        with self._lock:
            return tuple(self._exchanges)

    def surplus(self) -> tuple[AnsweredRequest, ...]:
        """Return the requests that no interaction answered."""
        return tuple(exchange for exchange in self.exchanges if exchange.place is None)

    def unplayed(self) -> tuple[int, ...]:
        """Return the places of the interactions that nobody asked for."""
        with self._lock:
            return tuple(self._left)

    def _exchange(self, request: Request) -> AnsweredRequest:
        expected: list[Candidate] = []
        for place in self._left[:1] if self._in_order else self._left:
            recorded = self.cassette.interactions[place]
            differs = self._differs(request, recorded.request)
            if not differs:
                self._left.remove(place)
                return AnsweredRequest(request, recorded, place)
            sent = recorded.request
            expected.append(Candidate(place, sent.method, sent.uri, differs))
        why = surplus_reason(expected, len(self.cassette.interactions))
        answer = surplus_answer(request, expected, why, self.cassette.dialect)
        return AnsweredRequest(request, answer, why=why)

    def _differs(self, sent: Request, recorded: Request) -> dict[str, str]:
        compared = ((name, differs(sent, recorded)) for name, differs in self._matchers.items())
        return {name: difference for name, difference in compared if difference}
