"""The common part of the adapters of agent libraries: their declaration, and one run of a task.

A run sends the requests of a library through the task, and executes its calls. It counts requests
and records executed calls, because libraries do not report which calls of a turn were executed.
"""

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from harness.conversation.agent import Agent, HiddenOfAgent
from harness.conversation.prompts import find_prompt, system_text
from harness.conversation.task import Reply, Task, ToolFailed
from harness.dialects.table import message_form, request_body
from harness.normalizers import sdk
from harness.playback.transports import Answer
from harness.results.conversation import Conversation, Ending, TurnMeta, TurnRecord
from harness.turns.arguments import parse
from harness.turns.deltas import StreamFailure
from harness.turns.messages import Message
from harness.turns.schema_check import Checker
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction, Request

# Compiled schemas are kept, because the same tools are called again and again.
_CHECKER: Final = Checker()
_PATHS: Final = ("/chat/completions", "/v1/messages")
# Codes of failures of the network; the provider itself is to blame for each other one.
_BROKEN: Final = "interrupted"
HTTP: Final = "httpx2"
_POLICIES: Final[Mapping[str, str]] = {
    "history": "merged",
    "probe": "never",
    "retry": "never",
    "identical-calls": "unlimited",
    "truncation": "never",
    "last-round": "executed",
    "tool-names": "as-declared",
}


class CallError(Exception):
    """A call has no result; the message tells the model why."""


def json_text(result: object) -> str:
    """Return the result of a tool as text, because libraries convert other values with `str`."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def messages_of_request(dialect: str, request: Request) -> list[Message]:
    """Return the messages of a request in OpenAI's form; [] if it cannot be read."""
    body = request_body(request.body) or {}
    return [it for it in message_form(dialect).messages_of(body) if isinstance(it, dict)]


@cache
def _client() -> tuple[Any, sdk.Answers]:
    return sdk.lasting_async_client(HTTP)


