"""`harness show`: all of a cassette, and nothing that could drive a terminal."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.show import show_command
from harness.errors import UnreadableError, UsageError
from harness.reporting.visible import marked
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.interaction import Interaction, Read, Request

EVIL = "\x1b[31m\u202e\u2028\r"
BODY = b'data: {"a": "\xff\xc3\xa9"}\r\n\r\nevent: end\ndata: x' + EVIL.encode()
ASKED = {
    "model": "m" + EVIL,
    "stream": True,
    "tools": [{"function": {"name": "get" + EVIL}}],
    "messages": [{"role": "system", "content": "Be brief." + EVIL * 60}],
}


def saved(path: Path, sent: bytes = json.dumps(ASKED).encode()) -> Path:
    request = Request("POST", "https://api.openai.com/v1/chat/completions" + EVIL, (), sent)
    reads = (Read(10, 31), Read(len(BODY) - 10, 598))
    first = Interaction(request, 200, (("X" + EVIL, "y" + EVIL),), BODY, reads)
    origin = Origin("recorded", by="tests" + EVIL)
    save_cassette(Cassette("a", (first,), origin, "openai", "m" + EVIL), path)
    return path


def shown(*args: object) -> str:
    result = CliRunner().invoke(show_command, [str(arg) for arg in args])
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_show_prints_reads_and_events(tmp_path: Path) -> None:
    text = shown(saved(tmp_path / "a.yaml"))
    assert "provider    openai" in text
    assert "origin      kind recorded, by tests␛[31m<U+202E><U+2028>␍" in text
    assert ", stream, 1 tool: get␛[31m" in text
    assert f"body      {len(BODY)} bytes in 2 reads (recorded)" in text
    assert "  read 0: 10 bytes at 0, after 31 ms" in text
    assert '    event 0                    0  data: {"a"\n' in text
    assert '                              10  : "<\\xFF>é"}␍␊\n' in text
    assert "    event 1 end incomplete" in text


@pytest.mark.parametrize("form", ["pretty", "json"])
def test_show_prints_no_control_characters(tmp_path: Path, form: str) -> None:
    text = shown(saved(tmp_path / "a.yaml"), "--format", form)
    assert all(char.isprintable() or char == "\n" for char in text)


def test_show_json_has_all_facts(tmp_path: Path) -> None:
    answer = json.loads(shown(saved(tmp_path / "a.yaml"), "--format", "json"))
    assert answer["origin"]["kind"] == "recorded"
    (only,) = answer["interactions"]
    assert only["request"]["tools"] == ["get" + EVIL]
    assert only["reads"] == [
        {"bytes": 10, "delay_ms": 31},
        {"bytes": len(BODY) - 10, "delay_ms": 598},
    ]
    assert [event["complete"] for event in only["events"]] == [True, False]


def test_show_reports_a_request_that_was_not_recorded(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.yaml", sent=b"")
    assert "request   not recorded as JSON (0 bytes)" in shown(path)
    answer = json.loads(shown(path, "--format", "json"))
    assert answer["interactions"][0]["request"]["tools"] is None


def test_show_names_tools_described_in_the_prompt(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.yaml")
    assert "taught in words" not in shown(path)
    tool = {"name": "look" + EVIL, "description": "", "parameters": {"type": "object"}}
    save_cassette(load_cassette(path).with_each(tools=(tool,)), path)
    assert "tools       look␛[31m" in shown(path)
    assert json.loads(shown(path, "--format", "json"))["tools"] == [tool]


def test_the_same_cassette_gives_the_same_text(tmp_path: Path) -> None:
    assert shown(saved(tmp_path / "a.yaml")) == shown(saved(tmp_path / "b" / "a.yaml"))


def test_show_takes_the_id_of_a_bundled_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "x" / "y.yaml")
    monkeypatch.setattr("harness.cli.cassette_options.bundled_folder", lambda _name: tmp_path)
    assert shown("x/y").startswith("id          x/y\n")


def test_show_rejects_an_unreadable_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(show_command, [str(tmp_path)])
    assert isinstance(result.exception, UnreadableError)


def test_show_rejects_an_unknown_name_with_the_nearest() -> None:
    result = CliRunner().invoke(show_command, ["dashscope/qwen-plus/set-memry"])
    assert isinstance(result.exception, UsageError)
    assert "did you mean 'dashscope/qwen-plus/set-memory'?" in result.exception.hint


@given(st.binary() | st.text())
def test_visible_text_is_printable(data: bytes | str) -> None:
    assert marked(data).isprintable()


def test_the_turn_is_shown_as_a_response_template_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("regex")
    tag = {"open": "<tool_call>", "close": "</tool_call>", "content": "json"}
    fields = {"tool_calls": tag, "content": {}}
    template = {"response_template": {"start_anchor": "A", "fields": fields}}
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps(template), encoding="utf-8")
    id_ = "compatible/qwen3-8b/tagged-json-template"
    for name in (f"template:{config}", "tagged-json"):
        view = json.loads(shown(id_, "--text-dialect", name, "--format", "json"))
        turn = view["interactions"][0]["turn"]
        assert [call["name"] for call in turn["tool_calls"]] == ["get_weather"]
        assert "  turn " in shown(id_, "--text-dialect", name)
    with pytest.raises(UnreadableError, match="no text dialect"):
        CliRunner().invoke(show_command, [id_, "--text-dialect", "x"], catch_exceptions=False)
