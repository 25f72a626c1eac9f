"""Check servers: report how the streams of cassettes violate the contract of their API.

The oracle finds the deviations. No client is involved. Each finding has the bytes, a level, what
the server must send instead, and sources.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Final

import msgspec

from harness.checks.lint_scope import LintScope
from harness.dialects.table import DIALECTS
from harness.errors import StreamError
from harness.judging.contract.judge import members_unjudged
from harness.judging.deviations import contract_deviations, no_stream_reason
from harness.recording.identify import identify
from harness.recording.importing import asked_for_stream, reasons_to_skip
from harness.results.catalogue import Quirk, Severity
from harness.results.finding import LEVELS, Level
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

SCHEMA: Final = 1
_MOST_BYTES: Final = 300


class LintFinding(msgspec.Struct, frozen=True):
    r"""One way in which one stream deviates from the contract of its API.

    Fields:
        place: the path or id of the cassette, as given to `lint_cassette`.
        interaction: the index of the interaction in the cassette, from 0.
        quirk: the id of the quirk that describes the deviation; in lower case or with dots, the id
            of a duty that the catalogue does not list, such as `chunk.choices[].finish_reason`.
        level: the level of the server's duty; MAY if the API documents the deviation.
        severity: what happens in a client that does not expect it.
        send: what the server must send instead.
        ambiguous: whether it is unclear what the calls are or how the turn ended.
        offset: offset in the body of the event that deviates.
        bytes: the first 300 bytes of the event as text; bytes that are not UTF-8 as `\xFF`.
        sources: URLs of the reference of the API, and of reports.
        clients: the clients that are known to fail, each with its version and what happens.
    """

    place: str
    interaction: int
    dialect: str
    quirk: str
    level: Level
    title: str
    severity: Severity
    send: str
    ambiguous: bool
    offset: int
    bytes: str
    sources: tuple[str, ...]
    clients: tuple[str, ...] = ()


class LintSkipped(msgspec.Struct, frozen=True):
    """An interaction that the oracle did not judge, and why."""

    place: str
    interaction: int
    why: str


class LintReport(msgspec.Struct, frozen=True):
    """The deviations in all streams of some cassettes.

    Fields:
        schema: the version of the JSON format of the report.
        streams: the number of judged streams.
        findings: those with a level MUST first, then by cassette, interaction and offset.
        skipped: the interactions that were not judged.
        checked: what the streams were judged by, one phrase each.
        unchecked: what could not be judged, and why.
        hidden: the number of deviations below the reported level.
    """

    schema: int
    streams: int
    findings: tuple[LintFinding, ...]
    skipped: tuple[LintSkipped, ...]
    checked: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    hidden: int = 0

    def with_level(self, level: Level) -> tuple[LintFinding, ...]:
        """Return the findings that have `level`."""
        return tuple(each for each in self.findings if each.level == level)

    def breaking(self, clients: Collection[str]) -> "LintReport":
        """Return the report with only what is known to break one of `clients`, and for whom."""
        findings = []
        for each in self.findings:
            broken = tuple(it for it in each.clients if it.partition(" ")[0] in clients)
            if broken:
                findings.append(msgspec.structs.replace(each, clients=broken))
        limits = f"what breaks {', '.join(clients)}, other than absent members"
        unchecked = (*self.unchecked, limits)
        return msgspec.structs.replace(self, findings=tuple(findings), unchecked=unchecked)


def lint_cassettes(
    cassettes: Iterable[tuple[str, Cassette]], catalogue: dict[str, Quirk], least: Level = "MAY"
) -> LintReport:
    """Return the deviations in the streams of cassettes from the contracts of their APIs.

    Args:
        cassettes: the cassettes, each after the path or id that findings show.
        catalogue: quirks by id.
        least: the lowest level to report; MAY for all deviations.
    """
    scope = LintScope()
    parts = [lint_cassette(place, cassette, catalogue, scope) for place, cassette in cassettes]
    levels = LEVELS[: LEVELS.index(least) + 1]
    every = tuple(chain.from_iterable(part.findings for part in parts))
    findings = tuple(each for each in every if each.level in levels)
    return LintReport(
        SCHEMA,
        sum(part.streams for part in parts),
        tuple(sorted(findings, key=lambda it: LEVELS.index(it.level))),
        tuple(chain.from_iterable(part.skipped for part in parts)),
        tuple(scope.checked()),
        tuple(scope.unchecked()),
        len(every) - len(findings),
    )


def lint_cassette(
    place: str,
    cassette: Cassette,
    catalogue: dict[str, Quirk],
    scope: LintScope | None = None,
) -> LintReport:
    """Return the deviations in the streams of one cassette, in the order of the bytes.

    Args:
        place: the path or id of the cassette that findings show.
        cassette: the cassette.
        catalogue: quirks by id.
        scope: notes what is judged, if given.
    """
    named = identify(cassette)
    findings: list[LintFinding] = []
    skipped: list[LintSkipped] = []
    pairs = zip(named.interactions, reasons_to_skip(cassette), strict=True)
    for number, (interaction, reason) in enumerate(pairs):
        why = reason or _unjudged_reason(interaction)
        if why:
            skipped.append(LintSkipped(place, number, why))
        else:
            if scope is not None:
                scope.add(interaction, _members_unjudged(interaction))
            findings.extend(_findings(place, number, interaction, catalogue))
    streams = len(named.interactions) - len(skipped)
    return LintReport(SCHEMA, streams, tuple(findings), tuple(skipped))


def _unjudged_reason(interaction: Interaction) -> str:
    if interaction.dialect not in DIALECTS:
        return "no dialect recognized: name it with --dialect"
    if interaction.ended == "aborted":
        return "the client closed the connection before the end"
    return ""


def _findings(
    place: str, number: int, interaction: Interaction, catalogue: dict[str, Quirk]
) -> Iterator[LintFinding]:
    dialect = DIALECTS[interaction.dialect]
    starts = _event_offsets(interaction.body)
    for each in contract_deviations(interaction, asked_for_stream(interaction)):
        quirk = None if each.title else catalogue[each.duty]
        yield LintFinding(
            place=place,
            interaction=number,
            dialect=dialect.name,
            quirk=each.duty,
            level=each.level,
            title=quirk.title if quirk else each.title,
            severity=quirk.severity if quirk else each.severity,
            send=each.send,
            ambiguous=each.ambiguous,
            offset=each.offset,
            bytes=_event_text(interaction.body, each.offset, starts),
            sources=(dialect.reference, *(quirk.references if quirk else each.sources)),
            clients=each.clients,
        )


def _members_unjudged(interaction: Interaction) -> str:
    no_stream = no_stream_reason(interaction, asked_for_stream(interaction))
    return no_stream or members_unjudged(interaction)


def _event_offsets(body: bytes) -> list[int]:
    """Return the offset of each event in `body`, up to the first event that is too large."""
    offsets: list[int] = []
    with suppress(StreamError):
        offsets.extend(frame.offset for frame in iter_frames([body]))
    return offsets


def _event_text(body: bytes, offset: int, starts: list[int]) -> str:
    """Return the bytes from `offset` to the next event as text; `starts` has all offsets."""
    after = bisect_right(starts, offset)
    end = starts[after] if after < len(starts) else len(body)
    event = body[offset : min(end, offset + _MOST_BYTES)].rstrip(b"\r\n")
    return event.decode("utf-8", "backslashreplace")
