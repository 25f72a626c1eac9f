"""Load the files of a subject: a scenario with its cassette, or a cassette alone."""

from pathlib import Path
from typing import Literal

from harness import shipped
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_head
from harness.files.paths import path_below
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.judging.conversations.session import tools_of_cassette
from harness.judging.judge import (
    LoadedSubject,
)
from harness.judging.rules import RULES
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import load_scenario
from harness.judging.timing.script import require_playable
from harness.normalizers.protocol import CAPABILITIES
from harness.providers import UNKNOWN
from harness.recording.identify import identify
from harness.recording.importing import only_answers, reason_of_unread_api
from harness.recording.secrets import credentials
from harness.results.result import CASSETTE_PREFIX, CassetteFacts
from harness.runs.plan import Subject
from harness.runs.redaction import clean_if_possible
from harness.wire import cassette_file
from harness.wire.cassette import Cassette
from harness.wording import did_you_mean, nearest


@kept_while_unchanged
def load_subject(subject: Subject) -> LoadedSubject:
    """Load a scenario with its cassette, or a cassette alone without its secrets.

    The result is cached until a file changes.

    The cassette of a scenario keeps its secrets, because the scenario depends on its exact bytes.

    Raises:
        UnreadableError: a file cannot be used, or the scenario and the cassette do not fit.
    """
    path = Path(subject.path)
    if subject.kind == "unreadable":
        read_head(path)
        raise UnreadableError(
            "expected a scenario (key `expect` or `conversation`) or a cassette "
            "(key `interactions`)",
            where=subject.path,
            hint="Convert a recording of another tool with `harness import FILE`.",
        )
    if subject.kind == "cassette":
        alone = load_recording(subject)
        if not shipped.is_bundled(subject.path):
            alone = clean_if_possible(alone)
        return LoadedSubject(
            alone, _recorded_scenario(alone, subject.path) if subject.conversation else None
        )
    scenario = load_scenario(path, Path(subject.roots[0]))
    _check_names(scenario, subject.path)
    cassette = _cassette(scenario.cassette, subject)
    if scenario.conversation is not None:
        _check_conversation(scenario, cassette, subject.path)
    elif scenario.timing is not None:
        require_playable(scenario.timing, cassette, subject.path)
    elif len(scenario.expect) != len(cassette.interactions):
        raise UnreadableError(
            f"expect: {len(cassette.interactions)} turns wanted, one for each interaction of "
            f"{scenario.cassette}; found {len(scenario.expect)}",
            where=subject.path,
        )
    return LoadedSubject(cassette, scenario)


@kept_while_unchanged
def load_recording(subject: Subject) -> Cassette:
    """Return the cassette of a subject without a scenario, with any secrets in its file."""
    root = Path(subject.roots[0]) if subject.roots else None
    cassette = _load_cassette(Path(subject.path), root)
    if not subject.dialect and not shipped.is_bundled(subject.path):
        cassette = _without_unread_apis(cassette)
    return _unlabelled_cassette(cassette, subject.dialect)


def _without_unread_apis(cassette: Cassette) -> Cassette:
    """Return `cassette`; if no dialect reads any of its responses, it states none.

    An older importer took some of these APIs for a dialect whose address looks alike.
    """
    if not all(map(reason_of_unread_api, cassette.interactions)):
        return cassette
    return cassette.with_each(dialect=UNKNOWN)


def source_of(cassette: Cassette) -> CassetteFacts:
    """Return facts about `cassette`, such as its origin, for the results of its cells."""
    origin, interactions = cassette.origin, cassette.interactions
    return CassetteFacts(
        by=origin.by,
        at=origin.at,
        source=origin.source,
        licence=origin.licence,
        reads=_reads([each.reads_kept for each in interactions]),
        leaks=sum(len(credentials.unscrubbed_parts(each)) for each in interactions),
        interactions=len(interactions),
        size=sum(len(each.body) for each in interactions),
    )


def _reads(kept: list[bool]) -> Literal["recorded", "synthetic", "mixed"]:
    if all(kept):
        return "recorded"
    return "mixed" if any(kept) else "synthetic"


@kept_while_unchanged
def source_of_subject(subject: Subject) -> CassetteFacts:
    """Return facts about the cassette of a subject, such as its origin, as in its file."""
    is_alone = subject.kind == "cassette"
    return source_of(load_recording(subject) if is_alone else load_subject(subject).cassette)


def _load_cassette(path: Path, root: Path | None) -> Cassette:
    """Return the cassette at `path`; a misspelled dialect in it raises an UnreadableError."""
    cassette = cassette_file.load_cassette(path, root)
    if cassette.interactions and cassette.dialect not in (UNKNOWN, *DIALECTS):
        raise UnreadableError(
            f"unknown dialect {cassette.dialect!r}",
            where=f"{path}: harness.dialect",
            hint=did_you_mean(cassette.dialect, DIALECTS, "Choose one of"),
        )
    return cassette


def _recorded_scenario(cassette: Cassette, where: str) -> Scenario:
    """Return a scenario in which an agent must repeat the conversation of a recording."""
    script = script_from_recording(cassette)
    if isinstance(script, NotReplayable):
        raise UnreadableError(f"agents cannot replay this conversation: {script.why}", where=where)
    subject = f"{CASSETTE_PREFIX}{cassette.id}"
    return Scenario(subject, cassette.id, cassette.id, conversation=script)


def _check_conversation(scenario: Scenario, cassette: Cassette, where: str) -> None:
    """Check that the agent can call each mock tool, because others would test nothing."""
    if not cassette.interactions:
        raise UnreadableError(f"{cassette.id} has no interaction", where=where)
    tools = tools_of_cassette(cassette) if scenario.tools is None else scenario.tools
    names = [tool.name for tool in tools]
    for name in scenario.conversation.tools if scenario.conversation else ():
        if name not in names:
            known = f"the agent is offered {', '.join(names) or 'none'}"
            raise UnreadableError(
                f"conversation.tools: there is no tool {name!r}",
                where=where,
                hint=nearest(name, names) or f"{known}; see the key `tools`",
            )


def _unlabelled_cassette(cassette: Cassette, dialect: str) -> Cassette:
    """Return a cassette with identified dialects, without responses that cannot be judged."""
    if dialect:
        return identify(cassette.with_each(dialect=dialect))
    return identify(only_answers(cassette))


def _check_names(scenario: Scenario, where: str) -> None:
    """Reject misspelled capabilities and rules: no normalizer would support them."""
    for key, names, known in (
        ("capabilities", scenario.capabilities, CAPABILITIES),
        ("rules", scenario.rules, RULES),
    ):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known, "known")
                raise UnreadableError(f"{key}: there is no {name!r}", where=where, hint=hint)


def _cassette(name: str, subject: Subject) -> Cassette:
    for root in map(Path, subject.roots[1:]):
        path = root / f"{name}.yaml"
        if path.is_file() and path_below(path, root) is not None:
            cassette = _load_cassette(path, root)
            read = cassette.with_each(dialect=subject.dialect) if subject.dialect else cassette
            return identify(read)
    raise UnreadableError(
        f"there is no cassette {name!r}",
        where=subject.path,
        hint=f"looked for {name}.yaml in {' and '.join(subject.roots[1:])}",
    )
