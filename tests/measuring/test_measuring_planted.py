"""2,000 synthetic turns of three logs: each planted fault is found, at its place, and no other."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli import cli
from harness.measuring.parquet import database

TURNS = 2_000
SPANS_IN_A_LINE = 50
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
PROMPTS = ("You are a guide.", "You are a poet.", "You are a judge.")
# Arguments, text -> the kind of failure, as its signature begins.
GOOD = ('{"a": 1}', None, "")
FAULTS = (
    ('{"a": ', None, "parse error · the end of the text"),
    ('{"a": 1}{"a": 2}', None, "parse error · objects in a row"),
    ('{"a": "x"}', None, "unusable call"),
    (None, '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', "lost call"),
)


def plan(number: int) -> tuple[str, str, tuple[str | None, str | None, str]]:
    """Return the model, the prompt and the answer of a turn."""
    fault = FAULTS[number // 7 % len(FAULTS)] if number % 7 == 0 else GOOD
    return f"m{number % 4}", PROMPTS[number % 3], fault


def message(number: int) -> dict[str, Any]:
    arguments, text, _ = plan(number)[2]
    call = {"id": f"c{number}", "type": "function", "function": {"name": "f"}}
    call["function"] = {"name": "f", "arguments": arguments}
    calls = {"tool_calls": [call]} if arguments is not None else {}
    return {"role": "assistant", "content": text, **calls}


def asked(number: int) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": plan(number)[1]},
        {"role": "user", "content": f"question {number}"},
    ]


def litellm(number: int) -> dict[str, Any]:
    choice = {"index": 0, "message": message(number), "finish_reason": "stop"}
    return {
        "id": f"id-{number}",
        "call_type": "acompletion",
        "status": "success",
        "model": plan(number)[0],
        "response": {"object": "chat.completion", "id": f"{number}", "choices": [choice]},
        "messages": asked(number),
        "model_parameters": {"tools": [{"type": "function", "function": TOOL}]},
    }


def langfuse(number: int) -> dict[str, Any]:
    return {
        "id": f"id-{number}",
        "type": "GENERATION",
        "trace_id": "t",
        "provided_model_name": plan(number)[0],
        "input": {"messages": asked(number), "tools": [{"type": "function", "function": TOOL}]},
        "output": message(number),
    }


def span(number: int) -> dict[str, Any]:
    model, prompt, (arguments, text, _) = plan(number)
    part = {"type": "tool_call", "id": f"c{number}", "name": "f", "arguments": arguments}
    if arguments is None:
        part = {"type": "text", "content": text}
    user = {"type": "text", "content": f"question {number}"}
    attributes = {
        "request.model": model,
        "system_instructions": [{"type": "text", "content": prompt}],
        "input.messages": [{"role": "user", "parts": [user]}],
        "output.messages": [{"role": "assistant", "parts": [part], "finish_reason": "stop"}],
        "tool.definitions": [TOOL],
    }
    return {
        "spanId": f"id-{number}",
        "attributes": [
            {
                "key": f"gen_ai.{key}",
                "value": {"stringValue": it if isinstance(it, str) else json.dumps(it)},
            }
            for key, it in attributes.items()
        ],
    }


def write_logs(folder: Path) -> None:
    """Write a third of the turns to each log; a line of spans has fifty of them."""
    folder.mkdir()
    numbers = range(TURNS)
    lines = {"litellm": map(litellm, numbers[::3]), "langfuse": map(langfuse, numbers[1::3])}
    for name, records in lines.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(it)}\n" for it in records))
    spans = [span(number) for number in numbers[2::3]]
    with (folder / "otlp.jsonl").open("w") as file:
        for start in range(0, len(spans), SPANS_IN_A_LINE):
            scope = {"spans": spans[start : start + SPANS_IN_A_LINE]}
            print(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}), file=file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("planted")
    write_logs(root / "logs")
    words = ["measure", str(root / "logs"), "-o", str(root / "out"), "-j", "1"]
    left = CliRunner().invoke(cli, words)
    assert left.exit_code == 0, left.output
    return root / "out"


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    files = str(folder / "turns-*.parquet")
    return database().execute(sql.format(f"read_parquet('{files}')")).fetchall()


def test_each_planted_fault_is_found_at_its_place_and_no_other(folder: Path) -> None:
    found = {
        record.removeprefix("span "): signature
        for record, signature in rows(folder, "SELECT record, signature FROM {} WHERE NOT success")
    }
    planted = {f"id-{n}": plan(n)[2][2] for n in range(TURNS) if plan(n)[2] != GOOD}
    assert found.keys() == planted.keys()
    assert all(found[name].startswith(kind) for name, kind in planted.items())


def test_rates_by_model_and_prompt_are_exact(folder: Path) -> None:
    total = Counter(plan(n)[:2] for n in range(TURNS))
    good = Counter(plan(n)[:2] for n in range(TURNS) if plan(n)[2] == GOOD)
    sql = "SELECT model, prompt, count(*), count(*) FILTER (success) FROM {} GROUP BY 1, 2"
    found = {(model, prompt): (n, k) for model, prompt, n, k in rows(folder, sql)}
    assert len(found) == len(total)
    assert sorted(found.values()) == sorted((total[key], good[key]) for key in total)
    assert len({prompt for _, prompt in found}) == len(PROMPTS)


def test_signatures_are_counted_exactly(folder: Path) -> None:
    signatures = json.loads((folder / "measured.json").read_text())["signatures"]
    planted = Counter(plan(n)[2][2] for n in range(TURNS) if plan(n)[2] != GOOD)
    found: Counter[str] = Counter()
    for each in signatures:
        (kind,) = [kind for kind in planted if each["signature"].startswith(kind)]
        found[kind] += each["n"]
        assert all(len(sample) == 4 and "id-" in sample[3] for sample in each["samples"])
    assert found == planted
