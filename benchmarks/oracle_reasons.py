"""Why the oracle does not judge a field of a turn.

An oracle's reading contains its deviations, but not which field each of them made ambiguous. So
the notes are watched while the body is read again, and markup is searched in each part alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from unittest import mock

import msgspec

from harness.dialects.kit.oracle.markup import abstain_on_markup
from harness.dialects.kit.oracle.reading import Notes, OracleReading
from harness.dialects.table import DIALECTS, read_request
from harness.judging.expectation import Expectation, Field
from harness.judging.expected import usable_arguments
from harness.wire.interaction import Interaction

FIELDS: Final[tuple[Field, ...]] = ("calls", "text", "reasoning", "finish")


def reasons_not_judged(
    interaction: Interaction, oracle: OracleReading, expected: Expectation
) -> dict[Field, tuple[str, ...]]:
    """Return the reasons for each of `FIELDS` that is not judged.

    The end of a turn that must fail counts as its finish. A reason is the quirk of a deviation,
    after `end: ` if it makes only the end ambiguous, or a phrase.
    """
    with _watched_notes() as opened:
        alone = DIALECTS[interaction.dialect].oracle().read(interaction)
    markup = tuple(_markup_reasons(alone, tool_names(interaction))) if oracle.text_markup else ()
    ends = (f"end: {quirk}" for quirk in opened["end"] if quirk not in opened["calls"])
    calls = (*opened["calls"], *ends, *markup)
    if oracle.calls is not None and not all(
        usable_arguments(call, oracle).certain for call in oracle.calls
    ):
        calls = (*calls, "arguments that may be complete or not")
    text = (*opened["text"], *markup)
    if not text and not oracle.text_known:
        text = ("marks of reasoning in the text",)
    word = f"finish value {oracle.finish!r} of another API" if oracle.finish else "no finish value"
    reasons: Mapping[Field, tuple[str, ...]] = {
        "calls": calls,
        "text": text,
        "reasoning": text,
        "finish": calls or (word,),
    }
    judged = set(expected.judged)
    if expected.failure is not None and "failure" in judged:
        judged.add("finish")
    return {field: reasons[field] for field in FIELDS if field not in judged}


def tool_names(interaction: Interaction) -> frozenset[str]:
    """Return the names of the tools that the model may call, as far as they are known."""
    request = read_request(interaction.dialect, interaction.request)
    described = (str(tool.get("name") or "") for tool in interaction.tools)
    return frozenset(tool.name for tool in request.tools).union(described) - {""}


@contextmanager
def _watched_notes() -> Iterator[dict[str, list[str]]]:
    """Collect which deviations make `text`, `calls` and `end` ambiguous, in order."""
    opened: dict[str, list[str]] = {"text": [], "calls": [], "end": []}
    open_note, beyond = Notes.open, Notes.beyond

    def add(quirk: str, fields: Iterable[str]) -> None:
        for field in fields:
            if quirk not in opened[field]:
                opened[field].append(quirk)

    def watched_open(self: Notes, quirk: str, offset: int, **fields: bool) -> None:
        add(quirk, (field for field, ambiguous in fields.items() if ambiguous))
        open_note(self, quirk, offset, **fields)

    def watched_beyond(self: Notes, quirk: str, offset: int) -> None:
        add(quirk, ("calls",))
        beyond(self, quirk, offset)

    with (
        mock.patch.object(Notes, "open", watched_open),
        mock.patch.object(Notes, "beyond", watched_beyond),
    ):
        yield opened


def _markup_reasons(reading: OracleReading, names: frozenset[str]) -> Iterator[str]:
    """Yield which parts contain markup, and whether it is only the name of a tool."""
    bare = msgspec.structs.replace(reading, text="", reasoning="", calls=())
    channels = {
        "the text": msgspec.structs.replace(bare, text=reading.text),
        "the reasoning": msgspec.structs.replace(bare, reasoning=reading.reasoning),
        "a call": msgspec.structs.replace(bare, calls=reading.calls),
    }
    for channel, part in channels.items():
        if abstain_on_markup(part, frozenset()).text_markup:
            yield f"markup in {channel}"
        elif abstain_on_markup(part, names).text_markup:
            yield f"a tool's name in {channel}"
