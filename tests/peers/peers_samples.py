"""Peers with records and runs, for the tests of the matrix and of its page in the report."""

from dataclasses import dataclass

from hypothesis import strategies as st
from msgspec.structs import replace

from harness.peers.record import PeerRecord, PeerResults
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AgentFacts, NormalizerFacts
from tests.runs.runs_samples import a_finding, a_result, a_run

SOME_QUIRKS = ("SSE-CRLF", "DELTA-NAME-REPEATED", "ARGS-NULL", "DASH-CUMULATIVE")


@dataclass
class Cell:
    """What the counts of a matrix depend on."""

    outcome: Outcome
    quirk: str
    dialect: str
    recorded: bool


cells = st.lists(
    st.builds(
        Cell,
        st.sampled_from(Outcome),
        st.sampled_from(("", *SOME_QUIRKS)),
        st.sampled_from(("openai-chat", "ollama", "gemini")),
        st.booleans(),
    ),
    max_size=25,
)


def results_of(found: list[Cell], name: str = "lib") -> tuple[Result, ...]:
    """Return a cell of the peer for each of `found`."""
    return tuple(
        replace(
            a_result(
                f"{'cassette:' if cell.recorded else ''}area/{number}",
                name,
                outcome=cell.outcome,
                quirks=(cell.quirk,) if cell.quirk else (),
                findings=(a_finding("CALLS-KEPT"),) if cell.outcome.fails else (),
            ),
            dialect=cell.dialect,
        )
        for number, cell in enumerate(found)
    )


def a_record(name: str = "lib", **changes: object) -> PeerRecord:
    """Return a record of a judged peer."""
    record = PeerRecord(name, "python", "library", "1.0", "0.1.0", "2026-11-01", 60.0, "quick")
    return replace(record, **changes)


def peer(results: tuple[Result, ...], name: str = "lib") -> PeerResults:
    """Return the results of a judged peer."""
    facts = NormalizerFacts(name, "sdk", "peer", dialects=("openai-chat", "ollama", "gemini"))
    run = a_run(results, name)
    return PeerResults(
        a_record(name), replace(run, header=replace(run.header, normalizers=(facts,)))
    )


def an_agent(results: tuple[Result, ...], name: str = "loop") -> PeerResults:
    """Return the results of a judged agent."""
    run = a_run(results, name)
    facts = AgentFacts(name, "peer", dialects=("openai-chat",))
    return PeerResults(
        a_record(name), replace(run, header=replace(run.header, normalizers=(), agents=(facts,)))
    )
