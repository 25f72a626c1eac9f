"""A command that speaks JSON Lines is judged as a normalizer; misconduct costs one case."""

import http.client
import re
import shlex
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from harness.checks.client import check_client, iter_responses
from harness.dialects.table import DIALECTS, native_reading, offered_tools
from harness.errors import NormalizerLoadError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import ReplayLimits, replay
from harness.judging.scenario_file import load_scenario
from harness.normalizers.client import client_normalizer
from harness.normalizers.client.lines import Case, ClientTurn, Hello, Reply
from harness.normalizers.client.process import ClientProcess
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.playback.case_server import CaseServer
from harness.results.outcome import Outcome
from harness.results.result import TimingFacts
from harness.turns.deltas import Finish, FinishReason, TextDelta, call_deltas
from harness.wire.cassette_file import load_cassette
from harness.wire.cuts import UNSPLIT, each_byte
from harness.wire.interaction import Interaction

ROOT = Path(__file__).parents[3]
PROGRAM = Path(__file__).with_name("client_program.py")
SCENARIOS = (
    "calls/arguments-null-first",
    "calls/delta-null",
    "dashscope/split-chunks",
    "errors/in-event",
    "errors/in-call",
)
CALL: Interaction = DIALECTS["openai-chat"].interaction(
    (
        *call_deltas(0, "call_a", "get_weather", '{"city": "Oslo"}'),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )
)


def command(mode: str) -> str:
    return shlex.join([sys.executable, str(PROGRAM), mode])


def client(mode: str = "right") -> Normalizer:
    return client_normalizer(command(mode))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_client_conforms_exactly_if_the_reader_in_it_does(name: str) -> None:
    scenario = load_scenario(ROOT / f"scenarios/{name}.yaml", ROOT / "scenarios")
    folder = ROOT / "cassettes"
    cassette = load_cassette(folder / f"{scenario.cassette}.yaml", folder)
    subject = LoadedSubject(cassette, scenario)
    expected, _ = judge_subject(subject, load_normalizer("reference"), cuts="quick")
    found, _ = judge_subject(subject, client(), cuts="quick")
    assert (found.outcome, found.replays) == (expected.outcome, expected.replays)


def test_the_name_in_a_cell_finds_the_client_again() -> None:
    found = load_normalizer(f"client:{command('right')}")
    assert found.name == f"client:{command('right')}"
    assert found.summary == "test-client 1.0"
    assert not found.streams


def _subject(name: str) -> LoadedSubject:
    scenario = load_scenario(ROOT / f"scenarios/{name}.yaml", ROOT / "scenarios")
    folder = ROOT / "cassettes"
    return LoadedSubject(load_cassette(folder / f"{scenario.cassette}.yaml", folder), scenario)


def test_client_of_version_2_gets_the_times_that_it_declares() -> None:
    found = client("timed")
    assert found.timed is not None
    assert found.timed.untold == {"idle_timeout": "its manual", "cancel_after": ""}
    retried, _ = judge_subject(_subject("timing/status-503-unavailable"), found)
    assert (retried.outcome, retried.timing) == (Outcome.PASS, TimingFacts("answered", 2, 1))
    stalled, _ = judge_subject(_subject("timing/stall-in-call"), found)
    assert stalled.outcome is Outcome.UNSUPPORTED


def test_client_of_version_1_takes_part_in_no_timing_scenario() -> None:
    assert client().timed is None


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("exits", "the process closed its output"),
        ("complains", "its standard error ends with: no such module: x"),
        ("prints", "in the line 'debug: got a case'"),
        ("floods", "in the line 'xxx"),
        ("not-utf-8", "in the line"),
        ("wrong-id", "found that of"),
        ("misspelt", "`tool_calls`"),
        ("crashes", "KeyError: 'x'"),
    ],
)
def test_misconduct_costs_each_case_and_nothing_else(mode: str, error: str) -> None:
    for _ in range(2):  # the process is started again for the second case
        assert error in replay(client(mode), CALL, UNSPLIT).error


