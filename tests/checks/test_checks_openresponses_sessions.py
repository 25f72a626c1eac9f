"""The WebSocket checks of Open Responses, against a server that keeps chains, and faulty ones."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from harness.checks.openresponses_sessions import SESSION_CHECKS, run_session_checks
from harness.dialects.table import DIALECTS
from harness.turns.deltas import Finish, FinishReason, TextDelta, Usage, UsageDelta
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames

websockets = pytest.importorskip("websockets.sync.server")

TURN = (TextDelta("Yes."), UsageDelta(Usage(4, 2)), Finish(FinishReason.STOP))
BODY = b"".join(DIALECTS["openai-responses"].write(TURN))
COMPACTED = ({"type": "message", "role": "user", "content": "I am Zoë."},)
EVERY = set(SESSION_CHECKS)
RECOVERY = "websocket-reconnect-store-false-recovery"
UNKNOWN = "websocket-previous-response-not-found"
EVICTS = "websocket-failed-continuation-evicts-cache"
LATER = EVERY - {"websocket-response", UNKNOWN, "websocket-compact-new-chain"}


def error(code: str) -> dict[str, Any]:
    return {"type": "error", "status": 400, "error": {"code": code, "message": "no"}}


def events(frames: Iterator[Frame], response_id: str) -> Iterator[dict[str, Any]]:
    for frame in frames:
        value = json.loads(frame.data)
        if "response" in value:
            value["response"]["id"] = response_id
        yield value


class Server:
    """Answers `response.create` on each connection, with one fault at most."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.shared: set[str] = set()
        self.count = 0

    def __call__(self, connection: Any) -> None:  # noqa: ANN401 - a type of the optional library
        known = self.shared if self.fault == "chains outlive connections" else set()
        for message in connection:
            for value in self.answer(json.loads(message), known):
                connection.send(json.dumps(value))
            if self.fault == "one response on each connection":
                return

    def answer(self, asked: dict[str, Any], known: set[str]) -> Iterator[dict[str, Any]]:
        previous = asked.get("previous_response_id")
        if previous and previous not in known and self.fault != "unknown chains begin again":
            yield error(
                "not_found" if self.fault == "other code" else "previous_response_not_found"
            )
            return
        items = asked["input"]
        if isinstance(items, list) and items[0]["type"] == "function_call_output":
            if self.fault != "failed chains stay":
                known.discard(previous or "")
            yield error("invalid_request_error")
            return
        self.count += 1
        known.add(f"resp_{self.count}")
        for value in events(iter_frames([BODY]), f"resp_{self.count}"):
            if self.fault == "no output":
                value.get("response", {}).pop("output", None)
            yield value


@contextmanager
def serving(fault: str) -> Iterator[str]:
    with websockets.serve(Server(fault), "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}/v1/responses"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("fault", "failing"),
    [
        ("", set()),
        ("one response on each connection", LATER),
        ("chains outlive connections", {RECOVERY}),
        ("unknown chains begin again", {RECOVERY, UNKNOWN, EVICTS}),
        ("other code", {RECOVERY, UNKNOWN, EVICTS}),
        ("failed chains stay", {EVICTS}),
        ("no output", EVERY - {UNKNOWN}),
    ],
)
def test_each_fault_of_a_server_fails_its_checks(fault: str, failing: set[str]) -> None:
    with serving(fault) as url:
        results = tuple(run_session_checks(url, (), "m", COMPACTED))
    assert {each.id for each in results} == EVERY
    assert {each.id: each.problems for each in results if each.status != "passed"}.keys() == failing


def test_a_server_without_websocket_or_compaction_fails_with_the_reason() -> None:
    results = tuple(run_session_checks("http://127.0.0.1:9/v1/responses", (), "", ()))
    assert {each.status for each in results} == {"failed"}
    assert results[-1].problems == ("`/compact` returned no output",)
