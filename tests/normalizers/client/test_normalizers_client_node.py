"""The kit for Node, without any npm package: values of a provider never break the protocol."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.normalizers.client.lines import ClientTurn, Introduction, Reply
from harness.repro.code import DRIVERS

NODE = shutil.which("node")
KIT = Path(__file__).parents[3] / "clients/node/harness-client.mjs"
MODULES = (*KIT.parent.glob("*.mjs"), *DRIVERS.rglob("*.mjs"))
pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")

HELLO = {"type": "hello", "protocol": 1, "harness": "0"}
STOP = {"type": "stop"}


@pytest.mark.parametrize("driver", sorted(MODULES), ids=lambda it: it.name)
def test_a_driver_is_a_module_that_node_can_read(driver: Path) -> None:
    assert NODE is not None
    subprocess.run([NODE, "--check", driver], check=True, timeout=60)


def case(number: int) -> dict[str, Any]:
    return {"type": "case", "id": number, "dialect": "openai-chat", "base_url": "", "request": {}}


def answers(folder: Path, body: str, cases: int = 1) -> list[Reply]:
    """Return the answers of a driver whose function `readTurn` has this body."""
    driver = folder / "driver.mjs"
    driver.write_text(
        f"""import {{ failureOf, runClient, textOf }} from {json.dumps(str(KIT))};
        class Documented extends Error {{}}
        await runClient({{ name: "x" }}, async (test, turn) => {{ {body} }},
          (error) => error instanceof Documented);""",
        encoding="utf-8",
    )
    lines = [HELLO, *map(case, range(cases)), STOP]
    assert NODE is not None
    done = subprocess.run(
        [NODE, driver],
        input="\n".join(map(json.dumps, lines)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    decoder: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)
    return [decoder.decode(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("call", "arguments", "value"),
    [
        ('{ arguments: "{}" }', "{}", None),
        ("{}", "", None),
        ("{ arguments: undefined }", "", "null"),
        ("{ arguments: [] }", "", "[]"),
        ('{ value: "prose" }', "", '"prose"'),
        (
            "{ value: { a: Infinity, b: [NaN, 12n], c: undefined } }",
            "",
            '{"a":Infinity,"b":[NaN,12]}',
        ),
        ('{ arguments: "{", value: "{" }', "{", '"{"'),
    ],
)
def test_what_a_library_parsed_keeps_its_type(
    tmp_path: Path, call: str, arguments: str, value: str | None
) -> None:
    (found,) = turn_of(tmp_path, f"return {{ calls: [{call}] }};").calls
    assert (found.arguments, found.value) == (arguments, value)


def turn_of(folder: Path, body: str) -> ClientTurn:
    hello, turn = answers(folder, body)
    assert isinstance(hello, Introduction)
    assert isinstance(turn, ClientTurn)
    return turn


@pytest.mark.parametrize("value", ["null", "undefined", "7", "{a: 1}", "[]", "NaN", "'text'"])
def test_values_of_a_provider_fit_the_protocol(tmp_path: Path, value: str) -> None:
    turn = turn_of(
        tmp_path,
        f"""const it = {value};
        return {{ text: textOf(it), calls: [{{ id: it, name: it, arguments: it }}], finish: it,
                 usage: {{ input_tokens: it, output_tokens: -1 }} }};""",
    )
    text = "text" if value == "'text'" else ""
    assert (turn.text, turn.calls[0].id, turn.calls[0].name) == (text, text, text)
    assert turn.usage is not None
    assert turn.usage.input_tokens == (7 if value == "7" else None)
    assert turn.usage.output_tokens is None


@pytest.mark.parametrize(
    ("thrown", "expected"),
    [
        ("new Documented('Overloaded.')", ("Documented", True, "Overloaded.", "")),
        (
            "Object.assign(new Documented('x'), {status: 503})",
            ("Documented", True, "x", "http_503"),
        ),
        ("Object.assign(new Error('x'), {code: 7, status: 503})", ("Error", False, "x", "7")),
        ("new TypeError('x of null')", ("TypeError", False, "x of null", "")),
        ("{type: 'error', message: 'x'}", ("Object", False, "x", "error")),
        ("undefined", ("Error", False, "undefined", "")),
        ("'text'", ("String", False, "text", "")),
    ],
)
def test_an_exception_is_reported_with_what_came_before_it(
    tmp_path: Path, thrown: str, expected: tuple[str, bool, str, str]
) -> None:
    turn = turn_of(tmp_path, f"turn.text = 'before'; throw {thrown};")
    error = turn.error
    assert error is not None
    assert (error.type, error.documented, error.message, error.code) == expected
    assert turn.text == "before"


def test_what_a_library_prints_is_not_part_of_the_protocol(tmp_path: Path) -> None:
    found = answers(tmp_path, "console.log('debug'); return { text: String(test.id) };", cases=3)
    assert [it.text for it in found if isinstance(it, ClientTurn)] == ["0", "1", "2"]
