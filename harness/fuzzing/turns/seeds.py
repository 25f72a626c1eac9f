"""Make seeds from subjects: single interactions with their expected results, the smallest first.

The scenario, if there is one, specifies the expected result. Clean seeds contain no quirk.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.fuzzing.found import Parent
from harness.fuzzing.mutators.mutator import Realism
from harness.judging.expected import expectation_from
from harness.judging.judge import LoadedSubject, is_supported_by_normalizer
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation
from harness.results.scenario_evidence import is_own
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.runs.redaction import loaded_without_secrets
from harness.wire.interaction import Interaction

# The specification of server-sent events discards the last event if no blank line ends it. A
# scenario may expect its content nevertheless; the oracle allows both.
_UNFINISHED: Final = "SSE-NO-FINAL-BLANK"
_NOT_STREAMED: Final = "JSON-FOR-STREAM"


class Seed(msgspec.Struct, frozen=True):
    """One interaction from which the fuzzer starts.

    Fields:
        expectation: the expected result of the unchanged interaction.
    """

    parent: Parent
    interaction: Interaction
    expectation: Expectation

    @property
    def dialect_key(self) -> str:
        """The dialect, with `/` and the text dialect if the seed has text calls."""
        return "/".join(filter(None, (self.interaction.dialect, self.parent.text_dialect)))


def seeds(
    subjects: Iterable[Subject],
    normalizer: Normalizer,
    *,
    clean: bool = False,
    sent: bool = False,
) -> tuple[Seed, ...]:
    """Return the seeds of `subjects` that `normalizer` supports, the smallest first.

    Args:
        subjects: scenarios and cassettes. Conversations and logs are left out.
        normalizer: the normalizer to search.
        clean: whether to leave out seeds with a quirk.
        sent: whether to leave out seeds that no server is known to send.

    Raises:
        UnreadableError: a file cannot be used.
        UnscrubbedError: a recording has a secret that cannot be replaced, so it must not be saved.
    """
    loaded = (loaded_without_secrets(load_subject(each)) for each in subjects if each.of_turns)
    found = [
        seed
        for each in loaded
        if is_supported_by_normalizer(each, normalizer) and not (clean and _quirks(each))
        for index, seed in enumerate(_seeds(each))
        if not (sent and each.is_own_turn(index))
    ]
    return tuple(sorted(found, key=lambda seed: (len(seed.interaction.body), seed.parent.id)))


def _quirks(loaded: LoadedSubject) -> tuple[str, ...]:
    """Return the quirks of the scenario; without a scenario, those that the oracle reports."""
    if loaded.scenario is not None:
        return loaded.scenario.quirks
    return tuple(sorted({it for each in loaded.oracle_readings for it in each.quirks}))


def _realism(loaded: LoadedSubject, index: int) -> Realism:
    evidence = loaded.expectations[index].evidence or loaded.evidence
    if evidence is None:
        return "possible"
    return "never seen" if is_own(evidence) else "seen"


def _seeds(loaded: LoadedSubject) -> Iterator[Seed]:
    scenario, cassette = loaded.scenario, loaded.cassette
    for index, interaction in enumerate(cassette.interactions):
        parent = Parent(
            id=loaded.id if len(cassette.interactions) == 1 else f"{loaded.id}#{index}",
            cassette=cassette.id,
            text_dialect=scenario.text_dialect if scenario else "",
            capabilities=scenario.capabilities if scenario else (),
            policies=scenario.policies if scenario else {},
            provider=cassette.provider,
            model=cassette.model,
            licence=cassette.origin.licence,
            quirks=_quirks(loaded),
            realism=_realism(loaded, index),
        )
        known = scenario.expect[index] if scenario else None
        if _UNFINISHED in parent.quirks:
            known = None
        yield Seed(parent, interaction, known or expectation_from(loaded.oracle_readings[index]))


def varied_seeds(found: Iterable[Seed]) -> tuple[Seed, ...]:
    """Return the smallest seeds that together have all features of each dialect.

    A single document instead of a stream is left out, because the expected behaviour after
    a mutation is known only for streams.
    """
    known: dict[str, set[str]] = {}
    kept = []
    for seed in found:
        shown = known.setdefault(seed.dialect_key, set())
        new = set(_features(seed)) - shown
        if new and _NOT_STREAMED not in oracle_reading(seed.interaction).quirks:
            shown |= new
            kept.append(seed)
    return tuple(kept)


def _features(seed: Seed) -> Iterator[str]:
    expected, body = seed.expectation, seed.interaction.body
    marks = {
        "text": expected.text,
        "reasoning": expected.reasoning,
        "calls": expected.calls,
        "several": len(expected.calls) > 1,
        "rejected": expected.rejected,
        "failure": expected.failure,
        "usage": expected.usage,
        "characters": not body.isascii(),
    }
    yield from (mark for mark, there in marks.items() if there)
    yield f"finish {expected.finish}"


def by_round(found: Iterable[Seed]) -> tuple[tuple[Seed, ...], ...]:
    """Return the seeds of `varied_seeds` in rounds with one seed for each dialect.

    Seeds with most features come first, and seeds without text calls before those with them.
    """
    by_key: dict[str, list[Seed]] = {}
    for seed in varied_seeds(found):
        by_key.setdefault(seed.dialect_key, []).append(seed)
    for kept in by_key.values():
        kept.sort(key=lambda seed: -len(tuple(_features(seed))))
    ordered = sorted(by_key, key=lambda key: ("/" in key, key))
    rounds = zip_longest(*(by_key[key] for key in ordered))
    return tuple(tuple(filter(None, each)) for each in rounds)