def test_half_a_surrogate_pair_is_text() -> None:
    found = replay(client("half-a-pair"), CALL, UNSPLIT)
    # A turn cannot contain it, as its JSON could not.
    assert (found.error, found.turn.text) == ("", "\ufffd \U0001f331")


def test_a_line_too_many_costs_the_next_case() -> None:
    first, second, third = (replay(client("twice"), CALL, UNSPLIT) for _ in range(3))
    assert not first.error
    assert "answers no message" in second.error or not third.error


def test_a_client_that_hangs_is_killed_at_the_limit_of_the_replay() -> None:
    hung = replay(client("hangs"), CALL, UNSPLIT, ReplayLimits(seconds=0.3))
    assert hung.hung


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("no-such-command-here", "No such file"),
        ("'", "No closing quotation"),
        ("", "expected a command"),
        (shlex.join([sys.executable, "-c", "pass"]), "closed its"),
        # The line comes before or after the client is asked.
        (shlex.join([sys.executable, "-c", "print('hi')"]), " line "),
        (command("typo"), "dialects: unknown value 'anthropc'"),
    ],
)
def test_a_command_that_is_not_a_client_is_an_error(given: str, error: str) -> None:
    with pytest.raises(NormalizerLoadError, match=re.escape(error)):
        client_normalizer(given)


def _get(url: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    with closing(connection):
        connection.request("POST", parts.path, b"{}")
        response = connection.getresponse()
        return response.status, response.read()


def test_a_case_answers_one_request_and_only_while_it_is_open() -> None:
    answer = DIALECTS["openai-chat"].interaction((TextDelta("Hi."),))
    with CaseServer() as server:
        with (
            server.open(answer, [b"data: ", b"1\n\n"]) as first,
            server.open(answer, [b"2"]) as other,
        ):
            assert _get(f"{first}/v1/chat/completions") == (200, b"data: 1\n\n")
            assert _get(f"{first}/v1/chat/completions")[0] == http.client.GONE
            assert _get(other) == (200, b"2")
        assert _get(first)[0] == http.client.GONE
        assert _get(f"{server.base_url}/else")[0] == http.client.GONE


def test_every_check_passes_for_a_client_that_reads_right() -> None:
    checks = tuple(check_client(command("right")))
    assert len(checks) == 11
    assert [check for check in checks if not check.ok] == []


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_the_request_of_a_check_has_the_tools_that_are_called_and_one_more(name: str) -> None:
    called: set[str] = set()
    for _, interaction in iter_responses(DIALECTS[name]):
        offered = {tool.name for tool in offered_tools(interaction)}
        called |= {call.name for call in native_reading(interaction).calls or ()}
        assert called < offered or DIALECTS[name].arguments == "none"
    assert bool(called) == (DIALECTS[name].arguments != "none")


def test_a_check_names_what_a_client_misses() -> None:
    assert any(
        "NO-CRASH" in line for check in check_client(command("crashes")) for line in check.detail
    )


def test_the_process_ends_when_it_is_closed() -> None:
    process = ClientProcess(command("right"))
    process.start()
    child = process._process
    assert child is not None
    process.close()
    assert child.returncode == 0


def test_messages_survive_their_json() -> None:
    turn = ClientTurn(id=1, text="雪", finish="stop")
    assert msgspec.json.decode(msgspec.json.encode(turn), type=Reply) == turn
    assert msgspec.json.decode(msgspec.json.encode(Hello()))["protocol"] == 2
    assert "request" in msgspec.json.decode(
        msgspec.json.encode(Case(id=1, dialect="x", base_url="u", model="m", request={}))
    )


def test_cuts_reach_the_client_over_the_network() -> None:
    whole = replay(client(), CALL, UNSPLIT)
    split = replay(client(), CALL, each_byte(CALL.body))
    assert split.turn == whole.turn
    assert split.turn.tool_calls[0].name == "get_weather"
