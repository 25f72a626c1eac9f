"""Put an agent in any language under test: a command that is judged by its requests alone.

The command gets the address of a model server, which plays the conversation, and the address of the
tools. What it prints at its end is the answer. It is third-party code: it runs in its own process
group, which is killed at the end, and what it prints is bounded.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Thread
from typing import IO, Any, Final, cast
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.prompts import find_prompt, system_text
from harness.conversation.task import Task, ToolFailed
from harness.dialects.table import message_form, request_body
from harness.errors import AgentLoadError
from harness.normalizers import reference
from harness.playback.server import AnswerServer
from harness.playback.transports import Answer
from harness.results.conversation import Conversation, Ending, TurnMeta, TurnRecord
from harness.turns.exact_json import encode_json
from harness.turns.fold import fold
from harness.turns.messages import Message, assistant
from harness.turns.turn import Turn
from harness.wire.interaction import Ended, Interaction, Read, Request
from harness.wire.reads import synthetic_interaction
from harness.workers.descendants import kill_group

_TOOLS: Final = "/tools/"
# The last part of an address that a client's library adds itself.
_ENDPOINTS: Final = ("/chat/completions", "/v1/messages", "/responses")
_MOST_OUTPUT: Final = 1_000_000
_ERROR_CHARACTERS: Final = 300
_JSON: Final = (("content-type", "application/json"),)
# What loops of other projects do; a project may declare others.
_POLICIES: Final = {
    "history": "merged",
    "probe": "never",
    "retry": "never",
    "identical-calls": "unlimited",
    "truncation": "never",
    "last-round": "executed",
    "tool-names": "as-declared",
}


class _Exchange:
    """Answers the requests of one run of the command, and keeps what its record needs."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._origin = "://".join(urlsplit(task.uri)[:2])
        self.requests: list[Request] = []
        self.replies: list[Interaction] = []
        self.executed: list[list[str]] = []

    def answer(self, request: Request, _wait: object) -> Answer:
        at = urlsplit(request.uri)
        if at.path.startswith(_TOOLS):
            name = unquote(at.path.removeprefix(_TOOLS))
            return _document(request, *self._tool_answer(name, request.body))
        query = f"?{at.query}" if at.query else ""
        sent = replace(request, uri=f"{self._origin}{at.path}{query}")
        try:
            reply = self._task.send(sent)
        except BaseException as stopped:  # noqa: BLE001 - the session stops an agent without end
            error = {"error": {"message": f"the conversation was stopped: {stopped}"}}
            return _document(request, HTTPStatus.SERVICE_UNAVAILABLE, error)
        reads, ended = _complete(reply.reads)
        answer = Interaction(
            sent,
            reply.status,
            reply.headers,
            b"".join(reads),
            tuple(Read(len(read)) for read in reads),
            dialect=self._task.dialect,
            ended=ended,
        )
        self.requests.append(sent)
        self.replies.append(answer)
        self.executed.append([])
        return answer, iter(reads)

    def _tool_answer(self, name: str, body: bytes) -> tuple[int, object]:
        """Execute the tool called `name`; return a status, and an object for the body."""
        try:
            arguments = json.loads(body or b"{}")
        except ValueError as error:
            return HTTPStatus.BAD_REQUEST, {"error": f"expected a JSON object: {error}"}
        if not isinstance(arguments, dict):
            return HTTPStatus.BAD_REQUEST, {"error": "expected a JSON object"}
        try:
            result = self._task.call_tool(name, arguments)
        except ToolFailed as failure:
            self._note(name)
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(failure)}
        except KeyError:
            return HTTPStatus.NOT_FOUND, {"error": f"there is no tool {name!r}"}
        self._note(name)
        return HTTPStatus.OK, {"result": result}

    def _note(self, name: str) -> None:
        if self.executed:
            self.executed[-1].append(name)


