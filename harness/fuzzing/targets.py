"""Search for bugs of a client, replay its saved findings, and save the new ones."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from harness.conversation.discovery import load_agent
from harness.fuzzing.conversations.plans import DIALECT_KEY
from harness.fuzzing.conversations.search import ConversationSource
from harness.fuzzing.found import (
    FuzzFinding,
    FuzzReport,
    Parent,
    RuleAndPath,
    merge_findings,
    rule_and_path,
)
from harness.fuzzing.saving import (
    adopt_unfinished,
    delete_saved,
    discard_unfinished,
    replay_saved,
    save,
    saved_realism,
    unfinished,
)
from harness.fuzzing.search import Profile, find_profile, fuzz
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import seeds
from harness.normalizers.discovery import load_normalizer
from harness.results.finding import Level
from harness.results.result import Result
from harness.runs.declared import is_bundled, is_shipped
from harness.runs.engine import LOCAL_ENGINE, Engine
from harness.runs.load import load_subject
from harness.runs.plan import Subject
from harness.runs.selection import select_subjects
from harness.workers.batch import Batch, Exited
from harness.workers.interruption import interruptible, stoppable
from harness.workers.pool import OpenPool, Pool, open_processes
from harness.workers.process import ProcessEndedError

_POLL_SECONDS = 0.1


class FuzzTarget(msgspec.Struct, frozen=True):
    """A client to search: its kind, and its name as the user gave it."""

    kind: Literal["normalizer", "agent"]
    name: str


class FuzzOptions(msgspec.Struct, frozen=True):
    """The options of a search for bugs.

    Fields:
        subjects: the scenarios and cassettes to start from.
        random: the number that seeds all random choices.
        clean: whether to start only from scenarios without quirks.
        processes: the number of worker processes.
        database: the folder with the findings of all searches; None for none.
        folder: another folder in which to save findings; None for none.
        level: save a finding in `folder` only if its rule has this level or a stricter one.
    """

    subjects: tuple[Subject, ...]
    profile: Profile
    random: int
    clean: bool = False
    processes: int = 1
    database: Path | None = None
    folder: Path | None = None
    level: Level = "MUST"

    def folder_of(self, finding: FuzzFinding) -> Path | None:
        """Return the folder in which to save `finding`; None if it is not saved."""
        levels = get_args(Level)
        saved = levels.index(finding.finding.level) <= levels.index(self.level)
        return self.folder if saved and self.folder is not None else self.database


class FuzzTask(msgspec.Struct, frozen=True):
    """The part of a search that one process runs, as a small value that can be pickled."""

    target: FuzzTarget
    options: FuzzOptions
    share: int = 0
    shares: int = 1


def fuzz_here(task: FuzzTask) -> FuzzReport:
    """Run a search in this process, and return the report."""
    name, options = task.target.name, task.options
    shared: dict[str, Any] = {"random": options.random, "share": task.share, "shares": task.shares}
    if options.database is not None:
        shared["on_found"] = partial(_keep, unfinished(options.database))
    # The output of a normalizer must not mix with the findings on standard output.
    with redirect_stdout(sys.stderr):
        if task.target.kind == "agent":
            return fuzz(ConversationSource(load_agent(name)), options.profile, **shared)
        normalizer = load_normalizer(name)
        sent = not is_shipped(name, is_agent=False)
        found = seeds(options.subjects, normalizer, clean=options.clean, sent=sent)
        source = TurnSource(normalizer, found, slice(task.share, None, task.shares))
        return fuzz(source, options.profile, **shared)


def _keep(folder: Path, finding: FuzzFinding) -> None:
    with suppress(OSError):  # at the end of the search, the same error is reported
        save((finding,), folder)


def fuzz_in_processes(task: FuzzTask, processes: int, open_pool: OpenPool = Pool) -> FuzzReport:
    """Run a search in several worker processes; the report counts processes that crashed.

    Ctrl-C ends each search, which then reports its findings so far.

    Args:
        task: the search.
        processes: the number of processes, each with a share of the inputs.
        open_pool: a function that opens the processes; see `harness.runs.engine`.

    Raises:
        HarnessError: the client or a seed cannot be loaded.
    """
    shares = (
        msgspec.structs.replace(task, share=number, shares=processes) for number in range(processes)
    )
    with interruptible() as interruption, open_processes(processes, open_pool) as pool:
        futures = [pool.submit(fuzz_here, (share,)) for share in shares]
        while wait(futures, timeout=_POLL_SECONDS).not_done:
            if interruption.requested:
                pool.stop(futures)
                break
        bundled = is_bundled(task.target.name, is_agent=task.target.kind == "agent")
        found = _join_reports([_report(future, bundled=bundled) for future in futures])
        if found.interrupted and not interruption.requested:  # the client has stopped it
            return msgspec.structs.replace(found, interrupted=False, crashed=found.crashed + 1)
        return found


def _report(future: Future[Batch[FuzzReport]], *, bundled: bool) -> FuzzReport:
    if not future.done():  # it did not stop in time, and is killed
        return FuzzReport(interrupted=True)
    try:
        batch = future.result()
    except ProcessEndedError:
        return FuzzReport(crashed=1)
    if batch.fault is not None:
        if bundled or batch.fault.kind is not None:
            raise batch.fault.rebuild()
        return FuzzReport(crashed=1, trace=batch.fault.trace)
    if not batch.results:  # stopped before it began
        return FuzzReport(interrupted=True)
    (report,) = batch.results
    return FuzzReport(crashed=1) if isinstance(report, Exited) else report


def _join_reports(reports: Sequence[FuzzReport]) -> FuzzReport:
    return FuzzReport(
        findings=merge_findings(finding for each in reports for finding in each.findings),
        examples=sum(each.examples for each in reports),
        chunkings=sum(each.chunkings for each in reports),
        interrupted=any(each.interrupted for each in reports),
        seeds=sum(each.seeds for each in reports),
        everywhere=_everywhere(reports),
        crashed=sum(each.crashed for each in reports),
        trace=next((each.trace for each in reports if each.trace), ""),
    )


def _everywhere(reports: Sequence[FuzzReport]) -> frozenset[RuleAndPath]:
    """Return the failures that every seed of every process shows."""
    found = [each.everywhere for each in reports if each.seeds]
    return frozenset[RuleAndPath]().union(*found).intersection(*found)


def fuzz_client(
    name: str,
    profile: str = "ci",
    *,
    kind: Literal["normalizer", "agent"] = "normalizer",
    paths: Iterable[Path] = (),
    random: int = 0,
) -> FuzzReport:
    """Search for bugs of one normalizer or agent; third-party code runs in a worker process.

    Args:
        name: the name of the client, or `module:callable`.
        profile: `dev`, `ci` or `deep`.
        kind: whether `name` is a normalizer or an agent.
        paths: scenarios and cassettes to start from; without any, the bundled scenarios. The
            conversations of an agent are generated.
        random: the number that seeds all random choices.

    Raises:
        UsageError: the client or the profile is unknown.
        NormalizerLoadError, AgentLoadError: the client cannot be loaded.
        UnreadableError: a file of `paths` cannot be used.
    """
    options = FuzzOptions(select_subjects(paths), find_profile(profile), random)
    return _fuzz(FuzzTask(FuzzTarget(kind, name), options), LOCAL_ENGINE)


def _fuzz(task: FuzzTask, engine: Engine) -> FuzzReport:
    """Search in this process if it suffices for a bundled client, else in worker processes."""
    target, processes = task.target, task.options.processes
    few = engine.is_local and processes == 1
    if not (few and is_bundled(target.name, is_agent=target.kind == "agent")):
        return fuzz_in_processes(task, processes, engine.open_pool)
    with stoppable():
        return fuzz_here(task)


def fuzz_target(
    target: FuzzTarget, options: FuzzOptions, engine: Engine = LOCAL_ENGINE
) -> FuzzReport:
    """Search for bugs of one client; the report includes saved findings that still fail.

    Saved findings are replayed on this machine, even if the search runs on a cluster.

    Raises:
        HarnessError: the client cannot be loaded, or a file cannot be used.
    """
    if options.database is not None:
        adopt_unfinished(options.database, target.name)
    found = _fuzz(FuzzTask(target, options), engine)
    new = {finding.slug for finding in found.findings}
    old: tuple[FuzzFinding, ...] = ()
    if options.database is not None:
        pairs = replay_saved(options.database, target.name)
        old = tuple(it for it in _failing(pairs, options.database) if it.slug not in new)
    unsaved = _save(found.findings, options)
    if options.database is not None and not unsaved:
        discard_unfinished(options.database, target.name)
    marked = (_mark_everywhere(each, found) for each in (*found.findings, *old))
    findings = sorted(marked, key=lambda finding: finding.rank)
    return msgspec.structs.replace(found, findings=tuple(findings), unsaved=unsaved)


def _save(findings: Iterable[FuzzFinding], options: FuzzOptions) -> str:
    """Save the findings; return why that failed, or ""."""
    folder = options.database or options.folder
    try:
        if options.database is not None:
            save(findings, options.database)
        if options.folder is not None:
            folder = options.folder
            save((it for it in findings if options.folder_of(it) == folder), folder)
    except OSError as error:
        return f"{folder}: cannot write the findings: {error.strerror}"
    return ""


def _mark_everywhere(finding: FuzzFinding, report: FuzzReport) -> FuzzFinding:
    if rule_and_path(finding.finding) not in report.everywhere:
        return finding
    return msgspec.structs.replace(finding, every_seed=report.seeds)


def _failing(pairs: Iterator[tuple[Subject, Result]], folder: Path) -> Iterator[FuzzFinding]:
    """Yield the saved findings that still fail, and delete the others from `folder`."""
    for subject, result in tuple(pairs):
        if result.reported:
            yield _repeated_finding(subject, result)
        else:
            delete_saved(subject, folder)


def _repeated_finding(subject: Subject, result: Result) -> FuzzFinding:
    loaded = load_subject(subject)
    scenario, interaction = loaded.scenario, loaded.cassette.interactions[0]
    expected = scenario.expect[0] if scenario and scenario.expect else None
    parts = (interaction.dialect, scenario.text_dialect if scenario else "")
    quirks = scenario.quirks if scenario else ()
    return FuzzFinding(
        slug=Path(subject.path).stem,
        normalizer=result.normalizer,
        finding=result.reported[0],
        blame=result.blame or "normalizer",
        dialect_key=DIALECT_KEY if subject.conversation else "/".join(filter(None, parts)),
        parent=Parent(loaded.cassette.origin.source, loaded.cassette.id, quirks=quirks),
        interaction=interaction,
        expectation=expected,
        chunking=result.chunking,
        others=loaded.cassette.interactions[1:],
        found_before=True,
        realism=saved_realism(loaded.cassette.origin.source),
    )
