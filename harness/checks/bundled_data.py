"""Check the bundled data for `harness doctor`: is it used, consistent and without secrets?

Each check is a function that yields a line for each problem.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from harness import shipped
from harness.checks import kill_table
from harness.checks.stream_members import missing_members
from harness.conversation.discovery import default_agent_names, load_agent
from harness.conversation.mutants import MUTANTS as AGENT_MUTANTS
from harness.errors import HarnessError
from harness.judging.expected import reasons_not_judged
from harness.judging.judge import LoadedSubject
from harness.judging.rules import (
    CONVERSATION_RULES,
    COST_RULES,
    RULES,
    TIMING_RULES,
    TURN_RULES,
)
from harness.judging.scenario import Scenario, ScenarioKind
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.normalizers.discovery import default_normalizer_names, load_normalizer
from harness.normalizers.mutants import COST_MUTANTS, MUTANTS
from harness.normalizers.protocol import CAPABILITIES
from harness.normalizers.timed import TIMED_MUTANTS
from harness.recording.identify import identify
from harness.recording.secrets import scrubber
from harness.results.catalogue import Quirk, load_catalogue, load_excluded
from harness.results.duties import KINDS, load_duties
from harness.results.kill_table import KillRow
from harness.runs.load import load_subject
from harness.runs.plan import Subject, subject_id
from harness.runs.requirement_sets import load_set, set_names
from harness.runs.selection import select_subjects
from harness.verdicts.judged_shares import JudgedShare, judged_shares
from harness.wire import cassette_file
from harness.wire.cassette import Cassette

T = TypeVar("T")


class Check(msgspec.Struct, frozen=True):
    """The result of one check.

    Fields:
        check: the title of the check.
        ok: whether it found no problem.
        count: the number of items that it checked.
        detail: a line for each problem.
    """

    check: str
    ok: bool
    count: int
    detail: tuple[str, ...]


class BundledData:
    """All bundled data, loaded once; `unreadable` lists the errors of files that cannot be read."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The bundled scenarios that can be read."""
        root = shipped.bundled_folder("scenarios")
        return tuple(self._readable(find_scenarios([root]), lambda path: load_scenario(path, root)))

    @cached_property
    def cassettes(self) -> dict[str, Cassette]:
        """The bundled cassettes that can be read, by id."""
        root = shipped.bundled_folder("cassettes")
        paths = tuple(sorted(root.rglob("*.yaml")))
        loaded = self._readable(paths, lambda path: cassette_file.load_cassette(path, root))
        return {cassette.id: cassette for cassette in loaded}

    @cached_property
    def quirks(self) -> dict[str, Quirk]:
        """The quirks of the catalogue, by id."""
        return load_catalogue(shipped.bundled_folder("catalogue") / "quirks")

    @cached_property
    def excluded(self) -> dict[str, str]:
        """Ids of quirks that no scenario can contain -> the reason."""
        return load_excluded(shipped.bundled_folder("catalogue") / "excluded.yaml")

    @cached_property
    def bundled(self) -> tuple[Subject, ...]:
        """The bundled subjects that `harness run` selects by default, including recordings."""
        return select_subjects((), recordings=True)

    @property
    def subjects(self) -> Iterator[LoadedSubject]:
        """The scenarios about turns, with their cassettes, if the two have as many turns."""
        return self._loaded("turns")

    @property
    def conversations(self) -> Iterator[LoadedSubject]:
        """The scenarios about conversations, with their cassettes, as a run loads them."""
        return self._loaded("conversation")

    @property
    def timings(self) -> Iterator[LoadedSubject]:
        """The scenarios about times and breaks, with their cassettes."""
        return self._loaded("timing")

    def _loaded(self, kind: ScenarioKind) -> Iterator[LoadedSubject]:
        for scenario in self.scenarios:
            cassette = self.cassettes.get(scenario.cassette)
            if cassette and scenario.kind == kind and _fits(scenario, cassette):
                is_conversation = kind == "conversation"
                yield LoadedSubject(identify(cassette) if is_conversation else cassette, scenario)

    @cached_property
    def kills(self) -> tuple[KillRow, ...]:
        """The rows of the kill table, judged now; counts stop at the first scenario that kills."""
        return self.kill_rows(every=False)

    def kill_rows(self, *, every: bool) -> tuple[KillRow, ...]:
        """Judge the mutants, and return the rows of the kill table.

        Args:
            every: count all scenarios that kill a mutant, instead of stopping at the first.
        """
        subjects = tuple(self.subjects), tuple(self.conversations), tuple(self.timings)
        return tuple(kill_table.all_rows(*subjects, every=every))

    def _readable(self, paths: tuple[Path, ...], load: Callable[[Path], T]) -> Iterator[T]:
        for path in paths:
            try:
                yield load(path)
            except HarnessError as error:
                self.unreadable.append(str(error))


def _files_readable(data: BundledData) -> Iterator[str]:
    _ = data.scenarios, data.cassettes
    yield from data.unreadable


