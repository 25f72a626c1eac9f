"""Plant a secret in traffic, take the traffic in one of four ways, and look for it in every file.

The ways are recording, the proxy, the import of each container, and a run. The run replays a
recording with its secrets through a client that repeats all it gets, counts logged conversations,
and has a client that prints its environment.
"""

import base64
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import yaml
from click.testing import CliRunner

from harness.cli.audit import audit_command
from harness.cli.import_ import import_command
from harness.cli.record import record_command
from harness.conversation.history.jsonl import ConversationLabels, LoggedConversation, encode
from harness.errors import HarnessError
from harness.files.write import partial_path
from harness.normalizers.protocol import Normalizer
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import Recorder
from harness.recording.recorder.journal import Journal
from harness.reporting.page import render_page
from harness.results.conversation import Conversation, TurnMeta, TurnRecord
from harness.results.run import Header, Selection
from harness.results.store import RunWriter, read_run
from harness.runs import redaction
from harness.runs.judge_job import judge_job
from harness.runs.plan import Job
from harness.runs.selection import select_subjects
from harness.turns.deltas import Delta, TextDelta
from harness.turns.messages import assistant, user
from harness.turns.turn import Turn
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction, Request
from tests.attack.attack import Attack
from tests.attack.planted import (
    CREDENTIALS,
    END,
    IN_PATHS,
    PLACES,
    REPEATS,
    REPEATS_OF_SHORT,
    STREAMS,
    TEXTS,
    Plant,
    traces_in,
)
from tests.recording.paced_server import PacedServer
from tests.recording.recording_samples import flow, flows, trace

_KILLED = "killed.yaml"
_SECONDS = 10.0  # until a finished exchange is in the journal
_LINES = 2  # of a journal with one exchange


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# Containers


def _vcr_yaml(plant: Plant) -> bytes:
    sent = plant.request
    headers = {name: [value] for name, value in sent.headers}
    request = {"method": "POST", "uri": sent.uri, "headers": headers, "body": _text(sent.body)}
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {name: [value] for name, value in plant.headers},
        "body": {"string": _text(plant.response)},
    }
    return yaml.safe_dump({"interactions": [{"request": request, "response": response}]}).encode()


def _vcr_ruby(plant: Plant) -> bytes:
    sent = plant.request
    entry = {
        "request": {
            "method": "post",
            "uri": sent.uri,
            "body": {"encoding": "UTF-8", "string": _text(sent.body)},
            "headers": {name: [value] for name, value in sent.headers},
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {name: [value] for name, value in plant.headers},
            "body": {"encoding": "UTF-8", "string": _text(plant.response)},
        },
    }
    return yaml.safe_dump({"http_interactions": [entry], "recorded_with": "VCR 6.4.0"}).encode()


def _httpmock(plant: Plant) -> bytes:
    parts = urlsplit(plant.request.uri)
    when = {
        "path": f"{parts.path}?{parts.query}" if parts.query else parts.path,
        "method": "POST",
        "header": [{"name": name, "value": value} for name, value in plant.request.headers],
        "body": _text(plant.request.body),
    }
    then = {"status": 200, "body": _text(plant.response)}
    return yaml.safe_dump_all([{"when": when, "then": then}]).encode()


def _req_llm(plant: Plant) -> bytes:
    sent = plant.request
    request = {
        "method": "post",
        "url": sent.uri,
        "headers": {name: [value] for name, value in sent.headers},
        "body": {"b64": base64.b64encode(sent.body).decode()},
    }
    response = {"status": 200, "headers": dict(plant.headers)}
    chunks = [{"b64": base64.b64encode(plant.response).decode()}]
    return json.dumps({"request": request, "response": response, "chunks": chunks}).encode()


