"""Apply to an expected turn what the API of a gateway's front cannot say.

The turn of a gateway is compared with the expected turn of the stream that it got. The entries of
`translation.toml` that hold for the two APIs and the stream leave fields unjudged.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.contract.shape import Grammar, iter_events
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation, Field
from harness.results.translation import Feature, Unsaid, load_translation
from harness.turns.deltas import CUT_SHORT
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction

_FIRST_ERROR_STATUS: Final = 400
_ANY: Final = "*"
_SERVER_TOOLS: Final = frozenset(("ANT-SERVER-TOOLS", "BED-SERVER-TOOL", "GEM-SERVER-TOOLS"))


class _Stream(msgspec.Struct, frozen=True):
    """What decides whether a stream has a feature."""

    interaction: Interaction
    reading: OracleReading
    expected: Expectation

    @property
    def cut_short(self) -> bool:
        """Whether the model was stopped before its answer was complete."""
        return self.expected.finish in CUT_SHORT or self.reading.meaning in CUT_SHORT

    @property
    def messages(self) -> int:
        """The number of messages that a stream of Anthropic's API begins."""
        events = iter_events(self.interaction, Grammar())
        is_one = self.interaction.dialect == "anthropic"
        return sum(is_one and each.kind == "message_start" for each in events)

    @property
    def has_private_usage(self) -> bool:
        """Whether a chat stream has its numbers of tokens where only single providers have them."""
        events = iter_events(self.interaction, Grammar())
        usages = (each.value.get("usage") for each in events)
        return self.interaction.dialect == "openai-chat" and not any(map(bool, usages))


_FEATURES: Final[Mapping[Feature, Callable[[_Stream], bool]]] = {
    "anything": lambda _: True,
    "call-at-limit": lambda it: it.cut_short and bool(it.expected.calls or it.expected.rejected),
    "error-status": lambda it: it.interaction.status >= _FIRST_ERROR_STATUS,
    "failure": lambda it: it.expected.failure is not None,
    "no-usage": lambda it: not it.reading.usages,
    "private-usage": lambda it: bool(it.reading.usages) and it.has_private_usage,
    "refusal": lambda it: it.expected.failure == "refusal" or bool(it.reading.refusal),
    "second-message": lambda it: it.messages > 1,
    "server-tools": lambda it: not it.reading.quirks.isdisjoint(_SERVER_TOOLS),
    "unusable-arguments": lambda it: bool(it.expected.rejected),
}


def unsaid_entries(
    interaction: Interaction, expected: Expectation, normalizer: Normalizer
) -> Iterator[tuple[str, Unsaid]]:
    """Yield the entries that hold for a stream and a gateway; none for other normalizers."""
    if not normalizer.front:
        return
    stream = _Stream(interaction, oracle_reading(interaction), expected)
    for name, entry in load_translation().items():
        if entry.holds(interaction.dialect, normalizer.front, normalizer.policies) and any(
            _FEATURES[entry.feature](msgspec.structs.replace(stream, expected=each))
            for each in expected.readings
        ):
            yield name, entry


def translate_expectation(
    expected: Expectation, interaction: Interaction, normalizer: Normalizer
) -> Expectation:
    """Return the expected turn as the API of the gateway's front can say it."""
    hidden: dict[Field, str] = {}
    any_failure = may_fail = False
    for name, entry in unsaid_entries(interaction, expected, normalizer):
        hidden |= {field: f"unsaid: {name}" for field in entry.hides if field != "ids"}
        any_failure = any_failure or entry.any_failure
        may_fail = may_fail or entry.may_fail
    if not hidden and not any_failure and not may_fail:
        return expected

    def changed(each: Expectation) -> Expectation:
        return msgspec.structs.replace(
            each,
            judged=each.judged - hidden.keys(),
            failure=_ANY if any_failure and each.failure is not None else each.failure,
            failure_says="" if any_failure else each.failure_says,
            may_fail=may_fail or each.may_fail,
            unsaid=hidden,
            alternatives=(),
        )

    first, *others = map(changed, expected.readings)
    return msgspec.structs.replace(first, alternatives=tuple(others))


def hides_ids(normalizer: Normalizer, dialect: str) -> bool:
    """Return whether the ids of calls are not compared, by the policies of a gateway."""
    return any(
        "ids" in entry.hides and entry.holds(dialect, normalizer.front, normalizer.policies)
        for entry in load_translation().values()
    )