def _scenario_has_cassette(data: BundledData) -> Iterator[str]:
    for scenario in data.scenarios:
        cassette = data.cassettes.get(scenario.cassette)
        if cassette is None:
            yield f"{scenario.id}: there is no cassette {scenario.cassette}"
        elif not _fits(scenario, cassette):
            wanted = len(cassette.interactions)
            yield f"{scenario.id}: {len(scenario.expect)} turns, expected {wanted}"


def _fits(scenario: Scenario, cassette: Cassette) -> bool:
    """Return whether the scenario expects a turn for each interaction, or a conversation."""
    if scenario.kind != "turns":
        return bool(cassette.interactions)
    return len(cassette.interactions) == len(scenario.expect)


def _scenarios_have_evidence(data: BundledData) -> Iterator[str]:
    """Check that each scenario says where a server sent its stream, or that none is known to."""
    recorded = {name for name, it in data.cassettes.items() if it.origin.kind != "emulated"}
    for scenario in data.scenarios:
        if scenario.evidence is None:
            yield f"{scenario.id}: the key `evidence` is missing"
        for stated in (scenario.evidence, *(each.evidence for each in scenario.expect)):
            if stated is None or stated.kind == "own" or stated.addresses:
                continue
            if stated.kind != "recorded":
                yield f"{scenario.id}: evidence.{stated.kind}: expected URLs: {stated.place!r}"
            elif stated.place not in recorded:
                yield f"{scenario.id}: evidence.recorded: unknown recording {stated.place!r}"


def _cassette_has_scenario(data: BundledData) -> Iterator[str]:
    """Check emulated cassettes only, because a recording can measure a model without a scenario."""
    used = {scenario.cassette for scenario in data.scenarios}
    for name, cassette in sorted(data.cassettes.items()):
        if name not in used and cassette.origin.kind == "emulated":
            yield name


def _quirks_known(data: BundledData) -> Iterator[str]:
    cited = {(scenario.id, quirk) for scenario in data.scenarios for quirk in scenario.quirks}
    cites = {name: duty.quirks for name, duty in load_duties().items()}
    cited |= {(f"rule {rule}", quirk) for rule, quirks in cites.items() for quirk in quirks}
    for source, quirk in sorted(cited):
        if quirk not in data.quirks:
            yield f"{source}: cites {quirk}, which is not in the catalogue"


def _quirks_covered(data: BundledData) -> Iterator[str]:
    cited = {quirk for scenario in data.scenarios for quirk in scenario.quirks}
    for quirk in sorted(set(data.quirks) - cited - set(data.excluded)):
        yield f"{quirk}: no scenario contains it, and it is not excluded"
    for quirk in sorted(set(data.excluded) & cited):
        yield f"{quirk}: excluded, but a scenario contains it"
    for quirk in sorted(set(data.excluded) - set(data.quirks)):
        yield f"{quirk}: excluded, but not in the catalogue"


def _quirks_merged_once(data: BundledData) -> Iterator[str]:
    merged = Counter(other for quirk in data.quirks.values() for other in quirk.merged)
    for quirk, times in sorted(merged.items()):
        if times > 1:
            yield f"{quirk}: merged {times} times"
        if quirk in data.quirks or quirk in data.excluded:
            yield f"{quirk}: merged into another quirk, and still in the catalogue"


def _rules_known(data: BundledData) -> Iterator[str]:
    for scenario in data.scenarios:
        for rule in scenario.rules:
            if rule not in RULES:
                yield f"{scenario.id}: there is no rule {rule}"
        for capability in scenario.capabilities:
            if capability not in CAPABILITIES:
                yield f"{scenario.id}: there is no capability {capability}"


def _rules_have_mutants(_data: BundledData) -> Iterator[str]:
    yield from _without_mutant(set(TURN_RULES), MUTANTS.values())
    yield from _without_mutant(set(CONVERSATION_RULES), AGENT_MUTANTS.values())
    yield from _without_mutant(set(COST_RULES), COST_MUTANTS.values())
    yield from _without_mutant(set(TIMING_RULES), TIMED_MUTANTS.values())


def _without_mutant(rules: set[str], mutants: Iterable[kill_table.AnyClient]) -> Iterator[str]:
    alone = {rule for each in mutants if len(each.breaks) == 1 for rule in each.breaks}
    yield from (f"{rule}: no mutant violates it alone" for rule in sorted(rules - alone))
    for mutant in mutants:
        unknown = sorted(mutant.breaks - rules)
        yield from (f"{mutant.name}: there is no rule {rule}" for rule in unknown)


