"""The key `conversation` of a scenario file: its values, and each mistake with its path."""

from pathlib import Path

import pytest

from harness.conversation.task import Limits
from harness.errors import UnreadableError
from harness.judging.conversations.script import (
    ConversationScript,
    ExpectedExecution,
    ExpectedParts,
    ExpectedReport,
    ExpectedRequest,
    MockAnswer,
)
from harness.judging.scenario_file import load_scenario

FULL = """\
title: A title
cassette: x/y/z
policies: {history: merged, retry: once}
conversation:
  questions: [One?, Two?]
  prompt: tag-tools/v1
  system: Be kind.
  provider: ollama
  capabilities: {supports_tool_use: true, tool_id_pattern: "[a-z]+"}
  limits: {rounds: 3}
  tools:
    search: {result: null, delay_ms: 30}
    read_file:
    - {arguments: {path: a}, result: [1, 2.5, x]}
    - {error: gone}
  expect:
    ending: done
    answer: {contains: x}
    executed:
    - {tool: search}
    - {tool: read_file, arguments: {path: a}}
    parse_errors:
    - {name: search, snippet: que, mode: json_fallback}
    retries: 1
    requests:
    - {last_role: user, has_tools: false, says: Two}
    - {roles: [system, user], tools: [search], fields: {stream: true}}
    strategy: json_fallback
    probe: no_probe
""".replace("no_probe", '"no"')


def load(folder: Path, text: str) -> ConversationScript:
    path = folder / "one.yaml"
    path.write_text(text, encoding="utf-8")
    script = load_scenario(path, folder).conversation
    assert script is not None
    return script


def test_all_keys_of_a_conversation_file(tmp_path: Path) -> None:
    script = load(tmp_path, FULL)
    assert script.questions == ("One?", "Two?")
    assert (script.prompt, script.system, script.provider) == ("tag-tools/v1", "Be kind.", "ollama")
    assert script.capabilities == {"supports_tool_use": True, "tool_id_pattern": "[a-z]+"}
    assert script.limits == Limits(rounds=3)
    assert script.tools == {
        "search": (MockAnswer(None, delay_ms=30),),
        "read_file": (MockAnswer([1, 2.5, "x"], arguments={"path": "a"}), MockAnswer(error="gone")),
    }
    expect = script.expect
    assert expect.answer == ExpectedParts("x")
    executed = (ExpectedExecution("search"), ExpectedExecution("read_file", {"path": "a"}))
    assert expect.executed == executed
    assert expect.parse_errors == (ExpectedReport("search", "que", "json_fallback"),)
    assert (expect.retries, expect.request_count) == (1, 2)
    assert expect.requests == (
        ExpectedRequest(last_role="user", has_tools=False, says="Two"),
        ExpectedRequest(roles=("system", "user"), tools=("search",), fields={"stream": True}),
    )
    assert (expect.strategy, expect.probe) == ("json_fallback", "no")


def test_required_keys_of_a_conversation_file(tmp_path: Path) -> None:
    text = "title: t\ncassette: x\nconversation: {questions: [Hi], expect: {ending: empty}}\n"
    expect = load(tmp_path, text).expect
    assert (expect.executed, expect.parse_errors, expect.retries) == ((), 0, 0)
    assert (expect.request_count, expect.listed_requests, expect.probe) == (None, (), None)


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        ("ending: done", "ending: finished", "expect.ending: invalid enum value", "known: done"),
        ("last_role: user", "last_role: usr", "invalid enum value 'usr'", "mean 'user'"),
        ("ending: done", "endin: done", "conversation.expect: unknown key 'endin'", "'ending'"),
        ("questions: [One?, Two?]", "questions: []", "expected a list of length >= 1", ""),
        ("rounds: 3", "rounds: 0", "limits.rounds: expected an integer >= 1", ""),
        ("{tool: search}", "{tool: serch}", "executed[0].tool: conversation.tools has no", "mean"),
        ("{error: gone}", "{}", "tools.read_file[1]: expected either `result` or `error`", "null"),
        ("{error: gone}", "{error: x, result: y}", "expected either `result` or `error`", ""),
        ("{error: gone}", "{error: x}\n    empty: []", "tools.empty: the list is empty", ""),
        ("result: null", "result: .inf", "tools.search.result: inf is not a JSON value", "quotes"),
        (
            "prompt: tag-tools/v1",
            "prompt: tag-tool/v1",
            "there is no prompt",
            "mean 'tag-tools/v1'",
        ),
        ("supports_tool_use: true", "supports_tools: true", "there is no capability", "mean"),
        ("supports_tool_use: true", "supports_tool_use: 1", "tool_use: expected a boolean", ""),
        ('"[a-z]+"', '"["', "conversation.capabilities.tool_id_pattern: unterminated", ""),
        ("history: merged", "history: merge", "policies.history: there is no choice", "mean"),
        ("retry: once", "retrys: once", "policies: there is no policy 'retrys'", "mean 'retry'"),
        ("conversation:", "expect: [{finish: stop}]\nconversation:", "found both", ""),
        ("policies:", "text_dialect: react\npolicies:", "text_dialect: has no effect", ""),
        ("policies:", "capabilities: [x]\npolicies:", "capabilities: has no effect", "provider"),
        ("answer: {contains: x}", "answer: 17", "expect.answer: expected a string", "quotes"),
    ],
)
def test_a_mistake_in_a_conversation_file_is_reported_with_its_path(
    tmp_path: Path, old: str, new: str, said: str, hint: str
) -> None:
    assert old in FULL
    with pytest.raises(UnreadableError) as caught:
        load(tmp_path, FULL.replace(old, new, 1))
    assert said in caught.value.what
    assert hint in caught.value.hint


def test_a_scenario_has_either_expect_or_conversation(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="found neither"):
        load(tmp_path, "title: t\ncassette: x\n")
