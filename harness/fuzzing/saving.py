"""Save findings as cassettes with scenarios, which fail in the gate until the bug is fixed.

The same folder is the database of searches: the next search first replays the findings in it, and
deletes those that conform. A running search writes each finding at once to the folder `unfinished`
of the database, before shrinking it. If the search is killed, the next one uses these files.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from harness.files.output import OutputFolder
from harness.files.write import write_file
from harness.files.yaml_text import format_flow
from harness.fuzzing.found import FuzzFinding
from harness.fuzzing.mutators.mutator import REALISMS, Realism
from harness.judging.scenario_text import turn_lines
from harness.results.result import Result
from harness.runs.isolated import IsolatedJudge
from harness.runs.plan import Job, Subject, subject_id
from harness.runs.selection import select_subjects
from harness.verdicts.gate import replay_command
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_text import format_cassette
from harness.wire.cuts import split
from harness.wire.interaction import Interaction, Read

REALISM_LABELS: Final[dict[Realism, str]] = {
    "seen": "a server did this",
    "possible": "possible",
    "never seen": "no known server does this",
}


def scenario_text(finding: FuzzFinding, cassette: str) -> str:
    """Return the YAML text of the scenario for a finding; `cassette` is the cassette's id."""
    expected = finding.expectation
    if finding.conversation is not None:
        lines = (f"  {key}: {format_flow(value)}" for key, value in finding.conversation.items())
        return "\n".join([*_head(finding, cassette), "conversation:", *lines, ""])
    if expected is None:
        raise ValueError("a finding has either an expectation or a conversation")
    return "\n".join([*_head(finding, cassette), "expect:", *turn_lines(expected), ""])


def _head(finding: FuzzFinding, cassette: str) -> Iterator[str]:
    steps = ", ".join(dict.fromkeys(step.name for step in finding.steps))
    after = f" after {steps}" if steps else ""
    label = f" ({REALISM_LABELS[finding.realism]})"
    members = {
        "title": f"Fuzzing: {finding.normalizer} breaks {finding.finding.rule}{after}{label}",
        "cassette": cassette,
        "quirks": list(dict.fromkeys(finding.quirks)),
        "rules": [finding.finding.rule],
        "capabilities": finding.parent.capabilities,
        "text_dialect": finding.parent.text_dialect,
        "policies": finding.parent.policies,
    }
    return (f"{key}: {format_flow(value)}" for key, value in members.items() if value)


# In the order of writing, so that a scenario is never without its cassette.
_KINDS: Final = ("cassettes", "scenarios")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_BY = "harness fuzz"


def cell_of(finding: FuzzFinding) -> str:
    """Return the id of the cell that fails if the saved finding is judged."""
    return f"{_name(finding)}/{finding.normalizer}"


def command_of(finding: FuzzFinding, folder: Path) -> str:
    """Return the shell command that replays a finding saved in `folder`."""
    return replay_command(cell_of(finding), (folder.as_posix(),))


def save(findings: Iterable[FuzzFinding], folder: Path) -> None:
    """Write a cassette and a scenario into `folder` for each finding.

    Raises:
        UsageError: a file exists that the harness did not write.
    """
    output = OutputFolder(folder)
    for finding in findings:
        name = _name(finding)
        output.claim(*_files(name))
        texts = (format_cassette(_cassette(finding)), scenario_text(finding, name))
        for file, text in zip(_files(name), texts, strict=True):
            write_file(folder / file, text.encode("utf-8"))


def unfinished(database: Path) -> Path:
    """Return the folder of the database in which running searches store their findings."""
    return database / "unfinished"


def adopt_unfinished(database: Path, name: str) -> None:
    """Move the findings of a killed search of the client `name` to the finished ones."""
    files = _unfinished_files(database, name)
    if files:
        OutputFolder(database).claim(*files)
    for file in files:
        to = database / file
        to.parent.mkdir(parents=True, exist_ok=True)
        (unfinished(database) / file).replace(to)


def discard_unfinished(database: Path, name: str) -> None:
    """Remove the unfinished findings for the client `name`, because they are saved now."""
    OutputFolder(unfinished(database)).remove(reversed(_unfinished_files(database, name)))


def _unfinished_files(database: Path, name: str) -> list[str]:
    """Return the unfinished findings for the client `name`; cassettes come first."""
    listed = OutputFolder(unfinished(database)).listed()
    of_client = f"/fuzz/{plain_name(name)}/"
    return [file for kind in _KINDS for file in listed if file.startswith(f"{kind}{of_client}")]


def _files(name: str) -> tuple[str, ...]:
    """Return the files of a saved finding, in the order of writing."""
    return tuple(f"{kind}/{name}.yaml" for kind in _KINDS)


def _name(finding: FuzzFinding) -> str:
    return f"fuzz/{plain_name(finding.normalizer)}/{finding.slug}"


def plain_name(normalizer: str) -> str:
    """Return the name of a client in a form that can be the name of a folder."""
    return _UNSAFE.sub(".", normalizer).strip(".") or "normalizer"


def _cassette(finding: FuzzFinding) -> Cassette:
    steps = "".join(f"; {step}" for step in finding.steps)
    parent = finding.parent
    source = f"shrunk from {parent.cassette or parent.id}{steps}; {finding.realism}"
    source = f"{source}; seed {finding.random}"
    return Cassette(
        _name(finding),
        (_as_cut(finding), *finding.others),
        Origin("emulated", by=_BY, source=source, licence=parent.licence),
        provider=parent.provider,
        model=parent.model,
    )


def saved_realism(source: str) -> Realism:
    """Return the realism in the origin of a saved cassette; `possible` if there is none."""
    return next((each for each in REALISMS if f"; {each}; seed " in source), "possible")


def _as_cut(finding: FuzzFinding) -> Interaction:
    """Return the input with the needed cuts as its recorded reads, which every run replays."""
    if not finding.chunking:
        return finding.interaction
    reads = tuple(Read(len(part)) for part in split(finding.interaction.body, finding.chunking))
    return msgspec.structs.replace(finding.interaction, reads=reads, reads_kept=True)


def replay_saved(folder: Path, name: str) -> Iterator[tuple[Subject, Result]]:
    """Replay the findings saved in `folder` for the client `name`; yield each with its result.

    Raises:
        HarnessError: a file of the folder cannot be used, or `name` cannot be loaded.
    """
    target, name = name, plain_name(name)
    there = folder / "scenarios" / "fuzz" / name
    with closing(IsolatedJudge()) as apart:
        for subject in select_subjects([there]) if there.is_dir() else ():
            yield subject, apart.judge(Job(subject, target))[0]


def delete_saved(subject: Subject, folder: Path) -> None:
    """Delete the files of a saved finding from the database `folder`, because its bug is fixed."""
    OutputFolder(folder).remove(reversed(_files(subject_id(subject))))
