"""Each scenario of one form of split or repeated calls finds a fault that the others do not find.

Scenarios of several forms, which find faults of several of these, are left out.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.dialects.openai_chat import read
from harness.judging.judge import judge_subject
from harness.normalizers import seed_systems
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import shipped_subjects

_AREAS = ("calls/", "dashscope/")
_COPY = "if self._calls.has_arguments(entry, position):"
_POSITION = "entry.index = index"
_PLACED = "if call is None and entry.index is None and position < len(self._calls):"
_NAMED = "call.name or as_text(function.name)"
_IDENTIFIED = "if call_id and not call.id:"
_COPIES = 'entries_of((answer.additional_kwargs or {}).get("tool_calls", []))'

# Scenario -> what is replaced in the source of the reader, or of the seed systems.
MUTANTS: dict[str, tuple[tuple[ModuleType, str, str], ...]] = {
    "dashscope/copied-in-later-delta": (
        (read, _COPY, _COPY.replace(":", " and not entry.id:")),
        (read, "kwargs = None if self._copied else answer.additional_kwargs", "kwargs = None"),
    ),
    "dashscope/copied-in-message": (
        (read, "replace(answer, tool_calls=None,", f"replace(answer, tool_calls={_COPIES},"),
    ),
    "dashscope/copied-without-name": (
        (seed_systems, " or self._newest.get(index)", ""),
        (seed_systems, _PLACED, "if False:"),
    ),
    "dashscope/copied-beside": (
        (read, "in answer.tool_calls:", f"in [*answer.tool_calls, *{_COPIES}]:"),
    ),
    "dashscope/parallel-under-additional-kwargs": (
        (seed_systems, _PLACED, _PLACED.replace(" and entry.index is None", "")),
    ),
    "dashscope/two-under-additional-kwargs": (
        (
            read,
            _POSITION,
            f"{_POSITION}\n        if position and entry.function.name and not entry.id: return",
        ),
    ),
    "dashscope/arguments-under-additional-kwargs": (
        (
            read,
            "index = position if",
            "wired = entry.index is not None\n        index = position if",
        ),
        (
            read,
            _POSITION,
            f"{_POSITION}\n        if not (entry.id or entry.function.name or wired): return",
        ),
    ),
    "calls/arguments-before-name": (
        (seed_systems, _NAMED, f"call.name if call.fragments else {_NAMED}"),
    ),
    "calls/name-late": (
        (seed_systems, _IDENTIFIED, f"repeated = call.id and entry.id\n        {_IDENTIFIED}"),
        (seed_systems, _NAMED, f"call.name if repeated else {_NAMED}"),
    ),
    "calls/id-late": (
        (seed_systems, _IDENTIFIED, _IDENTIFIED.replace("if ", "if not call.fragments and ", 1)),
    ),
}


def _mutated(module: ModuleType, changes: Iterable[tuple[ModuleType, str, str]]) -> Any:  # noqa: ANN401 - a module
    """Return a copy of `module` with each change of its source."""
    assert module.__file__ is not None
    source = Path(module.__file__).read_text(encoding="utf-8")
    for changed, old, new in changes:
        if changed is module:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
    mutant = ModuleType(f"mutant_of_{module.__name__}")
    exec(compile(source, module.__file__, "exec"), mutant.__dict__)  # noqa: S102 - source of this project
    return mutant


@pytest.mark.parametrize("scenario", MUTANTS)
def test_a_mutant_fails_in_one_scenario(scenario: str) -> None:
    reader, calls = (_mutated(each, MUTANTS[scenario]) for each in (read, seed_systems))

    def normalize(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        yield from reader.read(iter_frames(reads), calls=calls.RestoredCalls())

    mutant = Normalizer(
        "mutant",
        normalize,
        capabilities=seed_systems.dashscope_restore.capabilities,
        policies=seed_systems.dashscope_restore.policies,
    )
    subjects = [each for each in shipped_subjects() if each.id in MUTANTS]
    failed = [each.id for each in subjects if judge_subject(each, mutant, cuts="whole")[0].findings]
    assert failed == [scenario]


def test_the_unchanged_code_fails_in_none() -> None:
    subjects = [each for each in shipped_subjects() if each.id.startswith(_AREAS)]
    system = seed_systems.dashscope_restore
    assert [
        each.id for each in subjects if judge_subject(each, system, cuts="whole")[0].findings
    ] == []
