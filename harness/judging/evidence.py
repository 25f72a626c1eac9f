"""Define the evidence for rules about turns: one replay, and which calls are the expected ones.

It pairs equal calls first, and then calls with fewer and fewer equal fields. So a call with one
damaged field is reported as damaged, and not as one missing and one invented call.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec

from harness.dialects.table import oracle_reading, read_request
from harness.judging.deviations import contract_deviations
from harness.judging.rule import RuleMaker
from harness.judging.translation import hides_ids
from harness.normalizers.protocol import Normalizer
from harness.project import ClientKind
from harness.results.duties import undocumented_quirks
from harness.results.expectation import Expectation, ExpectedCall, Field
from harness.results.finding import Came
from harness.results.replay import Replay
from harness.turns.arguments import meaning
from harness.turns.deltas import SILENT_FAILURES, CallKind, ParseError, StreamFailure, ToolCall
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Interaction

_Keys = list[tuple[Hashable, ...]]
_FIRST_ERROR_STATUS: Final = 400
_NOT_IN_ERRORS: Final[frozenset[Field]] = frozenset(("text", "reasoning"))


class CallPairing(msgspec.Struct, frozen=True):
    """Which calls of a turn correspond to which expected calls, and which do not.

    Fields:
        pairs: (index of the expected call, index of the call in the turn).
        missing: indexes of expected calls that were not emitted.
        surplus: indexes of calls in the turn that were not expected.
        unreported: indexes of expected rejections that the client did not report.
        unexpected: parse errors that were not expected.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    surplus: tuple[int, ...]
    unreported: tuple[int, ...]
    unexpected: tuple[ParseError, ...]


