"""A script for maintainers runs without the harness, and exits with 1 only if the library fails."""

import ast
import base64
import builtins
import json
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.judging.judge import LoadedSubject, empty_result
from harness.peers.table import Peer, peers
from harness.repro.code import (
    Suffix,
    load_driver,
    reads_literal,
    reproducible_clients,
)
from harness.repro.script import repro_script
from harness.results.expectation import Expectation, ExpectedCall, ExpectedRejection
from harness.results.finding import Finding, Level
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import Finish, FinishReason, call_deltas
from harness.wire.cassette import Cassette, Origin
from harness.wire.cuts import each_byte

BODY = DIALECTS["openai-chat"].interaction(
    (
        *call_deltas(0, "call_a", "get_weather", '{"city": "Oslo"}'),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )
)
EXPECTED = Expectation(
    "scenario",
    calls=(ExpectedCall("get_weather", {"city": "Oslo"}, "call_a"),),
    finish=FinishReason.TOOL_CALLS,
    finish_raw="tool_calls",
)
# A library that returns what the file `turn.json` contains, after it has read the response.
LIBRARY = """
import contextlib, json, types, urllib.request
from pathlib import Path

class OpenAIError(Exception): pass
class LengthFinishReasonError(OpenAIError): pass
class ContentFilterFinishReasonError(OpenAIError): pass

def _object(value):
    return json.loads(json.dumps(value), object_hook=lambda it: types.SimpleNamespace(**it))

class OpenAI:
    current_completion_snapshot = types.SimpleNamespace(choices=[])
    def __init__(self, base_url, api_key, max_retries, http_client):
        self.chat = types.SimpleNamespace(completions=self)
        self.url = base_url
    @contextlib.contextmanager
    def stream(self, model, messages):
        body = urllib.request.urlopen(self.url, b"{}").read()
        Path(__file__).with_name("received").write_bytes(body)
        yield self
    def __iter__(self):
        return iter(())
    def get_final_completion(self):
        turn = json.loads(Path(__file__).with_name("turn.json").read_text())
        if isinstance(turn, str):
            raise {"documented": OpenAIError, "crash": KeyError}[turn](turn)
        return _object({"usage": None, "choices": [turn]})
"""
# The same in JavaScript.
NODE_LIBRARY = """
import { readFileSync, writeFileSync } from "node:fs";
const beside = (name) => new URL(name, import.meta.url);
class OpenAIError extends Error {}
export default class OpenAI {
  static OpenAIError = OpenAIError;
  constructor({ baseURL }) {
    const stream = () => ({ on() {}, finalChatCompletion: () => this.#read(baseURL) });
    this.chat = { completions: { stream } };
  }
  async #read(url) {
    const response = await fetch(url, { method: "POST", body: "{}" });
    writeFileSync(beside("received"), Buffer.from(await response.arrayBuffer()));
    const turn = JSON.parse(readFileSync(beside("turn.json"), "utf8"));
    if (turn === "documented") throw new OpenAIError(turn);
    if (turn === "crash") throw new TypeError(turn);
    return { choices: [turn] };
  }
}
"""


def result(rule: str, path: str, normalizer: str = "openai-sdk", level: Level = "MUST") -> Result:
    finding = Finding(rule, level, Outcome.LOST_CALL, path, "x", "y")
    subject = LoadedSubject(Cassette("c", (BODY,), Origin("emulated")))
    empty = empty_result(subject, normalizer)
    cuts = each_byte(BODY.body)
    return msgspec.structs.replace(empty, findings=(finding,), chunking=cuts)


