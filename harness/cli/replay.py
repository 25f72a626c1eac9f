"""`harness replay CELL`: replay one cell, and show its bytes, frames and deltas."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import click
import msgspec

from harness import shipped
from harness.cli import EXIT_GATE_FAILED
from harness.cli.cassette_options import dialect_option
from harness.cli.options import echo_result, format_option
from harness.conversation import discovery as agents
from harness.errors import UsageError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.make_case import crossing_of
from harness.judging.replaying import replay
from harness.judging.timing.play import play, timeline_of
from harness.judging.unread import unread_members
from harness.normalizers import discovery as normalizers
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.playback.delivery import CUTS
from harness.reporting.explanation import ExplainedFinding, explain_findings
from harness.reporting.text.cell import (
    conversation_lines,
    crossing_lines,
    explained_lines,
    output_lines,
    timeline,
)
from harness.reporting.visible import marked, plain
from harness.results.catalogue import load_catalogue
from harness.results.conversation_case import ConversationCase
from harness.results.result import Result
from harness.results.run import AnyCase, Header, Selection
from harness.results.store import read_run
from harness.runs.declared import declared_normalizer, is_bundled, is_declared_agent
from harness.runs.isolated import IsolatedJudge
from harness.runs.judge_job import crash_result, is_job_supported, judge_job, own_turns
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, subject_id
from harness.runs.redaction import clean_output
from harness.runs.selection import select_subjects
from harness.verdicts.policy import project_paths
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction
from harness.wording import nearest_name
from harness.workers.batch import Exited
from harness.workers.pool import call_in_worker

LAST_RUN = Path("reports") / "run.jsonl"
_NAMED_CUTS = ("whole", "recorded", "each-byte", "seams")


@click.command("replay")
@click.argument("cell")
@click.option(
    "--cuts",
    metavar="CUTS",
    help=f"Split points: {', '.join(_NAMED_CUTS)}, or offsets such as 12,40. Default: the smallest "
    "failing chunking.",
)
@dialect_option("Parse the cassette as this dialect and skip detection.")
@format_option("pretty", "json")
@click.option(
    "--at", type=click.IntRange(min=0), help="Byte offset; print only the reads around it."
)
@click.option(
    "--interaction",
    type=click.IntRange(min=0),
    help="Index of the interaction. Default: the failing one.",
)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File or folder of the scenario or cassette. Repeatable. Default: the paths of the last "
    "run in reports/ and of the project, and the bundled files.",
)
def replay_command(  # noqa: PLR0913 - one parameter for each option
    cell: str,
    *,
    cuts: str | None,
    dialect: str | None,
    style: Literal["pretty", "json"],
    at: int | None,
    interaction: int | None,
    places: tuple[Path, ...],
) -> int:
    """Replay CELL, such as dashscope/split-chunks/reference, and print its reads and deltas.

    Each finding has the duty that it violates, with the source, and the conforming normalizers
    or agents that fulfil it. With --format json, the command prints the result and the findings.

    The command exits with code 1 if the cell fails.
    """
    subject, name = find_cell(cell, places, dialect)
    asked = _Asked(Job(subject, name, evidence="own"), cuts, at, interaction)
    here = is_bundled(name, is_agent=subject.conversation)
    replayed, written = (_replayed(asked), "") if here else call_in_worker(_replayed, asked)
    output = clean_output(written)
    if isinstance(replayed, Exited):
        result = crash_result(asked.job, replayed.reason)
        lines = [f"{marked(result.cell)}  {plain(result.title)}"]
    else:
        result, lines = replayed
    found = _explained(subject, result)
    # All lines, because an option that is wrong is an error in each style.
    lines += [*_verdict_lines(result, found), *output_lines(output)]
    echo_result(style, ReplayedCell(result, found, output), lines)
    return EXIT_GATE_FAILED if result.outcome.fails else 0


class _Asked(msgspec.Struct, frozen=True):
    """The cell to replay, and the options that decide which parts of it are shown."""

    job: Job
    cuts: str | None
    at: int | None
    interaction: int | None


def _replayed(asked: _Asked) -> tuple[Result, list[str]]:
    """Return the result of a cell, and the lines that show its replay or its conversation."""
    subject, name = asked.job.subject, asked.job.normalizer
    if subject.conversation or subject.kind == "log":
        result, case = judge_job(asked.job)
        return result, list(_conversation_lines(result, case))
    loaded, normalizer = load_subject(subject), normalizers.load_normalizer(name)
    result, _ = judge_subject(loaded, normalizer, own=own_turns(asked.job))
    if subject.timing:
        return result, list(_timing_lines(loaded, normalizer, result))
    return result, list(_replay_lines(loaded, normalizer, result, asked))


class ReplayedCell(msgspec.Struct, frozen=True):
    """The result, findings and client output of a cell, which the command prints as JSON."""

    result: Result
    findings: tuple[ExplainedFinding, ...]
    output: str


def _explained(subject: Subject, result: Result) -> tuple[ExplainedFinding, ...]:
    """Return the findings with explanations, which name conforming clients of the same kind."""
    if not result.findings:
        return ()
    name = result.normalizer
    kind = "agent" if subject.conversation else declared_normalizer(name).kind
    names = (
        agents.default_agent_names()
        if subject.conversation
        else normalizers.default_normalizer_names()
    )
    jobs = [Job(subject, each) for each in names if each != name]
    with closing(IsolatedJudge()) as apart:
        others = [apart.judge(job, "quick")[0] for job in jobs if is_job_supported(job)]
    quirks = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    return explain_findings(result, kind, others, quirks)


def _conversation_lines(result: Result, case: AnyCase | None) -> Iterator[str]:
    """Yield the lines that show the requests and executed calls of a conversation."""
    yield f"{marked(result.cell)}  {plain(result.title)}"
    yield f"cassette {marked(result.cassette)}" if result.kind != "log" else "log, not judged"
    yield from conversation_lines(result, case) if isinstance(case, ConversationCase) else ()


def find_cell(
    cell: str, paths: tuple[Path, ...], dialect: str | None = None
) -> tuple[Subject, str]:
    """Return the subject and the name of the client of `cell`.

    It searches for the subject in `paths`, or else in the last run, in the project and in the
    bundled data.

    Raises:
        UsageError: the subject does not exist.
    """
    selection = _last_header().selection if LAST_RUN.is_file() else Selection()
    known = (*map(Path, selection.paths), *project_paths())
    last = tuple(dict.fromkeys(path for path in known if path.exists()))
    dialect = dialect or ("" if paths else selection.dialect)
    prefixes: list[str] = []
    for searched in (paths,) if paths else (last, ()):
        for subject in select_subjects(searched, dialect, recordings=True):
            prefix = subject_id(subject) + "/"
            if cell.startswith(prefix) and len(cell) > len(prefix):
                name = cell[len(prefix) :]
                return _as_conversation(subject, name), name
            prefixes.append(prefix)
    folders = [str(path) for path in paths or last]
    places = ", ".join(folders if paths else [*folders, "the bundled scenarios"])
    near = nearest_name(cell, prefixes)
    hint = f"Did you mean {near}NORMALIZER? " if near else ""
    raise UsageError(
        f"no cell {cell!r} in {places}",
        where="CELL",
        hint=f"{hint}Pass SCENARIO/NORMALIZER, such as dashscope/split-chunks/reference, and the "
        "folder of other scenarios with --in.",
    )


def _as_conversation(subject: Subject, name: str) -> Subject:
    """Return the subject as a conversation if `name` is an agent.

    A name `module:callable` may be either; the header line of the last run file decides.
    """
    known = {agent.name for agent in _last_header().agents} if LAST_RUN.is_file() else set()
    talks = subject.kind == "cassette" and (name in known or is_declared_agent(name))
    return msgspec.structs.replace(subject, conversation=True) if talks else subject


def _last_header() -> Header:
    return read_run(LAST_RUN).header


def _replay_lines(
    loaded: LoadedSubject, normalizer: Normalizer, result: Result, asked: _Asked
) -> Iterator[str]:
    cuts, at = asked.cuts, asked.at
    place = result.interaction if asked.interaction is None else asked.interaction
    interactions = loaded.cassette.interactions
    if place >= len(interactions):
        raise UsageError(
            f"the cassette has {len(interactions)} interactions, found {place}",
            where="--interaction",
            hint=f"Choose an index from 0 to {len(interactions) - 1}.",
        )
    interaction = interactions[place]
    if at is not None and at > len(interaction.body):
        raise UsageError(
            f"the body has {len(interaction.body)} bytes, found {at}",
            where="--at",
            hint="Choose an offset inside the body.",
        )
    chunking = result.chunking if cuts is None else _parse_cuts(cuts, interaction)
    yield f"{marked(result.cell)}  {plain(result.title)}"
    cassette = marked(loaded.cassette.id)
    yield f"cassette {cassette}, interaction {place}, {len(interaction.body)} bytes"
    unread = unread_members(interaction, loaded.oracle_readings[place])
    if unread:
        yield f"members with text that no rule judges: {plain(', '.join(unread))}"
    if normalizer.link is not None:
        normalizer.link.prepare()
    shown = replay(normalizer, interaction, chunking)
    if shown.exchange is not None:
        yield from crossing_lines(crossing_of(shown.exchange))
        yield "the response of the upstream, and the deltas of the answer"
    yield from timeline(interaction, shown, replay(reference, interaction, chunking), at=at)


def _timing_lines(loaded: LoadedSubject, normalizer: Normalizer, result: Result) -> Iterator[str]:
    """Yield what server and client did, each with its time; nothing if the cell is unsupported."""
    yield f"{marked(result.cell)}  {plain(result.title)}"
    yield f"cassette {marked(result.cassette)}"
    scenario = loaded.scenario
    if not result.timing or scenario is None or scenario.timing is None:
        return
    if result.timing.unjudged:
        yield f"not judged: {result.timing.unjudged}"
    if normalizer.timed is not None:
        played = play(scenario.timing, loaded.cassette, normalizer.timed)
        yield from (plain(line) for line in timeline_of(played))


def _verdict_lines(result: Result, found: Iterable[ExplainedFinding]) -> Iterator[str]:
    blame = f", blame {result.blame}" if result.blame else ""
    if result.kind != "log":
        yield f"outcome {result.outcome.value}{blame} ({result.replays} replays)"
    if result.evidence is not None:
        yield f"evidence {plain(result.evidence.text)}"
    yield from explained_lines(found)
    for turn in result.turns:
        if turn.unchecked:
            yield f"  turn {turn.interaction}: {plain(turn.unchecked)}"
        for field, why in turn.unjudged.items():
            yield f"  turn {turn.interaction}: {field} not judged: {plain(why)}"
        if not turn.success:
            yield f"  turn {turn.interaction} is not a success: {plain(turn.why)} ({turn.blame})"
    if result.conversation and not result.conversation.success:
        facts = result.conversation
        yield f"  the conversation is not a success: {plain(facts.why)} ({facts.blame})"


def _parse_cuts(cuts: str, interaction: Interaction) -> Chunking:
    if cuts in CUTS:
        return CUTS[cuts](interaction)
    try:
        offsets = sorted({int(part) for part in cuts.split(",")})
    except ValueError:
        raise UsageError(
            f"unknown chunking {cuts!r}",
            where="--cuts",
            hint=f"Choose one of {', '.join(_NAMED_CUTS)}, or offsets such as 12,40.",
        ) from None
    if offsets and not 0 < offsets[0] <= offsets[-1] < len(interaction.body):
        raise UsageError(
            f"offset out of range: {cuts}",
            where="--cuts",
            hint=f"Choose offsets from 1 to {len(interaction.body) - 1}.",
        )
    return tuple(offsets)
