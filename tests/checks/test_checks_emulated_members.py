"""An emulated stream has each member that all recorded streams of the official server have.

The table of the API says which those are. `absent_members.toml` lists what streams lack on purpose.
"""

import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from harness import shipped
from harness.judging.contract.judge import members_unjudged
from harness.judging.contract.shape import CHUNK, iter_events, iter_parts
from harness.judging.contract.table import ContractTable, load_tables
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.results.scenario_evidence import is_own
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction, Request

SCENARIOS: Final = shipped.bundled_folder("scenarios")
CASSETTES: Final = shipped.bundled_folder("cassettes")
ABSENT: Final[list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("absent_members.toml").read_text(encoding="utf-8")
)["absent"]
# Fewer recordings do not show that a server always sends a member.
FEWEST: Final = 3
_FIRST_ERROR_STATUS: Final = 400


@cache
def absent() -> dict[str, list[tuple[Scenario, Cassette, int, set[str]]]]:
    """Return dialect -> the emulated streams that a table judges, with the members they lack."""
    found: dict[str, list[tuple[Scenario, Cassette, int, set[str]]]] = {}
    for path in find_scenarios([SCENARIOS]):
        scenario = load_scenario(path, SCENARIOS)
        cassette = load_cassette(CASSETTES / f"{scenario.cassette}.yaml", CASSETTES)
        for number, each in enumerate(cassette.interactions):
            is_stream = cassette.origin.kind == "emulated" and each.status < _FIRST_ERROR_STATUS
            if is_stream and each.dialect in load_tables() and not members_unjudged(each):
                lacks = missing(each, load_tables()[each.dialect], cassette.provider)
                found.setdefault(each.dialect, []).append((scenario, cassette, number, lacks))
    return found


def missing(interaction: Interaction, table: ContractTable, provider: str) -> set[str]:
    """Return the members that official streams always have, and an object of a stream lacks.

    The streams of other servers need only what the contract requires.
    """
    return {
        f"{part.kind}.{name}"
        for event in iter_events(interaction, table.grammar)
        if not (event.kind == CHUNK and event.value.get("error"))
        for part in iter_parts(event, table.grammar)
        for name, member in table.members.get(part.kind, {}).items()
        if name not in part.value
        and member.seen[0] == member.seen[1] >= FEWEST
        and (provider in table.official or table.duties[part.kind].get(name) in ("MUST", "SHOULD"))
    }


def rows_for(scenario: Scenario, cassette: Cassette, member: str) -> Iterator[int]:
    """Yield the number of each row of `absent_members.toml` that explains an absent member."""
    for at, row in enumerate(ABSENT):
        names = {*row.get("quirks", ()), *row.get("providers", ()), *row.get("scenarios", ())}
        fits = not names.isdisjoint((*scenario.quirks, cassette.provider, scenario.id))
        if fits and any(fnmatchcase(member, _literal(each)) for each in row["members"]):
            yield at


def _literal(pattern: str) -> str:
    return pattern.replace("[", "[[]")


def _is_odd(scenario: Scenario, number: int) -> bool:
    """Return whether no server is known to send the stream, and the scenario names its quirks."""
    turns = scenario.expect
    turn = turns[number].evidence if number < len(turns) else None
    return bool(scenario.quirks) and is_own(turn or scenario.evidence)


@pytest.mark.parametrize("dialect", load_tables())
def test_an_emulated_stream_has_the_members_of_official_ones(dialect: str) -> None:
    thin = [
        (scenario.id, number, member)
        for scenario, cassette, number, lacks in absent()[dialect]
        if not _is_odd(scenario, number)
        for member in sorted(lacks)
        if not list(rows_for(scenario, cassette, member))
    ]
    assert thin == []


def test_each_row_explains_an_absent_member() -> None:
    used = {
        at
        for streams in absent().values()
        for scenario, cassette, _, lacks in streams
        for member in lacks
        for at in rows_for(scenario, cassette, member)
    }
    assert used == set(range(len(ABSENT)))


def test_a_member_that_is_deleted_is_missing() -> None:
    table = load_tables()["ollama"]
    lines = b'{"model": "m", "message": {"role": "assistant", "content": ""}, "done": false}\n'
    interaction = Interaction(Request(), 200, (), lines, (), dialect="ollama")
    assert missing(interaction, table, "ollama") == {"done=false.created_at"}