def _duties_have_sources(data: BundledData) -> Iterator[str]:
    """Check that each rule has an entry in `duties.toml` with public sources for each level."""
    duties = load_duties()
    yield from (f"duties.toml: there is no rule {name}" for name in sorted(duties.keys() - RULES))
    for rule in RULES.values():
        duty = duties.get(rule.id)
        if duty is None:
            yield f"{rule.id}: duties.toml has no entry"
            continue
        for exception in duty.exceptions:
            if exception.kind and exception.kind not in KINDS[duty.about]:
                yield f"{rule.id}: it does not judge clients of the kind {exception.kind}"
            if not (exception.because and (exception.kind or exception.came)):
                yield f"{rule.id}: an exception needs `because`, and `kind` or `came`"
        cited = {name for name, quirk in data.quirks.items() if quirk.references}
        for source in sorted(set(duty.sources) - cited):
            if not source.startswith("https://"):
                yield f"{rule.id}: {source} is neither a URL nor a quirk with references"


def _sets_name_what_exists(data: BundledData) -> Iterator[str]:
    """Check that the subjects and rules of each requirement set still exist."""
    subjects = {subject_id(subject) for subject in data.bundled}
    for name in set_names():
        for each in sorted(load_set(name).subjects - subjects):
            yield f"set {name}: the scenario or recording {each} does not exist"
        for rule in sorted((load_set(name).rules or frozenset()) - RULES.keys()):
            yield f"set {name}: the rule {rule} does not exist"


def _mutants_killed(data: BundledData) -> Iterator[str]:
    for row in data.kills:
        if not row.scenario:
            yield f"{row.mutant}: survives, no scenario shows that it violates {row.rule}"


def _kill_table_fresh(data: BundledData) -> Iterator[str]:
    for line in kill_table.stale_rows(data.kills):
        yield f"{line}; write it again with `harness doctor --write-kill-table`"


def _normalizers_conform(data: BundledData) -> Iterator[str]:
    for name in default_normalizer_names():
        yield from _problems(load_normalizer(name), data.subjects)


def _agents_conform(data: BundledData) -> Iterator[str]:
    for name in default_agent_names():
        yield from _problems(load_agent(name), data.conversations)


def _problems(client: kill_table.AnyClient, subjects: Iterable[LoadedSubject]) -> Iterator[str]:
    for subject in subjects:
        result = kill_table.judge_client(client, subject, "quick")
        yield from (f"{result.cell}: {each.rule} at {each.path}" for each in result.reported)


def _scrubbed(data: BundledData) -> Iterator[str]:
    for cassette in data.cassettes.values():
        yield from scrubber.iter_leaks(cassette)


_CHECKS: dict[str, tuple[Callable[[BundledData], Iterator[str]], Callable[[BundledData], int]]] = {
    "files are readable": (_files_readable, lambda d: len(d.scenarios) + len(d.cassettes)),
    "each scenario has its cassette": (_scenario_has_cassette, lambda d: len(d.scenarios)),
    "each scenario states its evidence": (_scenarios_have_evidence, lambda d: len(d.scenarios)),
    "emulated streams have the members of recorded ones": (
        lambda d: missing_members(d.scenarios, d.cassettes),
        lambda d: len(d.scenarios),
    ),
    "each emulated cassette has a scenario": (_cassette_has_scenario, lambda d: len(d.cassettes)),
    "cited quirks are in the catalogue": (_quirks_known, lambda d: len(d.quirks)),
    "each quirk has a scenario": (_quirks_covered, lambda d: len(d.quirks)),
    "merged quirks are merged once": (_quirks_merged_once, lambda d: len(d.quirks)),
    "cited rules and capabilities exist": (_rules_known, lambda d: len(d.scenarios)),
    "each rule has a mutant": (_rules_have_mutants, lambda _: len(RULES)),
    "each rule has a duty with sources": (_duties_have_sources, lambda _: len(load_duties())),
    "requirement sets name what exists": (_sets_name_what_exists, lambda _: len(set_names())),
    "each mutant is killed": (_mutants_killed, lambda _: len(MUTANTS) + len(AGENT_MUTANTS)),
    "the stored kill table is up to date": (_kill_table_fresh, lambda d: len(d.kills)),
    "conforming normalizers break no rule": (
        _normalizers_conform,
        lambda _: len(default_normalizer_names()),
    ),
    "conforming agents break no rule": (_agents_conform, lambda _: len(default_agent_names())),
    "cassettes are scrubbed": (_scrubbed, lambda d: len(d.cassettes)),
}


def judged_turns() -> tuple[JudgedShare, ...]:
    """Return, for each field, how many turns of bundled subjects are judged, and why others not."""
    subjects = (each for each in select_subjects((), recordings=True) if each.kind != "log")
    return judged_shares(
        reasons
        for subject in map(load_subject, subjects)
        for reasons in map(reasons_not_judged, subject.expectations, subject.oracle_readings)
    )


def checks() -> Iterator[Check]:
    """Run the checks on the bundled data one after the other, and yield the result of each."""
    data = BundledData()
    for name, (problems, count) in _CHECKS.items():
        detail = tuple(problems(data))
        yield Check(name, ok=not detail, count=count(data), detail=detail)