def _head(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = (first, *(f"{name}: {value}" for name, value in headers))
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def _httprr(plant: Plant) -> bytes:
    sent = _head(f"POST {plant.request.uri} HTTP/1.1", plant.request.headers) + plant.request.body
    answer = _head("HTTP/1.1 200 OK", plant.headers) + plant.response
    return b"httprr trace v1\n%d %d\n%s%s" % (len(sent), len(answer), sent, answer)


def _har(plant: Plant) -> bytes:
    pairs = [{"name": name, "value": value} for name, value in plant.request.headers]
    sent = {"text": _text(plant.request.body), "mimeType": "application/json"}
    entry = {
        "request": {"method": "POST", "url": plant.request.uri, "headers": pairs, "postData": sent},
        "response": {
            "status": 200,
            "headers": [{"name": name, "value": value} for name, value in plant.headers],
            "content": {"text": _text(plant.response), "mimeType": "text/event-stream"},
        },
    }
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


def _mitmproxy(plant: Plant) -> bytes:
    parts = urlsplit(plant.request.uri)
    made = flow(plant.response)
    made["request"] |= {
        "headers": tuple((name.encode(), value.encode()) for name, value in plant.request.headers),
        "content": plant.request.body,
        "path": f"{parts.path}?{parts.query}".rstrip("?").encode(),
    }
    return flows(made)


def _curl_trace(plant: Plant) -> bytes:
    return trace(b"%x\r\n%s\r\n0\r\n\r\n" % (len(plant.response), plant.response))


def _events(plant: Plant) -> list[object]:
    lines = plant.response.split(b"\n\n")
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]