def run(
    folder: Path,
    turn: object,
    expected: Expectation = EXPECTED,
    *,
    path: str = "turns[0].calls[0]",
    client: str = "openai-sdk",
) -> subprocess.CompletedProcess[str]:
    script = repro_script(result("CALLS-KEPT", path, client), BODY, expected, {})
    suffix = load_driver(client).suffix
    (folder / f"repro{suffix}").write_text(script, encoding="utf-8")
    (folder / "openai.py").write_text(LIBRARY, encoding="utf-8")
    package = folder / "node_modules" / "openai"
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.json").write_text('{"main": "index.mjs"}', encoding="utf-8")
    (package / "index.mjs").write_text(NODE_LIBRARY, encoding="utf-8")
    for place in (folder, package):
        (place / "turn.json").write_text(json.dumps(turn), encoding="utf-8")
    command = [sys.executable if suffix == ".py" else "node", f"repro{suffix}"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def choice(*calls: tuple[str, str, str], finish: str | None = "tool_calls") -> object:
    entries = [{"id": i, "function": {"name": n, "arguments": a}} for i, n, a in calls]
    message = {"content": None, "tool_calls": entries, "function_call": None, "refusal": None}
    return {"message": message, "finish_reason": finish}


OSLO = ("call_a", "get_weather", '{"city":"Oslo"}')


@pytest.mark.parametrize(
    ("client", "received"),
    [("openai-sdk", "received"), ("openai-node", "node_modules/openai/received")],
)
def test_the_script_sends_the_bytes_and_passes_if_the_library_is_right(
    tmp_path: Path, client: str, received: str
) -> None:
    done = run(tmp_path, choice(OSLO), client=client)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / received).read_bytes() == BODY.body


@pytest.mark.parametrize(
    ("turn", "path", "key"),
    [
        (choice(), "turns[0].calls[0]", "calls"),
        (choice(("call_a", "get_weather", '{"city": "Os')), "turns[0].calls[0]", "calls"),
        (choice(("call_b", *OSLO[1:])), "turns[0].calls[0].id", "ids"),
        (choice(OSLO, finish="stop"), "turns[0].finish.raw", "finish"),
        (choice(OSLO, finish="length"), "turns[0].finish", "reason"),
        ("documented", "turns[0].failure", "failed"),
        ("crash", "replay", "crash"),
    ],
)
@pytest.mark.parametrize("client", ["openai-sdk", "openai-node"])
def test_the_script_fails_if_the_library_is_wrong(
    tmp_path: Path, client: str, turn: object, path: str, key: str
) -> None:
    done = run(tmp_path, turn, path=path, client=client)
    assert done.returncode == 1
    assert f"WRONG  {key}\n" in done.stdout


def test_an_id_that_the_response_does_not_contain_may_be_any(tmp_path: Path) -> None:
    call = msgspec.structs.replace(EXPECTED.calls[0], id=None)
    turn = msgspec.structs.replace(EXPECTED, calls=(call,))
    assert run(tmp_path, choice(OSLO), turn, path="turns[0].calls[0].id").returncode == 0
    nameless = choice(("", *OSLO[1:]))
    assert run(tmp_path, nameless, turn, path="turns[0].calls[0].id").returncode == 1


def test_a_documented_exception_is_right_for_a_turn_that_must_fail(tmp_path: Path) -> None:
    expected = Expectation("scenario", failure="interrupted")
    assert run(tmp_path, "documented", expected, path="turns[0].failure").returncode == 0
    assert run(tmp_path, choice(OSLO), expected).returncode == 1


# A script shows one response, and an agent fails in a conversation.
OF_TURNS = [peer for peer in peers().values() if peer.kind == "normalizer"]


def test_each_peer_of_turns_has_a_script_and_each_script_is_of_one() -> None:
    assert set(reproducible_clients()) == {peer.name for peer in OF_TURNS}