class TaskRun(ABC):
    """Runs a library's agent on one task. An adapter implements the abstract methods.

    `requests` is the number of sent requests, and `sent` the messages of the last one, in OpenAI's
    form.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.instructions = system_text(find_prompt(task.prompt), task.tools, task.system)
        self.requests = 0
        self.sent: list[Message] = []
        self._http: Any = importlib.import_module(HTTP)
        self._executed: list[tuple[int, str]] = []
        self._tools = {tool.name: tool for tool in task.tools}

    # What is specific to a library

    @abstractmethod
    def start(self, client_options: dict[str, Any]) -> None:
        """Create the library's agent.

        Args:
            client_options: arguments for the client class of the provider's SDK:
                `sdk.client_options` and `base_url`.
        """

    @abstractmethod
    def answer_question(self, question: str) -> tuple[str, Exception | None]:
        """Run the agent on a question.

        Returns:
            The answer, and the documented exception that ended the run; None if it ended normally.
        """

    @abstractmethod
    def ending(self, problem: Exception | None) -> Ending:
        """Return how the last run ended; `problem` is the documented exception that ended it."""

    @abstractmethod
    def history(self) -> Sequence[Message]:
        """Return the history, as the library would send it next."""

    @abstractmethod
    def responses(self) -> Sequence[tuple[Turn, TurnMeta]]:
        """Return each response as the library returns it, in order, with data about its turn."""

    # What all share

    def converse(self) -> Conversation:
        """Ask the questions until one is not answered, and return the conversation."""
        http, answers = _client()
        answers.play(self.answer)
        self.start(sdk.client_options(http) | {"base_url": self.base_url})
        ending: Ending = "done"
        answer, problem = "", None
        for question in self.task.questions:
            answer, problem = self.answer_question(question)
            ending = self.ending(problem)
            if ending != "done":
                break
        return self._conversation(ending, answer, problem)

    @property
    def base_url(self) -> str:
        """The address of the API, without the path that the library's client adds."""
        address = self.task.uri.partition("?")[0]
        path = next(filter(address.endswith, _PATHS), "")
        return address.removesuffix(path)

    def answer(self, request: Request) -> Answer:
        """Send a request of the library's HTTP client through the task, and return the response."""
        self.requests += 1
        self.sent = messages_of_request(self.task.dialect, request)
        reply = self.task.send(request)
        interaction = Interaction(
            request, reply.status, reply.headers, b"", (), dialect=self.task.dialect
        )
        return interaction, self._reads(reply)

    def _reads(self, reply: Reply) -> Iterator[bytes]:
        """Yield the reads; raise the HTTP library's error if the connection breaks."""
        try:
            yield from filter(None, reply.reads)
        except OSError as error:
            raise self._http.ReadError(str(error)) from error

    def call_json(self, call_id: str, name: str, arguments: str) -> object:
        """Execute a call whose arguments the library passes as text, and return its result.

        Raises:
            CallError: the arguments are not a JSON object or do not fit, or the tool failed.
        """
        parsed = parse(arguments)
        if parsed.value is None:
            raise CallError(f"The arguments are not valid: {parsed.error}")
        return self.call(call_id, name, parsed.value)

    def check(self, name: str, arguments: dict[str, Any]) -> None:
        """Check the arguments of a call against the schema of its tool.

        Raises:
            CallError: the arguments do not fit the parameters of the tool.
        """
        problem = _CHECKER.problem(self._tools[name], arguments)
        if problem:
            raise CallError(f"The arguments are not valid: {problem}")

    def call(self, call_id: str, name: str, arguments: dict[str, Any]) -> object:
        """Check the arguments of a call, execute it and return its result.

        Raises:
            CallError: the arguments do not fit the parameters, or the tool failed.
        """
        self.check(name, arguments)
        try:
            result = self.task.call_tool(name, arguments)
        except ToolFailed as failure:
            self._executed.append((self.requests, call_id))
            raise CallError(str(failure) or type(failure).__name__) from None
        except KeyError:
            raise CallError(f"There is no tool {name!r}.") from None
        self._executed.append((self.requests, call_id))
        return result

    def _conversation(self, ending: Ending, answer: str, problem: Exception | None) -> Conversation:
        """Return the conversation as an object of the harness.

        Args:
            ending: how the last run ended; if the answer is blank, `done` becomes `empty`.
            answer: what the library returns to its caller; "" if it returned none.
            problem: the exception that ended the run. If the last request has no response, the
                exception becomes the failure of that turn.
        """
        told = list(self.responses())
        if problem is not None and len(told) < self.requests:
            code = _BROKEN if ending == "interrupted" else "error"
            told.append((Turn(failure=StreamFailure(code, str(problem)[:200])), TurnMeta()))
        records = tuple(
            TurnRecord(turn, meta, tuple(it for at, it in self._executed if at == number))
            for number, (turn, meta) in enumerate(told, start=1)
        )
        if ending == "done" and not answer.strip():
            ending = "empty"
        texts = (turn.text for turn, _ in reversed(told) if turn.text.strip())
        history = tuple(self.history())
        return Conversation(history, records, ending, answer or next(texts, ""))


def library_agent(  # noqa: PLR0913 - one parameter for each field of the declaration
    name: str,
    run: type[TaskRun],
    *,
    summary: str,
    needs: tuple[str, ...],
    extra: str,
    dialects: frozenset[str] = frozenset({"openai-chat"}),
    hides: frozenset[HiddenOfAgent] = frozenset(),
    policies: Mapping[str, str] | None = None,
) -> Agent:
    """Return the agent of a library. Arguments without a description here are fields of `Agent`.

    `needs` contains the library's modules without the HTTP package. `policies` contains only the
    policies in which the agent differs from other adapters.
    """
    return Agent(
        name=name,
        converse=lambda task: run(task).converse(),
        dialects=dialects,
        role="peer",
        summary=summary,
        policies={**_POLICIES, **(policies or {})},
        hides=hides,
        needs=(*needs, HTTP),
        extra=extra,
    )