class TurnEvidence(msgspec.Struct, frozen=True, dict=True):
    """All data that a rule about turns may use: a replay, the bytes and the expected result.

    Fields:
        index: the index of the interaction in the cassette.
        expectation: the expected turn.
        oracle: the oracle's reading of the bytes.
        replay: the replay to check.
        whole: the replay of the unsplit body; the same object as `replay` for that replay.
        again: a second replay of the unsplit body, if `replay` is that one; else None.
        earlier: ids that the client generated for earlier responses to other requests -> index
            of the response.
        unsent: whether no server is known to send the stream, and the client is not of this
            repository.
    """

    index: int
    interaction: Interaction
    normalizer: Normalizer
    expectation: Expectation
    oracle: OracleReading
    replay: Replay
    whole: Replay
    again: Replay | None = None
    earlier: Mapping[str, int] = {}
    unsent: bool = False

    @property
    def stopped(self) -> bool:
        """Whether the normalizer raised an exception or exceeded a limit."""
        return bool(self.replay.error) or self.replay.hung

    @property
    def judged(self) -> frozenset[Field]:
        """The fields of the expected turn that the rules compare.

        If the upstream refused the request of a gateway, it sent no turn. If a turn failed, and
        the gateway answered with an error status, the answer has no place for text.
        """
        exchange, judged = self.replay.exchange, self.expectation.judged
        if exchange is None:
            return judged
        if exchange.refused:
            return frozenset()
        is_error = exchange.answer.status >= _FIRST_ERROR_STATUS
        return judged - _NOT_IN_ERRORS if is_error and self.expectation.failure else judged

    @property
    def exposes_ids(self) -> bool:
        """Whether the client passes the ids of calls to agent code."""
        hides = self.normalizer.front and hides_ids(self.normalizer, self.interaction.dialect)
        return not hides and "ids" not in self.normalizer.hides

    @property
    def form(self) -> Came:
        """Why the format of the stream lowers the level of each rule; "" if it does not.

        It is "undocumented" if the stream violates the documented format of its API and the client
        reported that. The client reports it by a failure, by a rejection that the stream does not
        require, or, if it is an SDK, by any exception. From a gateway, an error is also a report if
        the upstream breaks the contract of its API, or sends no call that can be used.
        """
        if not self._reports_form:
            return ""
        is_broken = self.tells_failure and self._is_upstream_broken
        return "undocumented" if is_broken or self.is_undocumented else ""

    @property
    def tells_failure(self) -> bool:
        """Whether a gateway reports a failure, and its reader does not conclude it from the end.

        If the finish came too early, as in the stream of the upstream, the client got an end.
        """
        failure, exchange = self.emitted_failure, self.replay.exchange
        if failure is None or exchange is None:
            return False
        silent = failure.code in SILENT_FAILURES
        return not silent or bool(oracle_reading(exchange.answer).finishes)

    @property
    def _is_upstream_broken(self) -> bool:
        if self.expectation.rejected and not self.expectation.calls:
            return True
        came = contract_deviations(self.interaction, asked_for_stream=None)
        return any(each.level == "MUST" for each in came)

    @property
    def _reports_form(self) -> bool:
        """Whether the client itself reported that something is wrong with the stream.

        What folding derives, such as `calls_missing` or a call without an end, is not a report.
        """
        is_told = self.tells_failure if self.normalizer.front else self.replay.reports_failure
        if is_told or (self.kind == "sdk" and self.replay.error):
            return True
        return self.replay.rejects and bool(self.pairing.unexpected)

    @property
    def is_undocumented(self) -> bool:
        """Whether the stream violates the documented format of its API."""
        return not undocumented_quirks().isdisjoint(self.oracle.quirks)

    @property
    def prefix(self) -> str:
        """The text with which the path of each finding starts."""
        return f"turns[{self.index}]."

    @property
    def kind(self) -> ClientKind:
        """The kind of client that the normalizer declares to be."""
        return self.normalizer.kind

    @property
    def turn(self) -> Turn:
        """The turn that the normalizer returned in this replay."""
        return self.replay.turn

    @property
    def emitted_failure(self) -> StreamFailure | None:
        """The failure that the normalizer itself emitted; None if it emitted none."""
        return self.turn.failure if self.replay.reports_failure else None

    @property
    def invents_failure(self) -> bool:
        """Whether the normalizer wrongly reports a failure; then no call or text counts as lost."""
        is_wrong = self.emitted_failure is not None and self.expectation.failure is None
        return is_wrong and "failure" in self.judged

    @cached_property
    def offered_tools(self) -> tuple[Tool, ...]:
        """The tools that the request offers."""
        return tuple(read_request(self.interaction.dialect, self.interaction.request).tools)

    @cached_property
    def pairing(self) -> CallPairing:
        """Which calls of the turn correspond to which expected calls."""
        return pair_calls(self.expectation, self.replay.turn)

    @cached_property
    def _unreported(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names and the ids of calls that the client had to reject but did not report.

        If the expected rejections are ambiguous and no call is usable, these are all calls of the
        stream.
        """
        if "rejected" not in self.judged and not self.expectation.calls:
            readings = (self.oracle, *self.oracle.alternatives)
            sent = (call.name for reading in readings for call in reading.calls or ())
            return frozenset(filter(None, sent)), frozenset()
        rejected = [self.expectation.rejected[index] for index in self.pairing.unreported]
        ids = frozenset(each.id for each in rejected if each.id)
        return frozenset(each.name or "" for each in rejected), ids

    def is_unreported(self, call: ToolCall) -> bool:
        """Return whether `call` may be one that the client had to reject, by its name or id."""
        names, ids = self._unreported
        return call.name in names or "" in names or call.id in ids

    def expected_call(self, index: int) -> ExpectedCall | None:
        """Return the expected call for the emitted call at `index`; None if there is none."""
        paired = {actual: expected for expected, actual in self.pairing.pairs}
        return self.expectation.calls[paired[index]] if index in paired else None

    def paired_calls(self) -> Iterator[tuple[int, ExpectedCall, ToolCall]]:
        """Yield each expected call that was emitted: its index, as expected, as emitted."""
        for index, actual in self.pairing.pairs:
            yield index, self.expectation.calls[index], self.turn.tool_calls[actual]


turn_rule = RuleMaker[TurnEvidence]()


def pair_calls(expectation: Expectation, turn: Turn) -> CallPairing:
    """Pair the calls and parse errors of `turn` with the expected ones."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for expected, actual in _iter_match_keys(expectation, turn.tool_calls):
        indexes: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for index, keys in enumerate(actual):
            for key in keys:
                indexes[key].append(index)
        for index, keys in enumerate(expected):
            match = None if index in found else _first_free(keys, indexes, taken)
            if match is not None:
                found[index] = match
                taken.add(match)
    unreported, unexpected = _pair_rejections(expectation, turn)
    return CallPairing(
        pairs=tuple(sorted(found.items())),
        missing=tuple(i for i in range(len(expectation.calls)) if i not in found),
        surplus=tuple(i for i in range(len(turn.tool_calls)) if i not in taken),
        unreported=unreported,
        unexpected=unexpected,
    )


def _first_free(
    keys: tuple[Hashable, ...], indexes: dict[Hashable, deque[int]], taken: set[int]
) -> int | None:
    """Return the first index under `keys` that is not in `taken`; None if there is none."""
    for key in keys:
        queue = indexes.get(key, deque())
        while queue and queue[0] in taken:
            queue.popleft()
        if queue:
            return queue[0]
    return None


def _iter_match_keys(
    expectation: Expectation, actual: tuple[ToolCall, ...]
) -> Iterable[tuple[_Keys, _Keys]]:
    """Yield the keys by which expected and actual calls are paired, the strictest first.

    Calls with an equal key match. Arguments are parsed once, so that n calls cost n parses. A call
    with the id of a rejected call is that call, even if its arguments equal another call's.
    """
    numbers: dict[Hashable, int] = {}
    expected = expectation.calls
    rejected = {each.id for each in expectation.rejected if each.id}
    want = [(i.id or None, i.name, _number(i.kind, i.json_text, numbers)) for i in expected]
    came = [(a.id, a.name, _number(a.kind, a.arguments, numbers)) for a in actual]
    # An expected call without an id matches any id, so actual calls get a key without theirs.
    yield [(key,) for key in want], [(key, (None, *key[1:])) for key in came]
    yield [(key[1:],) for key in want], [(key[1:],) for key in came]
    yield [(i,) if i else () for i, _, _ in want], [(i,) if i else () for i, _, _ in came]
    yield [(name,) for _, name, _ in want], [(name,) if name else () for _, name, _ in came]
    values: _Keys = [() if call_id in rejected else (value,) for call_id, _, value in came]
    yield [(value,) for *_, value in want], values
    yield [("",) for _ in want], [() if name else ("",) for _, name, _ in came]


def _number(kind: CallKind, text: str, numbers: dict[Hashable, int]) -> int:
    value = (kind, text) if kind == "custom" else meaning(text)
    return numbers.setdefault(value, len(numbers))


def _pair_rejections(
    expectation: Expectation, turn: Turn
) -> tuple[tuple[int, ...], tuple[ParseError, ...]]:
    """Return the indexes of unreported rejections, and the parse errors that were not expected."""
    errors = turn.parse_errors
    indexes: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index, error in enumerate(errors):
        for key in _keys_of_rejection(error.name, error.id, error.snippet, is_nameless=True):
            indexes[key].append(index)
    taken: set[int] = set()
    unreported: list[int] = []
    # Rejections with a name first, because one without a name matches any error.
    for index, it in sorted(enumerate(expectation.rejected), key=lambda each: not each[1].name):
        name = it.name or ""
        keys = _keys_of_rejection(name, it.id or "", it.snippet, is_nameless=not name)
        match = _first_free(keys, indexes, taken)
        if match is None:
            unreported.append(index)
        else:
            taken.add(match)
    left = (error for index, error in enumerate(errors) if index not in taken)
    return tuple(sorted(unreported)), tuple(left)


def _keys_of_rejection(
    name: str, call_id: str, snippet: str, *, is_nameless: bool
) -> tuple[Hashable, ...]:
    """Return the keys by which a rejection and a parse error match, the strictest first.

    Args:
        name: the name of the call.
        call_id: the id of the call; "" if it has none.
        snippet: a part of the raw text of the call.
        is_nameless: whether they also match without the name, or without the id and the text.
    """
    text = snippet.strip()
    keys: list[Hashable] = [("text", name, text), ("name", name)]
    if call_id:
        keys = [("all", name, call_id, text), ("id", name, call_id), *keys, ("any", call_id, text)]
    if is_nameless:
        keys += [("of id", call_id)] if call_id else []
        keys += [("of text", text), "one"]
    return tuple(keys)
