"""What the local models were asked, the recordings of it that ship, and their ranking's page."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from harness.cli.run import run_command
from harness.conversation.prompts import system_text
from harness.conversation.wording import Language
from harness.dialects.table import read_request
from harness.results.store import read_run
from harness.text_calls import TextPolicy, read_text_calls
from harness.turns.arguments import parse
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.messages import Message
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from scripts.local_models.asked import LANGUAGES, Toolbox, asked
from scripts.local_models.ways import WAYS, Way
from scripts.ranking_page import page

ROOT = Path(__file__).parents[1]
# Where a local server answered; a name or address of any other machine has no place here.
LOCAL = re.compile(r"http://127\.0\.0\.1:[0-9]+/v1/(chat/completions|responses|messages)")
SOURCE = re.compile(r"[a-z-]+ [0-9.]+.*; prompts\.yaml [a-z-]+, seed [0-9]+, temperature 0\.[28]")
# What a prompt's id has behind that of its way.
ADDED = re.compile(r"\+(talk|responses|messages|thinking)")
FEWEST = 30


def called(message: Message, way: Way, tools: tuple[Tool, ...]) -> list[tuple[str, str]]:
    """Return the calls that an example shows, as the way's own reader finds them in text."""
    if not message["content"]:
        functions = (call["function"] for call in message["tool_calls"])
        return [(function["name"], function["arguments"]) for function in functions]
    policy = TextPolicy(frozenset(way.prompt("en").text_dialects))
    deltas = (TextDelta(message["content"]), Finish(FinishReason.STOP))
    return [
        (it.name, it.arguments) for it in fold(read_text_calls(deltas, tools, policy)).tool_calls
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("way", [it for it in WAYS.values() if it.has_examples])
def test_examples_are_calls_that_fit(way: Way, language: Language) -> None:
    for toolbox in asked().toolboxes.values():
        tools = toolbox.offered(language)
        known = {tool.name: tool for tool in tools}
        turns = way.examples(toolbox, language)
        for question, answer, said in zip(turns[::2], turns[1::2], toolbox.examples, strict=True):
            assert question == {"role": "user", "content": said.ask[language]}
            ((name, arguments),) = called(answer, way, tools)
            value = parse(arguments).value
            assert (name, value) == (said.name, said.arguments[language])
            assert not misfit(name, value or {}, known, Checker())


def test_each_tool_returns_something_and_each_question_is_asked_in_both_languages() -> None:
    said = asked()
    boxes: list[Toolbox] = list(said.toolboxes.values())
    assert said.returns.keys() == {tool.name for box in boxes for tool in box.tools}
    asks = [it.ask for it in said.tasks.values()], [it.ask for it in said.conversations.values()]
    assert all(ask.keys() == set(LANGUAGES) for kind in asks for ask in kind)
    assert {it.toolbox for it in said.tasks.values()} == said.toolboxes.keys()


@cache
def recorded() -> tuple[Cassette, ...]:
    """Return the recordings that ship, which are those of the local models."""
    folders = ("llama-cpp", "llama-cpp-python", "litellm")
    paths = [path for name in folders for path in (ROOT / "cassettes" / name).rglob("*.yaml")]
    return tuple(load_cassette(path, ROOT / "cassettes") for path in sorted(paths))


def test_recordings_say_where_they_come_from_and_nothing_of_this_machine() -> None:
    for cassette in recorded():
        assert cassette.origin.kind == "recorded"
        assert SOURCE.fullmatch(cassette.origin.source)
        assert cassette.id.startswith(f"{cassette.provider}/{cassette.model}/")
        for each in cassette.interactions:
            assert LOCAL.fullmatch(each.request.uri)
            assert each.reads_kept
            assert b"/root" not in each.body + each.request.body
            assert b"/home" not in each.body + each.request.body


def test_a_client_that_left_a_recording_had_not_read_done() -> None:
    ends = [(it.ended, it.body) for cassette in recorded() for it in cassette.interactions]
    left = [body for ended, body in ends if ended == "aborted"]
    assert not [body for body in left if body.rstrip().endswith(b"data: [DONE]")]


def question_of(row: str, language: Language) -> tuple[str, str]:
    """Return the toolbox and the first question of a row of `prompts.yaml`."""
    said = asked()
    if row in said.tasks:
        return said.tasks[row].toolbox, said.tasks[row].ask[language]
    return said.conversations[row].toolbox, said.conversations[row].ask[language][0]


def test_recordings_hold_what_was_asked() -> None:
    for cassette in recorded():
        row = cassette.origin.source.split("prompts.yaml ")[1].split(",")[0]
        talk = cassette.prompt.endswith("+talk")
        assert talk == (row in asked().conversations)
        assert cassette.due == ("" if talk else asked().tasks[row].due)
        language: Language = "zh" if "-zh/" in cassette.prompt else "en"
        ways = {way.prompt_id(language): way for way in WAYS.values()}
        way = ways[ADDED.sub("", cassette.prompt)]
        toolbox, question = question_of(row, language)
        offered = asked().toolboxes[toolbox].offered(language)
        request = read_request(cassette.dialect, cassette.interactions[0].request)
        assert request.system == system_text(way.prompt(language), offered)
        assert question.replace('"', '\\"').encode() in cassette.interactions[0].request.body


def test_enough_recordings_ship() -> None:
    turns = Counter[tuple[str, str]]()
    for cassette in recorded():
        protocol = cassette.prompt.split("/")[0].removesuffix("-zh")
        turns[cassette.model, protocol] += len(cassette.interactions)
    assert turns.total() >= 300
    assert len({model for model, _ in turns}) >= 2
    assert len({protocol for _, protocol in turns}) >= 4
    assert min(turns.values()) >= FEWEST
    files = (ROOT / "cassettes" / f"{cassette.id}.yaml" for cassette in recorded())
    assert sum(file.stat().st_size for file in files) <= 9_500_000


def test_the_page_shows_each_model_and_prompt_of_its_run(tmp_path: Path) -> None:
    names = ("native-tools-en-weather-t02", "tag-tools-en-joke-t02")
    folder = ROOT / "cassettes/llama-cpp/smollm2-135m-instruct"
    words = [*(str(folder / f"{name}.yaml") for name in names), "-n", "reference"]
    words += ["--cuts", "quick", "--no-report", "-o", str(tmp_path)]
    run_command.main(words, standalone_mode=False)
    run = read_run(tmp_path / "run.jsonl")
    shown = page(run, ("2026-11-22", "2026-11-23"), 2)
    assert "Recorded 2026-11-22 to 2026-11-23: 2 cassettes, 2 turns." in shown
    for model, prompt in {(each.model, each.prompt) for each in run.results}:
        assert f"| {model} x {prompt.replace('_', chr(92) + '_')} |" in shown
