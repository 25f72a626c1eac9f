"""Emulated cassettes: requests declare or describe the tools, and each key has its effect."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from harness import shipped
from harness.conversation.prompts import PROMPTS, system_text
from harness.dialects.table import DIALECTS
from harness.emulation.cassette import emulate
from harness.emulation.deltas import iter_deltas
from harness.emulation.recipe import DeltaEntry, Recipe
from harness.emulation.recipe_file import load_recipe
from harness.files.typed import convert
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire.cassette import Cassette
from tests.emulation.test_emulation_recipe import TURN, recipe, write

SCENARIOS = shipped.bundled_folder("scenarios")


def made(folder: Path, *responses: dict[str, Any], **keys: Any) -> Cassette:  # noqa: ANN401 - of a recipe
    found = load_recipe(write(folder, recipe(*responses, **keys)), SCENARIOS)
    assert isinstance(found, Recipe)
    return emulate(found)


def body(folder: Path, *edits: dict[str, Any], **response: Any) -> str:  # noqa: ANN401 - of a response
    given = {"raw": ["one {model}\n", "two\n", "three\n"], **response, "edits": list(edits)}
    return made(folder, given).interactions[0].body.decode()


def deltas(*entries: dict[str, Any]) -> tuple[Delta, ...]:
    return tuple(iter_deltas(convert(list(entries), tuple[DeltaEntry, ...], "x")))


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_tools_are_declared_or_described_as_the_prompt_says(tmp_path: Path, prompt_id: str) -> None:
    names = ["schema.list_tables", "get_time"]
    found = load_recipe(
        write(tmp_path, recipe({"deltas": TURN}, tools=names, prompt=prompt_id)), SCENARIOS
    )
    assert isinstance(found, Recipe)
    stored, prompt = emulate(found), PROMPTS[prompt_id]
    sent = json.loads(stored.interactions[0].request.body)
    assert stored.prompt == prompt_id
    assert [tool["name"] for tool in stored.tools] == (names if prompt.describes_tools else [])
    assert ("tools" in sent) is not prompt.describes_tools
    system = system_text(prompt, found.tools)
    assert sent["messages"][0] == {"role": "system", "content": system}


def test_entries_become_deltas_with_ids_and_indexes_by_number() -> None:
    assert deltas(
        {"text": {"text": "abcd", "size": 3}},
        {"call": {"name": "f", "arguments": "123456"}},
        {"call_start": {"name": "g", "arguments": ["{", "}"], "kind": "custom"}},
        {"arguments": {"index": 1, "text": "x"}},
        {"call_end": 1},
        {"usage": [1, 2]},
        {"finish": "end_turn"},
        {"finish": "stop"},
        {"finish": {"reason": "stop", "raw": "END"}},
    ) == (
        TextDelta("abc"),
        TextDelta("d"),
        ToolCallStart(0, "call_1", "f"),
        ArgumentsDelta(0, "12"),
        ArgumentsDelta(0, "34"),
        ArgumentsDelta(0, "56"),
        ToolCallEnd(0),
        ToolCallStart(1, "call_2", "g", "custom"),
        ArgumentsDelta(1, "{"),
        ArgumentsDelta(1, "}"),
        ArgumentsDelta(1, "x"),
        ToolCallEnd(1),
        UsageDelta(Usage(1, 2)),
        Finish(FinishReason.OTHER, "end_turn"),
        Finish(FinishReason.STOP, "stop"),
        Finish(FinishReason.STOP, "END"),
    )


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({"insert": {"at": -1, "events": ["new\n"]}}, "one any\ntwo\nnew\nthree\n"),
        ({"append": [{"json": {"a": "é"}}]}, 'one any\ntwo\nthree\ndata: {"a": "é"}\n\n'),
        ({"append": [{"line": 1}, {"binary": "Yg=="}]}, "one any\ntwo\nthree\n1\nb"),
        ({"append": [{"event": {"e": None}}]}, "one any\ntwo\nthree\nevent: e\ndata: null\n\n"),
        ({"cut_after": "tw"}, "one any\ntw"),
        ({"end_before": "three"}, "one any\ntwo\n"),
        ({"swap": ["o", "0"]}, "0ne {m0del}\ntw0\nthree\n"),
        ({"prefix": "> "}, "> one any\n> two\n> three\n"),
        ({"keep": -1}, "one any\ntwo\n"),
        ({"cut_in": {"event": 1, "bytes": 1}}, "one any\nt"),
        ({"flip_bit": {"event": -1, "byte": 0}}, "one any\ntwo\nuhree\n"),
    ],
)
def test_edit_changes_the_events(tmp_path: Path, edit: dict[str, Any], expected: str) -> None:
    assert body(tmp_path, edit) == expected


def test_edits_apply_in_their_order(tmp_path: Path) -> None:
    assert body(tmp_path, {"keep": 1}, {"append": ["x"]}) == "one any\nx"


def test_writer_options_change_how_deltas_are_written(tmp_path: Path) -> None:
    plain = made(tmp_path, {"deltas": TURN}).interactions[0].body
    crlf = made(tmp_path, {"deltas": TURN, "writer": {"line_end": "crlf"}}).interactions[0].body
    assert crlf == plain.replace(b"\n", b"\r\n")


@pytest.mark.parametrize("ended", ["complete", "reset", "truncated"])
def test_network_ends_the_body_as_the_response_says(tmp_path: Path, ended: str) -> None:
    plain = made(tmp_path, {"deltas": TURN}).interactions[0]
    assert plain.ended == "complete"
    only = made(tmp_path, {"deltas": TURN, "ended": ended}).interactions[0]
    assert only == replace(plain, ended=ended)


def test_response_has_the_status_and_type_that_it_names(tmp_path: Path) -> None:
    failed = {"raw": [{"document": {"error": "no"}}], "status": 503, "content_type": "text/x"}
    only = made(tmp_path, failed).interactions[0]
    assert (only.status, only.header("content-type"), only.body) == (
        503,
        "text/x",
        b'{"error": "no"}',
    )


@pytest.mark.parametrize(
    "dialect",
    [
        "anthropic",
        "bedrock-converse",
        "cohere",
        "gemini",
        "mistral",
        "ollama",
        "openai-chat",
        "openai-responses",
    ],
)
def test_tool_results_follow_the_turn_in_the_form_of_the_api(tmp_path: Path, dialect: str) -> None:
    provider = next(iter(DIALECTS[dialect].request_forms[""].addresses))
    answer = {"deltas": TURN, "next": {"tool_results": {"call_1": "4 degrees"}, "user": "Cold?"}}
    path = write(tmp_path, recipe(answer, {"deltas": TURN}, dialect=dialect))
    path.write_text(path.read_text().replace("compatible/any/one", f"{provider}/any/one"))
    found = load_recipe(path, SCENARIOS)
    assert isinstance(found, Recipe)
    first, second = (each.request.body.decode() for each in emulate(found).interactions)
    assert "4 degrees" not in first
    assert second.index("Oslo?") < second.index("4 degrees") < second.index("Cold?")


def test_messages_are_added_as_they_are(tmp_path: Path) -> None:
    sent = [{"role": "user", "content": "Again.", "x": 1}]
    first = {"raw": [""], "next": {"messages": sent}}
    second = made(tmp_path, first, {"deltas": TURN}).interactions[1]
    assert json.loads(second.request.body)["messages"][-1:] == sent


def test_request_members_follow_the_model_and_the_stream_flag(tmp_path: Path) -> None:
    only = made(tmp_path, {"deltas": TURN}, request={"temperature": 0}).interactions[0]
    assert list(json.loads(only.request.body))[:3] == ["model", "stream", "temperature"]


def test_some_reads_end_inside_an_event_and_some_inside_a_character(tmp_path: Path) -> None:
    text = {"deltas": [{"text": ["雪化了。", "花开了。", "é", "x"]}, {"finish": "stop"}]}
    only = made(tmp_path, text).interactions[0]
    assert any(0x80 <= only.body[cut] < 0xC0 for cut in only.recorded_cuts())
    assert any(only.body[cut - 1 : cut] not in (b"\n", b"\r") for cut in only.recorded_cuts())
