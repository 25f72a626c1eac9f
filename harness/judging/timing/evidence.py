"""The evidence that rules about time check: one play of a timing scenario."""

from collections.abc import Container
from functools import cached_property
from typing import Final

import msgspec

from harness.judging.rule import RuleMaker
from harness.judging.timing.play import ALLOWANCE, CONTENT, Played
from harness.judging.timing.script import TimingExpectation, TimingScript
from harness.project import ClientKind
from harness.results.expectation import ALL_FIELDS, Expectation
from harness.results.finding import Came
from harness.turns.arguments import parse

_RETRY_AFTER: Final = "retry-after"


class TimingEvidence(msgspec.Struct, frozen=True, dict=True):
    """One play of a script, with what the client should have done.

    Fields:
        content: the turn that agent code must get; None if it is not judged.
        scale: the factor of all times.
    """

    script: TimingScript
    played: Played
    content: Expectation | None
    kind: ClientKind
    hides_text: bool = False
    unsent: bool = False
    scale: float = 1.0

    stopped = False
    judged: Container[str] = ALL_FIELDS
    prefix = "timing."
    form: Came = ""

    @property
    def expected(self) -> TimingExpectation:
        """How the client must react."""
        return self.script.expect

    @property
    def request_count(self) -> int:
        """The number of requests."""
        return len(self.played.requests)

    def bound(self, seconds: float) -> float:
        """Return the time in which a client may react to a bound of some seconds."""
        return (seconds + ALLOWANCE) * self.scale

    @cached_property
    def stalled_for(self) -> float:
        """The seconds from the begin of the last pause to the end of the client."""
        played = self.played
        pauses = [mark.at for mark in played.marks if mark.kind == "paused"]
        begun = [at for at in pauses if at <= played.ended]
        return played.ended - max(begun, default=played.ended)

    @cached_property
    def is_endless(self) -> bool:
        """Whether the client waited longer than the last pause allows."""
        bound = self.expected.ended_within
        late = bound is not None and self.stalled_for > self.bound(bound)
        return late or self.played.hung

    @cached_property
    def is_content_right(self) -> bool:
        """Whether agent code got the expected turn."""
        turn, content = self.played.turn, self.content
        if content is None:
            return True
        calls = [(call.name, parse(call.arguments).value) for call in turn.tool_calls]
        return (
            turn.failure is None
            and (self.hides_text or turn.text == content.text)
            and calls == [(call.name, call.arguments) for call in content.calls]
        )

    @property
    def is_repeated(self) -> bool:
        """Whether the client sent a new request after agent code got a part of the answer."""
        last = self.played.requests[-1].at if self.request_count > 1 else 0.0
        content = (at for at, delta in self.played.deltas if isinstance(delta, CONTENT))
        return any(at < last for at in content)

    @property
    def short_waits(self) -> tuple[tuple[float, float], ...]:
        """The seconds that the server demanded and that the client waited, if these are fewer."""
        marks, found = self.played.marks, []
        for before, after in zip(self.played.requests, self.played.requests[1:], strict=False):
            demanded = self._retry_after(before.response)
            done = [it.at for it in marks if it.kind == "ended" and it.response == before.response]
            waited = after.at - (done[0] if done else before.at)
            if waited < demanded * 0.95:
                found.append((demanded, waited))
        return tuple(found)

    def _retry_after(self, response: int) -> float:
        responses = self.script.responses
        headers = responses[response].headers if response < len(responses) else {}
        return float(headers.get(_RETRY_AFTER, 0))


timing_rule: Final = RuleMaker[TimingEvidence]()
