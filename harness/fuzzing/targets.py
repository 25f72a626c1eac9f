"""Search one normalizer or agent, replay its saved findings, and save the new ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from harness.fuzzing.conversations.plans import DIALECT_KEY
from harness.fuzzing.found import FuzzFinding, FuzzReport
from harness.fuzzing.saving import delete_saved, replay_saved, save
from harness.fuzzing.search import Profile
from harness.fuzzing.shards import FuzzTask, fuzz_here, fuzz_in_processes
from harness.judging.results import Result
from harness.runs.plan import Subject
from harness.runs.worker import load_subject


class FuzzTarget(msgspec.Struct, frozen=True):
    """A client under test; `name` as the user gave it."""

    kind: Literal["normalizer", "agent"]
    name: str


class FuzzOptions(msgspec.Struct, frozen=True):
    """The options of a search.

    Fields:
        random: the seed.
        clean: start from scenarios without quirks only.
        database: the folder of the findings of all searches; None for none.
        folder: where to write those that fail a gate in addition; None for nowhere.
    """

    subjects: tuple[Subject, ...]
    profile: Profile
    random: int
    clean: bool = False
    processes: int = 1
    database: Path | None = None
    folder: Path | None = None


def fuzz_target(target: FuzzTarget, options: FuzzOptions) -> FuzzReport:
    """Search one normalizer or agent; the report includes saved findings that still fail.

    Raises:
        HarnessError: it cannot be loaded, or a file cannot be used.
    """
    task = FuzzTask(
        target.kind,
        target.name,
        options.subjects,
        options.profile,
        clean=options.clean,
        random=options.random,
    )
    found = (
        fuzz_here(task) if options.processes == 1 else fuzz_in_processes(task, options.processes)
    )
    new = {finding.slug for finding in found.findings}
    old: tuple[FuzzFinding, ...] = ()
    if options.database is not None:
        pairs = replay_saved(options.database, target.name)
        old = tuple(it for it in _failing(pairs, options.database) if it.slug not in new)
        save(found.findings, options.database)
    if options.folder is not None:
        save((it for it in found.findings if it.fails_gate), options.folder)
    findings = sorted((*found.findings, *old), key=lambda finding: finding.rank)
    return msgspec.structs.replace(found, findings=tuple(findings))


def _failing(pairs: Iterator[tuple[Subject, Result]], folder: Path) -> Iterator[FuzzFinding]:
    """Yield the saved findings that still fail, and delete the others."""
    for subject, result in tuple(pairs):
        if result.findings:
            yield _repeated_finding(subject, result)
        else:
            delete_saved(subject, folder)


def _repeated_finding(subject: Subject, result: Result) -> FuzzFinding:
    loaded = load_subject(subject)
    scenario, interaction = loaded.scenario, loaded.cassette.interactions[0]
    expected = scenario.expect[0] if scenario and scenario.expect else None
    text_dialect = scenario.text_dialect if scenario else ""
    dialect_key = f"{interaction.dialect}/{text_dialect}" if text_dialect else interaction.dialect
    return FuzzFinding(
        slug=Path(subject.path).stem,
        normalizer=result.normalizer,
        finding=result.findings[0],
        blame=result.blame or "normalizer",
        dialect_key=DIALECT_KEY if subject.conversation else dialect_key,
        parent=loaded.cassette.origin.source,
        cassette=loaded.cassette.id,
        steps=(),
        interaction=interaction,
        expectation=expected,
        chunking=result.chunking,
        others=loaded.cassette.interactions[1:],
        found_before=True,
    )
