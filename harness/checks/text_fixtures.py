"""Scenarios with calls in the text as plain JSON, for tests of readers in any language.

A reader of text calls takes what the client of an API gives it: pieces of text and of reasoning,
and how the response ended. A fixture has exactly that, read from the bytes of the cassette, and
the turn that must come of it, as the scenario states it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from harness.dialects.table import offered_tools, read_request
from harness.judging.scenario_file import TurnFile, load_turns
from harness.normalizers.respond import respond
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.turns.deltas import Delta
from harness.turns.turn import Tool
from harness.wire.cuts import split
from harness.wire.interaction import Interaction

SCHEMA: Final = 1


class FixtureTurn(msgspec.Struct, frozen=True):
    """One response.

    Fields:
        system: the system text of the request; it may describe a text dialect.
        tools: those that the model may call; none if the request bars calls.
        deltas: what the response contains, in order, before any text is read as a call.
        expect: the turn, as in a scenario file. Text and reasoning are compared with all runs
            of white space as one space, and without any at both ends.
    """

    system: str
    tools: tuple[Tool, ...]
    deltas: tuple[Delta, ...]
    expect: TurnFile


class TextFixture(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario.

    Fields:
        schema: version of this format.
        scenario: its id.
        text_dialect: the text dialect of the calls.
        policies: choices that the expectation rests on; for any other, the default counts.
        white_space: how text and reasoning are compared.
        capabilities: what a reader must support in addition.
        quirks: ids of the catalogue that the responses show.
    """

    schema: int = SCHEMA
    scenario: str
    title: str
    text_dialect: str
    policies: dict[str, str]
    white_space: Literal["exact", "loose"]
    capabilities: tuple[str, ...]
    quirks: tuple[str, ...]
    references: tuple[str, ...]
    turns: tuple[FixtureTurn, ...]


def text_fixtures(subjects: Iterable[Subject]) -> Iterator[TextFixture]:
    """Yield a fixture for each scenario whose model writes calls in its text.

    Raises:
        UnreadableError: a scenario or its cassette cannot be used.
    """
    for subject in subjects:
        loaded = load_subject(subject)
        scenario = loaded.scenario
        if scenario is None or not scenario.text_dialect:
            continue
        expected = load_turns(Path(subject.path))
        yield TextFixture(
            scenario=scenario.id,
            title=scenario.title,
            text_dialect=scenario.text_dialect,
            policies=scenario.policies,
            white_space="loose" if any(it.loose_space for it in scenario.expect) else "exact",
            capabilities=scenario.capabilities,
            quirks=scenario.quirks,
            references=scenario.references,
            turns=tuple(
                _turn(interaction, scenario.tools, turn)
                for interaction, turn in zip(loaded.cassette.interactions, expected, strict=True)
            ),
        )


def _turn(
    interaction: Interaction, tools: tuple[Tool, ...] | None, expected: TurnFile
) -> FixtureTurn:
    asked = read_request(interaction.dialect, interaction.request)
    offered = offered_tools(interaction) if tools is None else tools
    reads = split(interaction.body, interaction.recorded_cuts())
    deltas = tuple(respond(interaction, reads))
    return FixtureTurn(asked.system, () if asked.calls_barred else offered, deltas, expected)


def format_fixture(fixture: TextFixture) -> str:
    """Return `fixture` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(fixture), indent=1).decode() + "\n"
