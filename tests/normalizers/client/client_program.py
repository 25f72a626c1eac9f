"""A client for tests: it reads each response with `reference`, or misbehaves as its argument says.

It fetches the response over HTTP in one piece, so that cuts and the end of the network reach it as
they reach a real client.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, IncompleteRead
from typing import Any, Final

from harness.normalizers.respond import respond
from harness.turns.fold import fold
from harness.wire.interaction import Interaction, Request

_HELLO: Final = {"type": "hello", "protocol": 1, "name": "test-client", "version": "1.0"}
_HELLOS: Final[dict[str, dict[str, Any]]] = {
    "typo": {"dialects": ["openai-chat", "anthropc"]},
    "timed": {
        "protocol": 2,
        "times": ["max_retries"],
        "untold": {"idle_timeout": "its manual"},
    },
}
_MODE: Final = sys.argv[1] if len(sys.argv) > 1 else "right"


def _turn(case: dict[str, Any]) -> dict[str, Any]:
    url = f"{case['base_url']}/chat/completions"
    body = json.dumps(case["request"]).encode()
    broken = ""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body)) as response:  # noqa: S310 - the server of the test
            status, received = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, received = error.code, error.read()
    except IncompleteRead as error:
        received, status, broken = error.partial, 200, str(error)
    except (HTTPException, OSError) as error:
        received, status, broken = b"", 200, str(error)
    request = Request(body=body)
    interaction = Interaction(request, status, (), b"", (), dialect=case["dialect"])
    turn = fold(respond(interaction, [received]))
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.tool_calls
    ]
    calls += [
        {"id": error.id, "name": error.name, "arguments": error.snippet, "error": error.error}
        for error in turn.parse_errors
    ]
    told: dict[str, Any] = {"text": turn.text, "reasoning": turn.reasoning, "calls": calls}
    if broken:
        return told | {"error": {"type": "IncompleteRead", "documented": True, "message": broken}}
    if turn.failure is not None:
        failure = {"message": turn.failure.message, "code": turn.failure.code}
        return told | {"error": {"type": "Failure", "documented": True, **failure}}
    return told | {"finish": turn.finish.raw if turn.finish else None}


def _timed_turn(case: dict[str, Any]) -> dict[str, Any]:
    turn = _turn(case)
    for _ in range(case["max_retries"]):
        turn = _turn(case) if "error" in turn else turn
    return turn


def _print(line: object) -> None:
    sys.stdout.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    sys.stdout.flush()


def _flood() -> None:
    while True:
        _print("x" * 10_000)


_MISCONDUCT: Final[dict[str, Callable[[], object]]] = {
    "exits": lambda: os._exit(3),
    "hangs": lambda: time.sleep(600),
    "floods": _flood,
    "prints": lambda: _print("debug: got a case"),
    "not-utf-8": lambda: os.write(1, b"\xff\xfe\n"),
    "complains": lambda: (sys.stderr.write("no such module: x\n"), sys.stderr.flush(), os._exit(1)),
}


def main() -> None:
    """Answer messages until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            _print(_HELLO | _HELLOS.get(_MODE, {}))
        elif message["type"] == "timed_case":
            _print({"type": "turn", "id": message["id"], **_timed_turn(message)})
        elif message["type"] == "case":
            _MISCONDUCT.get(_MODE, lambda: None)()
            answer = {"type": "turn", "id": message["id"], **_turn(message)}
            if _MODE == "half-a-pair":
                answer["text"] = "\ud83d \U0001f331"
            if _MODE == "wrong-id":
                answer["id"] += 1
            elif _MODE == "misspelt":
                answer["tool_calls"] = answer.pop("calls")
            elif _MODE == "crashes":
                answer["error"] = {"type": "KeyError", "documented": False, "message": "'x'"}
            _print(answer)
            if _MODE == "twice":
                _print(answer)
        else:
            return


if __name__ == "__main__":
    main()