def _lines(values: Iterable[object]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _gemini_cli(plant: Plant) -> bytes:
    text = json.dumps(_text(plant.response))
    chunk = {"candidates": [{"content": {"parts": [{"text": text}]}}]}
    return _lines([{"method": "generateContentStream", "response": [chunk]}])


def _chat_log(plant: Plant) -> bytes:
    sent = {"model": "m", "messages": [{"role": "user", "content": _text(plant.request.body)}]}
    message = {"role": "assistant", "content": _text(plant.response)}
    answer = {"object": "chat.completion", "model": "m", "choices": [{"message": message}]}
    return _lines([{"request": sent, "response": answer}])


WITH_REQUESTS: dict[str, Callable[[Plant], bytes]] = {
    "vcr-yaml": _vcr_yaml,
    "vcr-ruby": _vcr_ruby,
    "httpmock-yaml": _httpmock,
    "req_llm": _req_llm,
    "httprr": _httprr,
    "har": _har,
    "mitmproxy": _mitmproxy,
}
WITHOUT_REQUESTS: dict[str, Callable[[Plant], bytes]] = {
    "curl-trace": _curl_trace,
    "curl-output": lambda plant: _head("HTTP/1.1 200 OK", plant.headers) + plant.response,
    "jsonl-events": lambda plant: _lines(
        {"LastEventID": "", "Type": "", "Data": json.dumps(each)} for each in _events(plant)
    ),
    "chunk-list": lambda plant: _lines(_events(plant)),
    "raw-sse": lambda plant: plant.response,
    "gemini-cli": _gemini_cli,
    "chat-log": _chat_log,
}
# These containers have no host.
_WITHOUT_HOST = {"httpmock-yaml", "mitmproxy"}


# Ways in: each writes files below `out`, and returns what a user sees


def _record(plant: Plant, out: Path) -> str:
    with Recorder(out / "a.yaml", mode="all", allow_in_ci=True) as recorder:
        tape = recorder.record(plant.request)
        tape.head(200, plant.headers)
        for start in range(0, len(plant.response), 37):
            tape.add(plant.response[start : start + 37])
        tape.end("complete")
        _keep_journal(out)
    return ""


def _keep_journal(out: Path) -> None:
    """Copy what would be left of the exchange if the process were killed now."""
    journal = partial_path(out / "a.yaml")
    end = time.monotonic() + _SECONDS
    while not journal.exists() or journal.read_bytes().count(b"\n") < _LINES:
        if time.monotonic() > end:
            raise TimeoutError("the exchange is not in the journal")
        time.sleep(0.01)
    shutil.copyfile(journal, partial_path(out / _KILLED))


def _proxy(plant: Plant, out: Path) -> str:
    sent = plant.request
    parts = urlsplit(sent.uri)
    server = PacedServer([plant.response], gated=False, headers=["content-type: text/event-stream"])
    with (
        server.running(),
        Recorder(out / "a.yaml", mode="all", allow_in_ci=True) as recorder,
        RecordingProxy(recorder, server.url) as proxy,
    ):
        address = f"{proxy.base_url}{parts.path}?{parts.query}".rstrip("?")
        headers = [(name.encode(), value.encode()) for name, value in sent.headers]
        httpx.post(address, content=sent.body, headers=headers)
        _keep_journal(out)
    return ""


def _record_command(plant: Plant, out: Path) -> str:
    prompts = out.parent / "prompts.yaml"
    prompts.write_text("- {id: a, question: hi}\n")
    query = urlsplit(plant.request.uri).query
    headers = [f"--header={name}:{value}" for name, value in plant.request.headers]
    server = PacedServer([plant.response], gated=False, headers=["content-type: text/event-stream"])
    with server.running():
        address = f"{server.url}/v1/chat/completions?{query}".rstrip("?")
        words = [address, "--prompts", str(prompts), "--model", "m", *headers, "--allow-in-ci"]
        done = CliRunner().invoke(record_command, [*words, "-o", str(out)], standalone_mode=False)
    return done.output or f"nothing was imported: {done.exception}"


def _import(container: str, plant: Plant, out: Path) -> str:
    source = out.parent / "in" / "recording.x"
    source.parent.mkdir()
    source.write_bytes((WITH_REQUESTS | WITHOUT_REQUESTS)[container](plant))
    done = CliRunner().invoke(import_command, [str(source), "-o", str(out)], standalone_mode=False)
    if not any(out.rglob("*.*")):
        return f"{container}: nothing was imported: {done.output or done.exception}"
    return done.output


def _import_log(plant: Plant, out: Path) -> str:
    source = out.parent / "in" / "log.jsonl"
    source.parent.mkdir()
    source.write_bytes(_log(plant))
    done = CliRunner().invoke(import_command, [str(source), "-o", str(out)], standalone_mode=False)
    return done.output


def _log(plant: Plant) -> bytes:
    texts = (_text(plant.request.body), _text(plant.response))
    record = TurnRecord(Turn(text=texts[1]), TurnMeta("tool_use"))
    conversation = Conversation((user(texts[0]), assistant(texts[1])), (record,), "done", texts[1])
    return encode(LoggedConversation(ConversationLabels("a", "p", "m", "q"), conversation))


def _run(plant: Plant, out: Path) -> str:
    source = out.parent / "in" / "a.yaml"
    source.parent.mkdir()
    source.write_bytes(_vcr_yaml(plant))
    return _run_file(source, out)


def _run_log(plant: Plant, out: Path) -> str:
    source = out.parent / "in" / "log.jsonl"
    source.parent.mkdir()
    source.write_bytes(_log(plant))
    return _run_file(source, out)


_VARIABLE = "ATTACK_API_KEY"


def _run_environment(plant: Plant, out: Path) -> str:
    """Run the client with the secret in its environment instead of in its traffic."""
    redaction._of_environment.cache_clear()
    os.environ[_VARIABLE] = plant.secrets[0]
    try:
        return _run(Plant(Request(), END, plant.secrets), out)
    finally:
        del os.environ[_VARIABLE]
        redaction._of_environment.cache_clear()


def _run_file(source: Path, out: Path) -> str:
    path = out / "run.jsonl"
    with RunWriter(path) as writer:
        writer.header(Header(2, "0", (), Selection(), (), 1))
        for subject in select_subjects([source]):
            writer.add(*judge_job(Job(subject, f"{__name__}:ECHO"), "whole"))
        writer.finish()
    (out / "index.html").write_text(render_page(read_run(path)), encoding="utf-8")
    return ""


def _repeat_all(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Emit and raise everything that a client can know."""
    sent = interaction.request
    known = [*sent.headers, sent.uri, _text(sent.body), os.environ.get(_VARIABLE, "")]
    yield TextDelta(b"".join(reads).decode("utf-8", "replace"))
    yield TextDelta(json.dumps(known))
    raise ValueError(f"401: {known}")


ECHO = Normalizer("echo", _repeat_all)

# The attempts


class _Attempt(NamedTuple):
    """One combination; `repeat` is how a server repeats a credential, or a stream has a text."""

    way: str
    kind: str
    place: str
    repeat: str


_WAYS: dict[str, Callable[[Plant, Path], str]] = {
    "record": _record,
    "record URL": _record_command,
    "proxy": _proxy,
    **{f"import {name}": partial(_import, name) for name in (*WITH_REQUESTS, *WITHOUT_REQUESTS)},
    "import a conversation": _import_log,
    "run": _run,
    "run a conversation": _run_log,
    "run with a variable": _run_environment,
}
_WITH_CREDENTIALS = ("record", "proxy", "run", *(f"import {name}" for name in WITH_REQUESTS))
_OF_COMMAND = ("bearer", "x-api-key", "basic", "cookie", "key parameter", "code parameter")
_IN_REQUEST = "in the request"


def _credentials() -> Iterator[_Attempt]:
    """Yield the attempts with credentials of a request, which a server repeats."""
    ways = {way: tuple(PLACES) for way in _WITH_CREDENTIALS} | {"record URL": _OF_COMMAND}
    for way, places in ways.items():
        without_host = way == "proxy" or way.removeprefix("import ") in _WITHOUT_HOST
        for place, kind in product(places, CREDENTIALS):
            is_impossible = (place == "path" and kind not in IN_PATHS) or (
                # The containers of this attack have bodies as text.
                place == "compressed body" and way not in ("record", "proxy")
            )
            if not is_impossible and not (without_host and place == "user of the address"):
                repeats = REPEATS_OF_SHORT if kind == "short" else tuple(REPEATS)
                yield from (_Attempt(way, kind, place, repeat) for repeat in repeats)


def _texts() -> Iterator[_Attempt]:
    """Yield the attempts with texts whose form shows the secret."""
    ways = [way for way in _WAYS if way not in {"record URL", "run with a variable"}]
    yield from (_Attempt(way, *rest) for way, *rest in product(ways, TEXTS, ("",), STREAMS))
    asked = (way for way in ways if way.removeprefix("import ") not in WITHOUT_REQUESTS)
    yield from (_Attempt(way, kind, _IN_REQUEST, "") for way, kind in product(asked, TEXTS))


_FOUND = (
    *_credentials(),
    *_texts(),
    *(_Attempt("run with a variable", kind, "", "") for kind in ("opaque", "with a prefix")),
)
# Mixed, so that the first ones are of each way.
COMBINATIONS = tuple(random.Random(1).sample(_FOUND, len(_FOUND)))  # noqa: S311 - not for security


def _plant(asked: _Attempt, source: random.Random) -> Plant:
    if asked.place in PLACES:
        value = CREDENTIALS[asked.kind](source)
        stream = STREAMS[source.choice(sorted(STREAMS))]
        repeated = stream(f"you sent '{REPEATS[asked.repeat](value)}' there") + END
        return Plant(PLACES[asked.place](value), repeated, (value,))
    if asked.kind in CREDENTIALS:
        return Plant(Request(), END, (CREDENTIALS[asked.kind](source),))
    text = TEXTS[asked.kind](source)
    if asked.place != _IN_REQUEST:
        return Plant(
            PLACES["bearer"]("no-key-required"),
            STREAMS[asked.repeat](text.text) + END,
            text.secrets,
        )
    messages = [{"role": "user", "content": text.text}, {"role": "tool", "content": text.text}]
    request = PLACES["bearer"]("no-key-required")
    body = json.dumps({"model": "m", "stream": True, "messages": messages}).encode()
    return Plant(Request("POST", request.uri, request.headers, body), END, text.secrets)


def attempt(number: int) -> list[str]:
    """Plant one secret, and return each file and output in which it can be read."""
    asked = COMBINATIONS[number % len(COMBINATIONS)]
    plant = _plant(asked, random.Random(number))  # noqa: S311 - not for security
    label = " / ".join(filter(None, asked))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        try:
            shown = _WAYS[asked.way](plant, out)
        except HarnessError as error:
            shown = str(error)
        return [f"{label}: {what}" for what in _found(plant, out, shown)]


def _found(plant: Plant, out: Path, shown: str) -> Iterator[str]:
    if "nothing was imported" in shown:
        yield shown
    contents = [("the output", shown.encode())]
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        contents.append((path.name, path.read_bytes()))
        if path.suffix == ".yaml":
            contents += _parts(load_cassette(path).interactions)
            yield from _audited(path)
    with closing(Journal(out / _KILLED)) as journal:
        if left := journal.take():
            contents += _parts(left.interactions)
    for secret in plant.secrets:
        for name, data in contents:
            yield from (f"{secret!r} in {name}, {how}" for how in set(traces_in(data, secret)))


def _parts(interactions: Iterable[Interaction]) -> Iterator[tuple[str, bytes]]:
    for each in interactions:
        yield "the request", each.request.body
        yield "the response", each.body
        yield "the address", each.request.uri.encode()


def _audited(path: Path) -> Iterator[str]:
    done = CliRunner().invoke(audit_command, [str(path)], standalone_mode=False)
    if done.return_value:
        yield f"harness audit: {done.output}"


ATTACK = Attack(attempt, full=len(COMBINATIONS), part=100, block=50)
