"""Costs are measured in counted work, so that no test depends on the speed of a machine."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.cost import measure, meters
from harness.cost.floor import Floor
from harness.cost.measure import CostLimits, measure_time
from harness.cost.meters import Meters, NotMeasuredError, meters_of
from harness.cost.processes import in_new_process
from harness.cost.processes import measure as measure_cost
from harness.cost.streams import CostStream, cost_stream, stream_floor
from harness.dialects.table import DIALECTS
from harness.judging.rules import COST_RULES
from harness.judging.rules.cost import cost_findings
from harness.normalizers.client import process_of
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.mutants import COST_MUTANTS
from harness.normalizers.mutants import cost as cost_mutants
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.reporting.cost_table import COST_HEAD, cost_cells
from harness.results.cost import Cost
from harness.results.duties import level_of
from harness.turns.deltas import Delta, TextDelta
from harness.wire.interaction import Interaction

LIMITS = CostLimits(deltas=(250, 2_000), slow_deltas=125, replay_seconds=1e9, repeats=(1, 2))
WORK_OF_A_READ = 40  # as many characters as decoding one event costs, in the unit of the clock


class CountedWork:
    """A clock that counts reads of a client, events of the floor, and parsed characters."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client = self.floor = 0.0
        monkeypatch.setattr(measure, "stream_floor", self._counting_floor)
        monkeypatch.setattr(cost_mutants, "work_through", self._work_through)

    def meters(self) -> Meters:
        return Meters(lambda: self.client, lambda: self.floor, lambda: None, lambda: None)

    def of(self, normalizer: Normalizer, limits: CostLimits = LIMITS) -> Cost:
        counted = replace(normalizer, normalize=self._counting(normalizer.normalize))
        return measure_time(counted, "openai-chat", limits, self.meters())

    def _work_through(self, text: str) -> None:
        self.client += len(text)

    def _counting_floor(self, stream: CostStream) -> Floor:
        def floor(_body: bytes) -> None:
            self.floor += WORK_OF_A_READ * len(stream.interaction.reads)

        return floor

    def _counting(
        self, normalize: Callable[[Interaction, Iterator[bytes]], Iterator[Delta]]
    ) -> Callable[[Interaction, Iterator[bytes]], Iterator[Delta]]:
        def counted(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
            def counting() -> Iterator[bytes]:
                for read in reads:
                    self.client += WORK_OF_A_READ
                    yield read

            return normalize(interaction, counting())

        return counted


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> CountedWork:
    return CountedWork(monkeypatch)


def rules_of(cost: Cost) -> set[str]:
    return {finding.rule for finding in cost_findings(cost, "gateway")}


def test_a_linear_client_that_streams_violates_no_rule(work: CountedWork) -> None:
    cost = work.of(reference)
    assert (cost.time, cost.growth, cost.held_back, cost.held_arguments) == (1.0, 1.0, 0, 0)
    assert (cost.shortest, cost.deltas) == LIMITS.deltas
    assert rules_of(cost) == set()


@pytest.mark.parametrize("name", [name for name in COST_MUTANTS if name != "events-kept"])
def test_each_mutant_violates_its_rule_and_no_other(work: CountedWork, name: str) -> None:
    mutant = COST_MUTANTS[name]
    assert rules_of(work.of(mutant)) == mutant.breaks


def test_time_that_grows_with_the_square_of_the_length_is_measured_as_such(
    work: CountedWork,
) -> None:
    """Eight times the deltas cost 64 times the work of parsing, and 8 times that of reading."""
    cost = work.of(COST_MUTANTS["arguments-reparsed"])
    assert cost.growth is not None
    assert 5.0 < cost.growth < 8.0


def test_each_rule_has_a_mutant_and_is_a_should_rule() -> None:
    assert {rule for each in COST_MUTANTS.values() for rule in each.breaks} == set(COST_RULES)
    assert {level_of(rule, kind) for rule in COST_RULES for kind in ("sdk", "gateway")} == {
        "SHOULD"
    }


def test_a_slow_client_is_measured_with_shorter_streams(work: CountedWork) -> None:
    """The first stream must fit four times into the limit, and a later one as often as it grew."""
    limits = replace(LIMITS, replay_seconds=1_100.0 * WORK_OF_A_READ)
    assert work.of(reference, limits).deltas == 1_000
    slower = replace(LIMITS, replay_seconds=500.0 * WORK_OF_A_READ)
    cost = work.of(reference, slower)
    assert (cost.shortest, cost.deltas) == (125, 250)
    assert cost.growth is not None


def test_a_client_that_does_not_read_the_stream_is_not_measured(work: CountedWork) -> None:
    """A client that drops the call would look fast."""

    def text_only(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        deltas = reference.normalize(interaction, reads)
        return (delta for delta in deltas if isinstance(delta, TextDelta))

    with pytest.raises(NotMeasuredError, match="does not return the text and the call"):
        work.of(replace(reference, normalize=text_only))


def test_a_client_that_raises_is_not_measured(work: CountedWork) -> None:
    def raising(_interaction: Interaction, _reads: Iterator[bytes]) -> Iterator[Delta]:
        raise ZeroDivisionError

    with pytest.raises(NotMeasuredError, match="ZeroDivisionError"):
        work.of(replace(reference, normalize=raising))


def test_held_back_text_is_not_measured_if_the_client_gives_no_time_of_it(
    work: CountedWork,
) -> None:
    at_the_end = replace(COST_MUTANTS["stream-first"], streams=False)
    cost = work.of(at_the_end)
    assert (cost.held_back, cost.held_arguments) == (None, None)


def test_held_arguments_are_the_bytes_from_the_first_fragment_to_the_end(
    work: CountedWork,
) -> None:
    cost = work.of(COST_MUTANTS["arguments-last"])
    assert cost.held_back == 0
    assert cost.body / 3 < (cost.held_arguments or 0) < cost.body


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_stream_has_an_event_for_each_delta_and_its_floor_reads_it(dialect: str) -> None:
    stream = cost_stream(DIALECTS[dialect], 200)
    assert 200 <= len(stream.interaction.reads) <= 220
    assert 0 < stream.first_text < len(stream.interaction.body) / 4
    assert (stream.first_arguments is None) == (DIALECTS[dialect].arguments == "none")
    assert stream.first_text < (stream.first_arguments or len(stream.interaction.body))
    assert stream.turn.failure is None
    assert bool(stream.turn.tool_calls) == (DIALECTS[dialect].arguments != "none")
    stream_floor(stream)(stream.interaction.body)


def test_memory_shows_a_client_that_keeps_all_events() -> None:
    limits = CostLimits(deltas=(500, 4_000), seconds=0, repeats=(1, 1))
    kept = measure_cost("events-kept", "openai-chat", limits)
    streamed = measure_cost("reference", "openai-chat", limits)
    if kept.memory is None or streamed.memory is None:
        pytest.skip("this system does not report the peak memory of a process")
    assert "COST-MEMORY" in rules_of(kept)
    assert "COST-MEMORY" not in rules_of(streamed)


def die() -> None:
    raise SystemExit(7)


def test_a_client_that_ends_its_process_costs_only_its_measurement() -> None:
    with pytest.raises(NotMeasuredError, match="exit code 7"):
        in_new_process(die)


numbers = st.none() | st.floats(0, 1e6)


held = st.none() | st.integers(0, 10**9)


@given(numbers, numbers, numbers, held, held)
def test_what_was_not_measured_violates_nothing_and_shows_no_number(
    time: float | None,
    growth: float | None,
    memory: float | None,
    text: int | None,
    call: int | None,
) -> None:
    cost = Cost("openai-chat", 8, 1, 1.0, time, growth, memory, text, 10, held_arguments=call)
    values = (time, growth, memory, text, call)
    cells = cost_cells(cost)
    assert len(cells) == len(COST_HEAD)
    for value, cell in zip(values, cells[2:], strict=True):
        assert (value is None) == (cell == "not measured")
    marks = [cell.endswith(" !") for cell in cells]
    # A client that holds all of the stream back violates one rule.
    assert len(rules_of(cost)) == sum(marks) - all(marks[-2:])


PROGRAM = Path(__file__).parents[1] / "normalizers" / "client" / "client_program.py"
CLIENT = f"client:{shlex.join([sys.executable, str(PROGRAM), 'right'])}"
on_linux = pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="this system reports no use of other processes"
)


@on_linux
def test_the_cost_of_a_client_in_another_process_is_that_of_its_process() -> None:
    cost = measure_cost(CLIENT, "openai-chat", CostLimits(deltas=(200, 800), repeats=(1, 1)))
    assert cost.not_measured == ""
    assert cost.time is not None
    assert cost.held_back is None


def test_a_system_that_reports_no_cpu_time_is_no_fast_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(meters, "_PROCESSES", tmp_path)
    with pytest.raises(NotMeasuredError, match="does not report the CPU time"):
        meters_of(load_normalizer(CLIENT)).client()
    assert meters_of(reference).peak() is None


@on_linux
def test_the_meters_of_a_client_are_those_of_its_process() -> None:
    client = load_normalizer(CLIENT)
    process = process_of(client)
    assert process not in (None, os.getpid())
    assert process_of(reference) is None
    there, here = meters_of(client), meters_of(reference)
    before = there.client(), here.client()
    sum(range(3_000_000))  # this process works, and the client waits
    assert here.client() - before[1] > 10 * (there.client() - before[0])
    peaks = there.peak(), here.peak()
    assert None not in peaks
    assert peaks[0] != peaks[1]
