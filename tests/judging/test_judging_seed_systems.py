"""The five systems that the suite comes from: each passes, and each broken ancestor fails as told.

The table says in one place what the stories say: which normalizers and agents stand for a
system, how it was broken before, and the rules that this breaks, and no others.
"""

from collections.abc import Iterable

import msgspec
import pytest

from harness.conversation.discovery import default_agent_names, load_agent
from harness.conversation.mutants import MUTANTS
from harness.judging.conversations.judge import judge_conversation
from harness.judging.judge import judge_subject
from harness.normalizers.discovery import default_normalizer_names, load_normalizer
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run
from harness.runs.declared import facts_of, facts_of_agent
from harness.runs.load import load_subject
from harness.runs.selection import select_subjects
from harness.shipped import bundled_folder
from harness.verdicts.rankings import rankings
from tests.judging.judging_samples import (
    bundled_subjects,
    judged_whole,
    shipped_conversations,
    subjects_for_mutant,
)
from tests.judging.test_judging_kill_table import BROKEN
from tests.runs.runs_samples import a_run


def rules_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAMPLED = 6

TAGS_MISSED = rules_of(
    "ARGUMENTS-USABLE BROKEN-CALL-NOT-RUN CALL-ARGUMENTS-EXACT CALL-ID-EXACT CALL-ID-FRESH "
    "CALLS-KEPT CALLS-NOT-INVENTED FINISH-REASON PARSE-ERROR-REPORTED REASONING-KEPT "
    "REASONING-NOT-IN-TEXT TEXT-EXACT TEXT-NO-MARKUP"
)


class System(msgspec.Struct, frozen=True):
    """One of the five.

    Fields:
        story: what was wrong, in a few words.
        areas: the folders of scenarios that tell it.
        normalizers, agents: its rows in a report.
        broken: ancestor -> the rules that it breaks.
    """

    story: str
    areas: tuple[str, ...]
    normalizers: tuple[str, ...]
    agents: tuple[str, ...]
    broken: dict[str, frozenset[str]]


SYSTEMS = (
    System(
        "DashScope names a call in its first chunk alone, and merging loses id and name",
        ("dashscope",),
        ("dashscope-restore",),
        ("dashscope-loop",),
        {
            "naive": rules_of(
                "ARGUMENTS-USABLE BROKEN-CALL-NOT-RUN CALL-ID-EXACT CALL-ID-PRESENT "
                "CALL-IDS-UNIQUE CALL-NAME-EXACT CALL-NAMED CALLS-KEPT CALLS-NOT-INVENTED "
                "TRUNCATED-CALL-NOT-RUN"
            )
        },
    ),
    System(
        "calls in tags or bare, and a result that was added outside of the branch with a call",
        ("tag-protocol",),
        ("tag-extract",),
        ("tag-loop",),
        {
            "closed-tag-only": TAGS_MISSED,
            "first-brace-regex": TAGS_MISSED,
            "result-outside-branch": rules_of("HIST-FORM"),
        },
    ),
    System(
        "a service without tools: the list of calls was always empty",
        ("action-protocol",),
        ("action-protocol",),
        ("action-loop",),
        {
            "tool-calls-empty": rules_of(
                "CALLS-KEPT FAILURE-REPORTED FINISH-REASON PARSE-ERROR-REPORTED REASONING-KEPT "
                "REASONING-NOT-IN-TEXT TEXT-EXACT TEXT-NO-MARKUP"
            )
        },
    ),
    System(
        "a parse error was fatal, one bad call killed its turn, and nothing bounded the retries",
        (),
        (),
        ("gateway",),
        {
            "parse-error-fatal": rules_of("CONV-ENDING"),
            "one-bad-call-kills-all": rules_of("CONV-CALL-LOST"),
            "retry-without-end": rules_of("CONV-NO-HANG"),
            "system-midturn": rules_of("HIST-SYSTEM-MID"),
        },
    ),
    System(
        "what of an iteration is stored: calls without their turn, results as objects",
        (),
        (),
        ("plain-loop", "direct-loop", "grouped-loop"),
        {
            "results-orphaned": rules_of("HIST-ORPHAN-RESULT"),
            "result-object": rules_of("HIST-RESULT-NON-STRING"),
        },
    ),
)
OF_NORMALIZERS = [
    (name, rules)
    for system in SYSTEMS
    for name, rules in system.broken.items()
    if system.normalizers and name in BROKEN
]
OF_AGENTS = [
    (name, rules)
    for system in SYSTEMS
    for name, rules in system.broken.items()
    if name not in BROKEN
]


def _judged_by_conforming_agent(name: str) -> list[Result]:
    """Judge some of the conversations: other tests judge all."""
    subjects = [each for each in bundled_subjects() if each.conversation]
    return [judged_whole(each, name)[0] for each in subjects[::_SAMPLED]]


def _judged_by_agent(name: str) -> list[Result]:
    agent = load_agent(name)
    sample = subjects_for_mutant(name, shipped_conversations())
    return [judge_conversation(each, agent, cuts="whole")[0] for each in sample]


def _judged_by_normalizer(name: str, areas: Iterable[str]) -> list[Result]:
    normalizer = load_normalizer(name)
    told = select_subjects([bundled_folder("scenarios") / area for area in areas])
    return [judge_subject(load_subject(each), normalizer, cuts="whole")[0] for each in told]


def _run_of(system: System) -> Run:
    results = [result for name in system.agents for result in _judged_by_conforming_agent(name)]
    for name in system.normalizers:
        results += _judged_by_normalizer(name, system.areas)
    run = a_run(results)
    header = msgspec.structs.replace(
        run.header,
        normalizers=tuple(facts_of(load_normalizer(name)) for name in system.normalizers),
        agents=tuple(facts_of_agent(load_agent(name)) for name in system.agents),
    )
    return msgspec.structs.replace(run, header=header)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda it: it.agents[0])
def test_a_seed_system_has_a_row_in_the_report_and_passes(system: System) -> None:
    run = _run_of(system)
    judged = [each for each in run.results if each.outcome is not Outcome.UNSUPPORTED]
    assert [finding for each in judged for finding in each.findings] == []
    assert all(each.outcome.conforms for each in judged)
    ranked = rankings(run)
    rows = {row.name: row for row in (*ranked.normalizers, *ranked.agents)}
    assert set(rows) == {*system.normalizers, *system.agents}
    assert all(row.k == row.n >= 4 for row in rows.values()), rows
    assert {*system.normalizers} <= {*default_normalizer_names()}
    assert {*system.agents} <= {*default_agent_names()}


@pytest.mark.parametrize(("name", "rules"), OF_AGENTS)
def test_a_known_bad_agent_violates_exactly_its_rules(name: str, rules: frozenset[str]) -> None:
    agent = load_agent(name)
    found = {finding.rule for each in _judged_by_agent(name) for finding in each.findings}
    assert agent.role == "known-bad"
    assert agent.breaks == rules == found


@pytest.mark.parametrize(("name", "rules"), OF_NORMALIZERS)
def test_a_known_bad_normalizer_declares_exactly_its_rules(
    name: str, rules: frozenset[str]
) -> None:
    # That these are the rules which catch it is held by the kill table, over all scenarios.
    normalizer = load_normalizer(name)
    assert (normalizer.role, normalizer.breaks) == ("known-bad", rules)


def test_every_known_bad_client_belongs_to_a_seed_system() -> None:
    told = {name for system in SYSTEMS for name in system.broken}
    agents = {each.name for each in MUTANTS.values() if each.role == "known-bad"}
    assert told == agents | {name for name in BROKEN if load_normalizer(name).role == "known-bad"}
