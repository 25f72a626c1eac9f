"""The key `conversation` of a scenario file: its values, and each mistake with its path."""

from pathlib import Path

import pytest

from harness.conversation.task import Limits
from harness.errors import UnreadableError
from harness.judging.conversations.expected_request import (
    CharacterCount,
    ExpectedMessages,
    ExpectedRequest,
    ExpectedText,
)
from harness.judging.conversations.script import (
    ConversationScript,
    ExpectedExecution,
    ExpectedReport,
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
    - system: {equals: You help., lacks: json, characters: {at_most: 9}}
      texts: {/messages/1/content: {counts: {a: 2}}}
      has_fields: {/a~1b/0: false}
    history: {last_role: user, texts: {/messages/0/content: x}}
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
    assert expect.answer == ExpectedText(contains="x")
    executed = (ExpectedExecution("search"), ExpectedExecution("read_file", {"path": "a"}))
    assert expect.executed == executed
    assert expect.parse_errors == (ExpectedReport("search", "que", "json_fallback"),)
    assert (expect.retries, expect.request_count) == (1, 3)
    assert expect.requests == (
        ExpectedRequest(last_role="user", has_tools=False, says="Two"),
        ExpectedRequest(roles=("system", "user"), tools=("search",), fields={"stream": True}),
        ExpectedRequest(
            system=ExpectedText("You help.", lacks="json", characters=CharacterCount(at_most=9)),
            texts={"/messages/1/content": ExpectedText(counts={"a": 2})},
            has_fields={"/a~1b/0": False},
        ),
    )
    assert (expect.strategy, expect.probe) == ("json_fallback", "no")
    assert expect.history == ExpectedMessages(last_role="user", texts={"/messages/0/content": "x"})


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
        ("ending: done", "endings: done", "conversation.expect: unknown key 'endings'", "'ending'"),
        ("questions: [One?, Two?]", "questions: []", "expected a list of length >= 1", ""),
        ("rounds: 3", "rounds: 0", "limits.rounds: expected an integer >= 1", ""),
        (
            "{tool: search}",
            "{tool: searches}",
            "executed[0].tool: conversation.tools has no",
            "mean",
        ),
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
        (
            "conversation:",
            "expect: [{finish: stop}]\nconversation:",
            "found expect and conversation",
            "",
        ),
        ("policies:", "text_dialect: react\npolicies:", "text_dialect: has no effect", ""),
        ("policies:", "capabilities: [x]\npolicies:", "capabilities: has no effect", "provider"),
        ("/messages/1/content:", "messages/1:", "[2].texts: 'messages/1' is not a JSON", "~1 for"),
        (
            "/messages/0/content: x",
            "messages/0: x",
            "expect.history.texts: 'messages/0' is not",
            "",
        ),
        ("/a~1b/0", "/a~b", "[2].has_fields: '/a~b' is not a JSON pointer", "/messages/0"),
        ("{stream: true}", "{/a/~: 1}", "[1].fields: '/a/~' is not a JSON pointer", "~0 for ~"),
        ("{counts: {a: 2}}", "{count: {a: 2}}", "unknown key 'count'", "'counts'"),
        ("{counts: {a: 2}}", "{counts: {a: -1}}", "expected an integer >= 0", ""),
        ("{counts: {a: 2}}", "{}", "a text without an expectation", "Use `equals`"),
        ("{at_most: 9}", "{most: 9}", "characters: unknown key 'most'", "at_most"),
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
    with pytest.raises(UnreadableError, match="expected one of expect, conversation, timing"):
        load(tmp_path, "title: t\ncassette: x\n")


def test_conversation_of_another_scenario_is_expected_in_text(tmp_path: Path) -> None:
    native = """
title: One
cassette: a/b/c
policies: {history: merged, retry: once}
conversation:
  questions: [One?]
  tools:
    search: {result: 1}
  expect:
    ending: done
    parse_errors:
    - {name: search, snippet: que, mode: tool_use}
    history: {last_role: tool}
    requests:
    - {roles: [system, user], has_tools: true, tools: [search], fields: {stream: true}}
    - {roles: [system, user, assistant, tool, tool, user, assistant, assistant], says: "1"}
    - {last_role: tool, says: {equals: "1", contains: "1"}, system: x, texts: {/a: x}}
    strategy: tool_use
"""
    (tmp_path / "native.yaml").write_text(native, encoding="utf-8")
    path = tmp_path / "one.yaml"
    path.write_text("title: Two\ncassette: a/b/d\nconversation: native\n", encoding="utf-8")
    scenario = load_scenario(path, tmp_path)
    assert (scenario.title, scenario.cassette) == ("Two", "a/b/d")
    assert scenario.policies == {"retry": "once"}
    script = scenario.conversation
    assert script is not None
    assert script.questions == ("One?",)
    assert script.tools == {"search": (MockAnswer(1),)}
    assert (script.expect.strategy, script.expect.history) == (None, None)
    assert script.expect.parse_errors == (ExpectedReport("search", "que"),)
    assert script.expect.requests == (
        ExpectedRequest(roles=("system", "user"), has_tools=False),
        ExpectedRequest(
            roles=("system", "user", "assistant", "user", "assistant", "assistant"),
            says="1",
            has_tools=False,
        ),
        ExpectedRequest(last_role="user", says="1", has_tools=False),
    )


@pytest.mark.parametrize(
    ("other", "expected"),
    [("gone", "there is no scenario 'gone'"), ("turns", "does not contain a conversation")],
)
def test_conversation_of_no_other_scenario_is_refused(
    other: str, expected: str, tmp_path: Path
) -> None:
    turns = "title: T\ncassette: a/b/c\nexpect: [{finish: stop}]\n"
    (tmp_path / "turns.yaml").write_text(turns, encoding="utf-8")
    with pytest.raises(UnreadableError, match=expected):
        load(tmp_path, f"title: Two\ncassette: a/b/d\nconversation: {other}\n")