@pytest.mark.parametrize("peer", OF_TURNS, ids=attrgetter("name"))
def test_each_script_is_valid_in_its_language(peer: Peer, tmp_path: Path) -> None:
    """What it uses is defined in it, so that it needs nothing but the library."""
    script = repro_script(result("CALLS-KEPT", "turns[0].calls[0]", peer.name), BODY, EXPECTED, {})
    file = tmp_path / f"script{load_driver(peer.name).suffix}"
    file.write_text(script, encoding="utf-8")
    if peer.language == "python":
        assert undefined_names(script) == set()
    else:
        check = ["node", "--check", str(file)]
        done = subprocess.run(check, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert "harness" not in script.replace(result("", "").cassette, "")
    assert "shared" not in load_driver(peer.name).imports


def undefined_names(script: str) -> set[str]:
    """Return the names that a module reads and neither defines nor imports."""
    nodes = list(ast.walk(ast.parse(script)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.name for node in nodes if isinstance(node, ast.AsyncFunctionDef)}
    bound |= {node.name or "" for node in nodes if isinstance(node, ast.ExceptHandler)}
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    bound |= {(it.asname or it.name).partition(".")[0] for node in imports for it in node.names}
    return {node.id for node in names} - bound - {"__name__"} - set(dir(builtins))


def test_a_result_that_is_right_in_another_reading_is_right(tmp_path: Path) -> None:
    other = msgspec.structs.replace(EXPECTED, calls=())
    both = msgspec.structs.replace(EXPECTED, alternatives=(other,))
    assert run(tmp_path, choice(), both).returncode == 0
    assert run(tmp_path, choice(), EXPECTED).returncode == 1
    may_fail = msgspec.structs.replace(EXPECTED, may_fail=True)
    assert run(tmp_path, "documented", may_fail).returncode == 0
    assert run(tmp_path, "crash", may_fail).returncode == 1


def test_a_call_that_cannot_be_used_must_be_reported(tmp_path: Path) -> None:
    rejection = ExpectedRejection("get_weather")
    broken = Expectation("scenario", rejected=(rejection,), finish=FinishReason.TOOL_CALLS)
    path = "turns[0].parse_errors[0]"
    assert run(tmp_path, choice(("call_a", "get_weather", "{")), broken, path=path).returncode == 0
    for calls in ((), (OSLO,), (OSLO, ("call_b", "get_weather", "{"))):
        assert run(tmp_path, choice(*calls), broken, path=path).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"n": 12345678901234567890}', '{"n": 12345678901234567891}'),
        ('{"n": 1}', '{"n": true}'),
        ('{"n": 1}', '{"n": "1"}'),
        ('{"n": {"a": 1}}', '{"n": {"a": 1, "b": 2}}'),
    ],
)
@pytest.mark.parametrize("client", ["openai-sdk", "openai-node"])
def test_other_values_are_wrong_and_another_order_of_keys_is_right(
    tmp_path: Path, client: str, arguments: str, given: str
) -> None:
    call = ExpectedCall("get_weather", json.loads(arguments), "call_a", arguments)
    turn = msgspec.structs.replace(EXPECTED, calls=(call,))
    assert run(tmp_path, choice((*OSLO[:2], given)), turn, client=client).returncode == 1
    value = json.loads(arguments) | {"a": "é"}
    both = [json.dumps(value), json.dumps(dict(reversed(value.items())), ensure_ascii=False)]
    ordered = msgspec.structs.replace(call, arguments=value, arguments_text=both[0])
    turn = msgspec.structs.replace(EXPECTED, calls=(ordered,))
    assert run(tmp_path, choice((*OSLO[:2], both[1])), turn, client=client).returncode == 0


def test_what_is_not_judged_is_not_compared() -> None:
    failing = result("CALLS-KEPT", "turns[0].calls[0]")
    unjudged = msgspec.structs.replace(EXPECTED, judged=frozenset(("text",)))
    with pytest.raises(UsageError, match="the response does not define"):
        repro_script(failing, BODY, unjudged, {})
    failed = Expectation("scenario", failure="interrupted")
    with pytest.raises(UsageError, match="before a failure"):
        repro_script(result("TEXT-EXACT", "turns[0].text"), BODY, failed, {})
    for found in (
        result("USAGE-KEPT", "turns[0].usage"),
        result("CALLS-KEPT", "turns[0].calls[0]", level="SHOULD"),
    ):
        with pytest.raises(UsageError):
            repro_script(found, BODY, EXPECTED, {})


@given(st.lists(st.binary()), st.sampled_from((".py", ".mjs")))
@example([b'data: {"text": "\xe2\x80\xa8\\"}\n\n', b"\xff\n"], ".mjs")
def test_the_reads_have_the_bytes(reads: list[bytes], suffix: Suffix) -> None:
    code = reads_literal(reads, suffix)
    if suffix == ".py":
        assert ast.literal_eval(f"[{code}]") == list(filter(None, reads))
    else:
        lines = filter(None, code.split("\n"))
        texts = (line.strip(" ").removesuffix(",").removesuffix(" +") for line in lines)
        pieces = [
            base64.b64decode(text.split('"')[1])
            if text.startswith("Buffer")
            else json.loads(text).encode()
            for text in texts
        ]
        assert b"".join(pieces) == b"".join(reads)


def test_a_client_without_a_script_is_named() -> None:
    with pytest.raises(UsageError, match="there is no script for the client 'openai-sd'") as raised:
        repro_script(result("CALLS-KEPT", "replay", "openai-sd"), BODY, EXPECTED, {})
    assert "openai-sdk" in raised.value.hint
