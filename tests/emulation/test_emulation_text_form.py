"""Recipes whose calls are written in the model's text, from those with native calls."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.emulation.cassette import emulate
from harness.emulation.recipe import Recipe
from harness.emulation.recipe_file import load_recipe
from harness.errors import UnreadableError
from harness.normalizers import reference, seed_systems
from harness.normalizers.protocol import Normalize
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette

CALL = {"id": "c1", "name": "get_weather", "arguments": '{"city": "Oslo"}'}
BROKEN = {"id": "c2", "name": "get_weather", "arguments": '{"city": '}
FINISH = {"finish": "tool_calls"}
ANSWER = {"deltas": [{"text": "Cold."}, {"finish": "stop"}]}
TOOL = {"name": "get_weather", "parameters": {"type": "object"}}


def cassette(folder: Path, first: dict[str, Any], **form: Any) -> Cassette:  # noqa: ANN401 - of a file
    """Return the cassette of `first` and an answer, in the form `form`."""
    base = {
        "title": "One",
        "cassette": "compatible/any/one",
        "conversation": {"questions": ["Oslo?"], "expect": {"ending": "done"}},
        "emulate": {"question": "Oslo?", "tools": ["get_weather"], "responses": [first, ANSWER]},
    }
    if not form:
        del base["emulate"]
    name = "ollama/any/two" if form.get("dialect") else "volcengine/any/two"
    emulated = form or {"prompt": "tag-tools/v1"}
    text = {"title": "Two", "cassette": name, "conversation": "one", "emulate": emulated}
    (folder / "tools").mkdir()
    for path, value in (("one", base), ("two", text), ("tools/get_weather", TOOL)):
        (folder / f"{path}.yaml").write_text(yaml.safe_dump(value), "utf-8")
    found = load_recipe(folder / "two.yaml", folder)
    assert isinstance(found, Recipe)
    return emulate(found)


def turn(cassette: Cassette, normalize: Normalize) -> Turn:
    first = cassette.interactions[0]
    return fold(normalize(first, iter([first.body])))


@pytest.mark.parametrize(
    ("form", "normalize"),
    [
        ({"prompt": "tag-tools/v1"}, seed_systems.tag_extract.normalize),
        ({"prompt": "tag-tools/v1", "dialect": "ollama"}, seed_systems.tag_extract.normalize),
        ({"prompt": "action-protocol/v1"}, seed_systems.action_protocol.normalize),
    ],
)
def test_calls_become_text_in_the_notation_of_the_prompt(
    form: dict[str, Any], normalize: Normalize, tmp_path: Path
) -> None:
    sent = {"tool_results": {"c1": "4 degrees", "c2": "rain"}}
    given = {"deltas": [{"call": CALL}, {"call": CALL}, FINISH], "next": sent}
    made = cassette(tmp_path, given, **form)
    found = turn(made, normalize)
    assert [(it.name, it.arguments) for it in found.tool_calls] == [
        ("get_weather", '{"city": "Oslo"}')
    ] * 2
    assert not found.text
    assert b'tool_calls":[{' not in made.interactions[0].body.replace(b" ", b"")
    body = yaml.safe_load(made.interactions[1].request.body)
    assert [message["role"] for message in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert body["messages"][-1]["content"] == "4 degrees\n\nrain"
    assert "tools" not in body
    assert made.prompt == form["prompt"]


def test_reasoning_is_its_own_field_or_part_of_the_action(tmp_path: Path) -> None:
    given = {"deltas": [{"reasoning": "Think."}, {"call": CALL}, FINISH], "next": {"user": "x"}}
    for prompt, normalize in (
        ("tag-tools/v1", seed_systems.tag_extract.normalize),
        ("action-protocol/v1", seed_systems.action_protocol.normalize),
    ):
        folder = tmp_path / prompt.replace("/", "-")
        folder.mkdir()
        found = turn(cassette(folder, given, prompt=prompt), normalize)
        assert (found.reasoning, len(found.tool_calls)) == ("Think.", 1)


def test_broken_arguments_stay_broken(tmp_path: Path) -> None:
    given = {"deltas": [{"call": BROKEN}, FINISH], "next": {"user": "x"}}
    made = cassette(tmp_path, given, prompt="tag-tools/v1")
    found = turn(made, seed_systems.tag_extract.normalize)
    assert (len(found.tool_calls), len(found.parse_errors)) == (0, 1)


def test_truncated_turn_keeps_its_finish(tmp_path: Path) -> None:
    given = {"deltas": [{"text": "Co"}, {"finish": "length"}], "next": {"user": "x"}}
    found = turn(cassette(tmp_path, given, prompt="tag-tools/v1"), reference.normalize)
    assert found.finish is not None
    assert found.finish.reason == "length"


@pytest.mark.parametrize(
    "given",
    [
        {"raw": ["data: x"], "next": {"messages": [{"role": "user", "content": "x"}]}},
        {"deltas": [FINISH], "edits": [{"keep": 1}], "next": {"user": "x"}},
        {"deltas": [{"call_start": CALL}, FINISH], "next": {"user": "x"}},
    ],
)
def test_response_that_is_not_only_deltas_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"responses\[0\] of the other scenario"):
        cassette(tmp_path, given, prompt="tag-tools/v1")


def test_prompt_with_native_tools_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no prompt 'native-tools/v1' describes tools"):
        cassette(tmp_path, ANSWER, prompt="native-tools/v1")


def test_other_scenario_without_a_recipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="there is no recipe"):
        cassette(tmp_path, ANSWER)
