"""Recipes: a key, option, edit or name that nobody knows is refused, with its place and a hint."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import shipped
from harness.emulation.recipe import ByHand, Recipe
from harness.emulation.recipe_file import load_recipe
from harness.emulation.writing import is_stale, iter_problems, load_recipes
from harness.errors import HarnessError, UnreadableError

SCENARIOS = shipped.bundled_folder("scenarios")
CALL = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
TURN = [{"call": CALL}, {"finish": "tool_calls"}]


def write(folder: Path, emulate: object, name: str = "one") -> Path:
    path = folder / f"{name}.yaml"
    scenario = {"title": "One", "cassette": "compatible/any/one", "emulate": emulate}
    path.write_text(yaml.safe_dump(scenario, sort_keys=False, allow_unicode=True), "utf-8")
    return path


def recipe(*responses: dict[str, Any], **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - of a recipe
    return {"question": "Oslo?", "tools": ["get_weather"], **keys, "responses": list(responses)}


def refusal(folder: Path, emulate: object) -> str:
    path = write(folder, emulate)
    with pytest.raises(HarnessError) as refused:
        is_stale(load_recipes([path], SCENARIOS)[0], folder)
    assert str(path) in refused.value.where
    return str(refused.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("emulate", "expected"),
    [
        (recipe({"deltas": TURN}, questions="x"), ("unknown key 'questions'", "'question'")),
        (
            recipe({"deltas": [{"cal": CALL}]}),
            ("emulate.responses[0].deltas[0]: unknown key 'cal'", "did you mean 'call'"),
        ),
        (
            recipe({"deltas": TURN, "edits": [{"cut_aftr": "x"}]}),
            ("emulate.responses[0].edits[0]: unknown key 'cut_aftr'", "did you mean 'cut_after'"),
        ),
        (
            recipe({"deltas": TURN, "writer": {"later_idd": "empty"}}),
            ("responses[0].writer", "no option 'later_idd'", "did you mean 'later_id'"),
        ),
        (
            recipe({"deltas": TURN, "writer": {"later_id": "gone"}}),
            ("responses[0].writer", "later_id cannot be 'gone'", "absent, empty, null"),
        ),
        (
            recipe({"deltas": TURN, "writer": {"bom": "yes"}}),
            ("bom cannot be 'yes'", "Expected true or false"),
        ),
        (recipe({"deltas": TURN}, dialect="openai-cat"), ("emulate.dialect", "'openai-chat'")),
        (recipe({"deltas": TURN}, variant="v1"), ("emulate.variant", "no variants")),
        (
            recipe({"deltas": TURN}, dialect="cohere", variant="v3"),
            ("cohere has no variant 'v3'", "v1"),
        ),
        (recipe({"deltas": TURN}, prompt="native-tool/v1"), ("emulate.prompt", "native-tools/v1")),
        (recipe({"deltas": TURN}, tools=["get_wether"]), ("no tool file 'get_wether'",)),
        (
            recipe({"deltas": TURN, "raw": ["x"]}),
            ("emulate.responses[0]: expected either `deltas` or `raw`, found both",),
        ),
        (recipe({}), ("emulate.responses[0]", "found neither")),
        (recipe(), ("emulate.responses", "length >= 1")),
        (
            recipe({"raw": ["x"], "writer": {"bom": True}}),
            ("emulate.responses[0].writer", "remove the key"),
        ),
        (
            recipe({"deltas": [{"text": "a", "finish": "stop"}]}),
            ("emulate.responses[0].deltas[0]: expected one key, found text and finish",),
        ),
        (
            recipe({"raw": [{"json": 1, "line": 2}]}),
            ("emulate.responses[0].raw[0]: expected one key, found json and line",),
        ),
        (
            recipe({"deltas": TURN, "edits": [{"append": ["x", {}]}]}),
            ("emulate.responses[0].edits[0].append[1]: expected one key, found none",),
        ),
        (
            recipe({"deltas": TURN, "next": {"user": "Thanks."}}),
            ("emulate.responses[0].next: no response follows",),
        ),
        (
            recipe({"deltas": TURN, "next": {}}, {"deltas": TURN}),
            ("emulate.responses[0].next: expected either `messages`",),
        ),
        (
            recipe({"raw": ["x"], "next": {"user": "Thanks."}}, {"deltas": TURN}),
            ("emulate.responses[0].next", "give it as `messages`"),
        ),
        (
            recipe({"deltas": TURN, "edits": [{"swap": ["nowhere", ""]}]}),
            ("emulate.responses[0].edits[0]: no event contains 'nowhere'",),
        ),
        (
            recipe({"deltas": TURN, "edits": [{"cut_in": {"event": 99, "bytes": 1}}]}),
            ("emulate.responses[0].edits[0]", "no event 99"),
        ),
        (
            recipe({"deltas": TURN, "edits": [{"flip_bit": {"event": 0, "byte": 9999}}]}),
            ("no byte 9999",),
        ),
        ("by-hands", ("emulate",)),
    ],
)
def test_recipe_is_refused_with_place_and_hint(
    tmp_path: Path, emulate: object, expected: tuple[str, ...]
) -> None:
    refused = refusal(tmp_path, emulate)
    assert [part for part in expected if part not in refused] == [], refused


def test_unknown_provider_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, recipe({"deltas": TURN}))
    path.write_text(path.read_text().replace("compatible/any", "acme/any"))
    with pytest.raises(UnreadableError, match="provider 'acme'"):
        is_stale(load_recipes([path], SCENARIOS)[0], tmp_path)


def test_writer_refuses_deltas_that_its_api_cannot_express(tmp_path: Path) -> None:
    path = write(tmp_path, recipe({"deltas": TURN}, dialect="tgi"))
    path.write_text(path.read_text().replace("compatible/any", "huggingface/any"))
    with pytest.raises(UnreadableError, match=r"emulate.responses\[0\].deltas: "):
        is_stale(load_recipes([path], SCENARIOS)[0], tmp_path)


def test_scenario_without_the_key_has_no_recipe(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("title: What to emulate\ncassette: a/b/c\n")
    assert load_recipe(path, tmp_path) is None


def test_cassette_kept_by_hand_is_stale_only_if_missing(tmp_path: Path) -> None:
    found = load_recipe(write(tmp_path, "by-hand"), tmp_path)
    assert isinstance(found, ByHand)
    assert is_stale(found, tmp_path)
    (tmp_path / "compatible/any").mkdir(parents=True)
    (tmp_path / "compatible/any/one.yaml").write_text("anything")
    assert not is_stale(found, tmp_path)


def test_cassette_emulated_by_two_scenarios_is_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path, recipe({"deltas": TURN}), name) for name in ("one", "two")]
    with pytest.raises(UnreadableError, match="emulated twice") as refused:
        load_recipes(paths, SCENARIOS)
    assert str(paths[1]) in refused.value.where
    assert str(paths[0]) in refused.value.hint
    cassettes = tmp_path / "cassettes"
    problems = list(iter_problems(paths, SCENARIOS, cassettes))
    assert ["stale or missing" in problems[0], "emulated twice" in problems[1]] == [True, True]


def test_emulated_cassette_without_a_recipe_is_a_problem() -> None:
    found = SCENARIOS / "dashscope/split-chunks.yaml"
    problems = list(iter_problems([found], SCENARIOS, shipped.bundled_folder("cassettes")))
    assert not [line for line in problems if line.startswith("dashscope/qwen-plus/split-chunks:")]
    assert any("no scenario emulates it" in line for line in problems)


def test_defaults_of_a_call_follow_its_number(tmp_path: Path) -> None:
    found = load_recipe(write(tmp_path, recipe({"deltas": TURN})), SCENARIOS)
    assert isinstance(found, Recipe)
    assert (found.file.dialect, found.file.prompt) == ("openai-chat", "native-tools/v1")


@pytest.mark.parametrize(
    ("tools", "name", "declared"),
    [
        (["get_weather"], "get_weather", ["get_weather", "get_time"]),
        (["get_time"], "get_time", ["get_time", "list_files"]),
        (["get_weather"], "get_weatherget_time", ["get_weather", "list_files"]),
        (["get_weather", "ping"], "get_weather", ["get_weather", "ping"]),
        ([], "get_weather", []),
    ],
)
def test_a_request_declares_a_tool_that_no_response_calls(
    tmp_path: Path, tools: list[str], name: str, declared: list[str]
) -> None:
    turn = [{"call": {**CALL, "name": name}}, {"finish": "tool_calls"}]
    found = load_recipe(write(tmp_path, recipe({"deltas": turn}, tools=tools)), SCENARIOS)
    assert isinstance(found, Recipe)
    assert [each.name for each in found.tools] == declared


def test_the_requests_of_a_conversation_have_the_tools_of_its_task(tmp_path: Path) -> None:
    path = write(tmp_path, recipe({"deltas": TURN}))
    path.write_text(path.read_text("utf-8") + "conversation: {questions: [Oslo?]}\n", "utf-8")
    found = load_recipe(path, SCENARIOS)
    assert isinstance(found, Recipe)
    assert [each.name for each in found.tools] == ["get_weather"]
