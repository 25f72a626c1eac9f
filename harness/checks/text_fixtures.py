"""Export scenarios with text calls as plain JSON, for tests of parsers in any language.

A parser of text calls gets its input from the client of an API: parts of text and of reasoning,
and how the response ended. A fixture has this input, read from the bytes of the cassette, and
the expected turn of the scenario.
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
    """The input and the expected turn of one response.

    Fields:
        system: the system text of the request, which may describe a text dialect.
        tools: the tools that the model may call; () if the request does not allow calls.
        deltas: what the response contains, in order, before text is parsed for calls.
        expect: the expected turn, as in a scenario file. Compare text and reasoning with each run
            of white space as one space, and without white space at both ends.
    """

    system: str
    tools: tuple[Tool, ...]
    deltas: tuple[Delta, ...]
    expect: TurnFile


class TextFixture(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario with text calls, as the exported JSON has it.

    Fields:
        schema: version of the JSON format.
        scenario: the id of the scenario.
        text_dialect: the text dialect of the calls.
        policies: policies on which the expected turns depend. Use the default of all others.
        white_space: whether to compare text and reasoning exactly, or with unified white space.
        capabilities: what a parser must support in addition, such as custom tools.
        quirks: ids of the quirks that the responses show.
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
    """Yield a fixture for each scenario among `subjects` whose model writes calls in its text.

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