def command_agent(command: str, _declared: object = None) -> Agent:
    """Return the agent that runs `command` for each conversation.

    Its standard input is one JSON object with `questions`, `system`, `tools` in the form of
    OpenAI's chat API, `model` and `limits`. The environment has `HARNESS_BASE_URL`, the address of
    the model server as SDKs expect it, and `HARNESS_TOOLS_URL`: `POST {url}/NAME` with the
    arguments as JSON returns an object with `result`, or with `error` and a status from 400 on. The
    command prints the answer, or a JSON object with `answer` and `ending`.

    Raises:
        AgentLoadError: `command` cannot be split into words.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentLoadError(str(error), where=f"command {command!r}") from None
    if not words:
        raise AgentLoadError("expected a command line, found nothing", where="command:")
    return Agent(
        f"command:{command}",
        lambda task: _converse(words, task),
        role="peer",  # the command is not of this repository
        summary="a command that is judged by its requests",
        policies=dict(_POLICIES),
        hides=frozenset({"finish", "parse_errors"}),
    )


def _converse(words: list[str], task: Task) -> Conversation:
    exchange = _Exchange(task)
    with AnswerServer(exchange.answer, daemon=True) as server:
        path = urlsplit(task.uri).path
        for endpoint in _ENDPOINTS:
            path = path.removesuffix(endpoint)
        addresses = {
            "HARNESS_BASE_URL": f"{server.base_url}{path}",
            "HARNESS_TOOLS_URL": f"{server.base_url}{_TOOLS}".removesuffix("/"),
        }
        code, printed, problem = _run(words, addresses, _start_of(task))
    answer, ending = _told(printed)
    if code:
        broken = any(reply.broken for reply in exchange.replies[-1:])
        ending = ending or ("interrupted" if broken else "error")
        if not exchange.requests:
            raise RuntimeError(f"the command ended with code {code}: {problem}")
    return _conversation(exchange, answer, ending or ("done" if answer.strip() else "empty"))


def _start_of(task: Task) -> bytes:
    prompt = find_prompt(task.prompt)
    return encode_json(
        {
            "questions": task.questions,
            "system": system_text(prompt, task.tools, task.system),
            "model": task.model,
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in task.tools
            ],
            "limits": {
                "rounds": task.limits.rounds,
                "identical_calls": task.limits.identical_calls,
                "retries": task.limits.retries,
                "messages": task.limits.messages,
            },
        }
    )


def _run(words: list[str], addresses: dict[str, str], start: bytes) -> tuple[int, bytes, str]:
    """Run the command; return its exit code, what it printed, and the end of its errors.

    Raises:
        AgentLoadError: the command cannot be started.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own command
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **addresses},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise AgentLoadError(str(error), where=f"command {shlex.join(words)!r}") from None
    with _killed(process):
        printed, errors = bytearray(), bytearray()
        pumps = [
            Thread(target=_read_to, args=(process.stdout, printed), daemon=True),
            Thread(target=_read_to, args=(process.stderr, errors), daemon=True),
        ]
        for pump in pumps:
            pump.start()
        _write(cast("IO[bytes]", process.stdin), start)
        code = process.wait()
        for pump in pumps:
            pump.join()
    return code, bytes(printed), errors.decode("utf-8", "replace")[-_ERROR_CHARACTERS:].strip()


@contextmanager
def _killed(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Kill the process and all that it started when the block ends, also by a time limit."""
    try:
        yield
    finally:
        kill_group(process.pid)
        process.wait()


def _write(stream: IO[bytes], data: bytes) -> None:
    try:
        with stream:
            stream.write(data)
    except OSError:
        pass  # the command did not read its input, which is its choice


def _read_to(stream: IO[bytes], kept: bytearray) -> None:
    with stream:
        while piece := stream.read1():  # type: ignore[attr-defined]
            kept += piece[: _MOST_OUTPUT - len(kept)]


def _complete(reads: Any) -> tuple[list[bytes], Ended]:  # noqa: ANN401 - an iterable of bytes
    kept: list[bytes] = []
    try:
        kept.extend(filter(None, reads))
    except ConnectionError:
        return kept, "truncated"
    return kept, "complete"


def _document(request: Request, status: int, value: object) -> Answer:
    body = encode_json(value)
    return synthetic_interaction(body, request=request, status=status, headers=_JSON), iter([body])


def _told(printed: bytes) -> tuple[str, Ending | None]:
    """Return the answer and the ending that the command printed."""
    text = printed.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except ValueError:
        return text, None
    if not isinstance(value, dict) or not isinstance(value.get("answer", ""), str):
        return text, None
    ending = value.get("ending")
    known = {"done", "limit", "empty", "interrupted", "error"}
    return value.get("answer", ""), cast("Ending", ending) if ending in known else None


def _conversation(exchange: _Exchange, answer: str, ending: Ending) -> Conversation:
    dialect = exchange.replies[-1].dialect if exchange.replies else ""
    messages: list[Message] = []
    if exchange.requests:
        body = request_body(exchange.requests[-1].body) or {}
        listed = message_form(dialect).messages_of(body)
        messages = [it for it in listed if isinstance(it, dict)]
    if answer.strip() and ending == "done":
        messages.append(assistant(answer))
    records = tuple(
        # A command may run the calls of a turn in parallel, and then they come in any order.
        TurnRecord(_turn(reply), TurnMeta(), tuple(sorted(executed)))
        for reply, executed in zip(exchange.replies, exchange.executed, strict=True)
    )
    return Conversation(tuple(messages), records, ending, answer)


def _turn(reply: Interaction) -> Turn:
    normalize: Callable[..., Any] = reference.normalize
    return fold(normalize(reply, iter([reply.body])))
