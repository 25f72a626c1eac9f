"""Prompts: ids that stay, texts that tell of every tool, and one example that no tool answers."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.prompts import (
    DEFAULT_PROMPT,
    PROMPTS,
    find_prompt,
    newest_prompt,
    system_text,
)
from harness.errors import UsageError
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool

LIST = Tool("schema.list_tables", "List the tables.", {"type": "object", "properties": {}})
TIME = Tool("get_time", "Tell the time.")
TAUGHT = [prompt for prompt in PROMPTS.values() if prompt.describes_tools]

# The text of an id never changes, since cassettes say by it what their model was told. Another
# wording is another version.
DIGESTS = {
    "native-tools/v1": "6b90bb94f75a",
    "native-tools-zh/v1": "f990eb79d8ed",
    "native-tools/v2": "56d39a6733d2",
    "native-tools-zh/v2": "5bf55623723d",
    "tag-tools/v1": "7025e5c2ffe5",
    "tag-tools-zh/v1": "cb99748d07a7",
    "action-protocol/v1": "f1de99548d24",
    "action-protocol-zh/v1": "0d89a068c64e",
    "react/v1": "24861378ff72",
    "json-fallback/v1": "6ad47dcc3f39",
    "json-fallback-zh/v1": "cf2421bcf324",
}


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_the_text_of_an_id_stays(prompt_id: str) -> None:
    text = system_text(PROMPTS[prompt_id], (LIST, TIME))
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == DIGESTS[prompt_id]


@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_ids_name_protocol_language_and_version(prompt_id: str) -> None:
    prompt = PROMPTS[prompt_id]
    language = "" if prompt.language == "en" else f"-{prompt.language}"
    assert re.fullmatch(rf"{prompt.protocol}{language}/v[1-9][0-9]*", prompt_id)


@pytest.mark.parametrize("prompt", TAUGHT, ids=lambda prompt: prompt.id)
def test_a_taught_prompt_names_its_tools_and_its_text_dialects(prompt) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - of the table
    text = system_text(prompt, (LIST, TIME), "You know SQL.")
    assert text.startswith("You know SQL.\n\n")
    assert f"### {LIST.name}\n" in text
    assert f"### {TIME.name}\n" in text
    assert text.count("```") % 2 == 0
    assert prompt.text_dialects
    for name in prompt.text_dialects:
        assert all(word in text for word in TEXT_DIALECTS[name].taught_by)


@pytest.mark.parametrize("prompt", TAUGHT, ids=lambda prompt: prompt.id)
def test_without_tools_nothing_is_told_of_calls(prompt) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - of the table
    assert system_text(prompt, (), "You know SQL.") == "You know SQL."
    assert "tool" not in system_text(prompt, ())


@pytest.mark.parametrize("prompt", TAUGHT, ids=lambda prompt: prompt.id)
def test_a_model_that_repeats_the_example_calls_nothing(prompt) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - of the table
    text = system_text(prompt, (LIST, TIME))
    policy = TextPolicy(frozenset(prompt.text_dialects))
    for example in re.findall(r"```(?:json)?\n(.*?)\n```", text, re.DOTALL):
        deltas = (TextDelta(example), Finish(FinishReason.STOP))
        assert fold(read_text_calls(deltas, (LIST, TIME), policy)).tool_calls == ()


def test_the_examples_of_the_action_protocol_are_strict_json() -> None:
    text = system_text(PROMPTS["action-protocol/v1"], (TIME,))
    examples = [json.loads(it) for it in re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)]
    assert [example["action"] for example in examples] == ["tool_call", "finish"]


def test_native_tools_leave_the_tools_to_the_request() -> None:
    native = PROMPTS["native-tools/v1"]
    assert not native.describes_tools
    assert system_text(native, (LIST,)) == system_text(native, ())
    assert system_text(native, (LIST,), "You know SQL.").startswith("You know SQL.\n\n")


def test_newest_native_prompt_asks_for_parameters_and_no_json() -> None:
    assert newest_prompt("native-tools", "en").id == DEFAULT_PROMPT
    assert "write no JSON into your text" in system_text(PROMPTS[DEFAULT_PROMPT], ())
    chinese = newest_prompt("native-tools", "zh")
    assert "不要在正文里输出 JSON" in system_text(chinese, ())


def test_prompts_of_the_json_fallback_are_deprecated() -> None:
    deprecated = [it for it in PROMPTS.values() if it.deprecated]
    assert {it.protocol for it in deprecated} == {"json-fallback"}
    assert all(it.title.startswith("deprecated") for it in deprecated)


def test_an_unknown_id_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match="tag-tools/v1"):
        find_prompt("tag-tools/v0")


@given(st.text(max_size=40), st.text(max_size=40))
def test_braces_and_backslashes_of_a_tool_stay_as_they_are(description: str, base: str) -> None:
    tool = Tool("f", description)
    text = system_text(PROMPTS["tag-tools/v1"], (tool,), base)
    assert description.strip() in text
    assert text.startswith(base)


def test_the_documents_tell_of_every_prompt() -> None:
    text = (Path(__file__).parents[2] / "docs/reference/prompts.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\S+/v\d+)` \|", text, re.MULTILINE) == list(PROMPTS)
