"""Adapter of langgraph: the graph of `langchain.agents.create_agent`, with `ChatOpenAI`.

The graph is run by `astream` with `stream_mode="messages"`, which makes the model stream, and the
next question continues with the messages of its state. `ModelCallLimitMiddleware` limits the
rounds. Tools are `StructuredTool` objects with a JSON Schema: one that fails raises a
`ToolException`, whose text `handle_tool_error` sends to the model.
"""

import importlib
import json
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

from harness.conversation.agent import Agent
from harness.conversation.conversation import Conversation, Ending, Meta
from harness.conversation.sdk.task_run import CallError, TaskRun
from harness.conversation.task import Task
from harness.normalizers import sdk
from harness.normalizers.sdk.fragments import FINISH
from harness.turns.deltas import (
    SNIPPET_CHARACTERS,
    Finish,
    FinishReason,
    ParseError,
    ToolCall,
    Usage,
)
from harness.turns.messages import Message
from harness.turns.turn import Tool, Turn

_HTTP: Final = "httpx2"
# A tool with a JSON Schema does not get the id of its call; middleware does.
_CALL_ID: Final[ContextVar[str]] = ContextVar("call_id", default="")


def converse(task: Task) -> Conversation:
    """Run the conversation of a task with the package's graph."""
    return _Runs(task).converse()


class _Runs:
    """The runs of one task, one for each question."""

    def __init__(self, task: Task) -> None:
        self._openai: Any = importlib.import_module("openai")
        self._middleware: Any = importlib.import_module("langchain.agents.middleware")
        self._tools: Any = importlib.import_module("langchain_core.tools")
        self._task = task
        self._run = TaskRun(task, _HTTP)
        self._messages: list[Any] = []

    def converse(self) -> Conversation:
        http, answers = _http()
        answers.play(self._run.answer)
        graph = self._graph(http)
        ending: Ending = "done"
        problem: Exception | None = None
        for question in self._task.questions:
            problem = self._answer_question(graph, question)
            ending = self._ending(problem)
            if ending != "done":
                break
        last = self._messages[-1] if self._messages and problem is None else None
        answer = last.text if last is not None and last.type == "ai" else ""
        responses = [(_turn(it), _meta(it)) for it in self._messages if it.type == "ai"]
        return self._run.conversation(self._history(), responses, ending, str(answer), problem)

    def _graph(self, http: Any) -> Any:  # noqa: ANN401 - objects of a package that may not be installed
        options = sdk.client_options(http) | {"base_url": self._run.base_url}
        options["http_async_client"] = options.pop("http_client")
        serial = not self._task.capabilities.supports_parallel_tools
        model = importlib.import_module("langchain_openai").ChatOpenAI(
            model=self._task.model,
            use_responses_api=False,
            model_kwargs={"parallel_tool_calls": False} if serial else {},
            **options,
        )
        limit = self._middleware.ModelCallLimitMiddleware(
            run_limit=self._task.limits.rounds, exit_behavior="error"
        )
        return importlib.import_module("langchain.agents").create_agent(
            model,
            [self._tool(tool) for tool in self._task.tools],
            system_prompt=self._run.instructions,
            middleware=[limit, self._middleware.wrap_tool_call(_with_call_id)],
        )

    def _tool(self, tool: Tool) -> Any:  # noqa: ANN401 - as above
        async def execute(**arguments: Any) -> object:  # noqa: ANN401 - as above
            try:
                return self._run.call(_CALL_ID.get(), tool.name, arguments)
            except CallError as error:
                raise self._tools.ToolException(str(error)) from None

        return self._tools.StructuredTool(
            name=tool.name,
            description=tool.description,
            args_schema=tool.parameters,
            coroutine=execute,
            handle_tool_error=True,
        )

    def _answer_question(self, graph: Any, question: str) -> Exception | None:  # noqa: ANN401 - as above
        """Run the graph; return the exception that ended the run."""
        asked = [*self._messages, {"role": "user", "content": question}]
        modes = ["messages", "values"]
        try:
            for mode, value in sdk.iterate(graph.astream({"messages": asked}, stream_mode=modes)):
                if mode == "values":
                    self._messages = value["messages"]
        except self._reported() as error:
            return error
        return None

    def _reported(self) -> tuple[type[Exception], ...]:
        limit: Any = importlib.import_module("langchain.agents.middleware.model_call_limit")
        core: Any = importlib.import_module("langchain_core.exceptions")
        http: Any = importlib.import_module(_HTTP)
        return (
            limit.ModelCallLimitExceededError,
            self._openai.OpenAIError,
            core.LangChainException,
            http.TransportError,  # openai lets it pass
        )

    def _ending(self, problem: Exception | None) -> Ending:
        limit, _, _, transport = self._reported()
        if problem is None:
            was_cut = _reason(self._messages[-1]) is FinishReason.LENGTH
            return "limit" if was_cut else "done"
        if isinstance(problem, limit):
            return "limit"
        broken = isinstance(problem, self._openai.APIConnectionError | transport)
        return "interrupted" if broken else "error"

    def _history(self) -> list[Message]:
        """Return the messages of the last request, and what the state has after it."""
        convert: Any = importlib.import_module("langchain_core.messages").convert_to_openai_messages
        at = [number for number, it in enumerate(self._messages) if it.type == "ai"]
        unsent = self._messages[at[-1] :] if at and len(at) == self._run.requests else []
        return [*self._run.sent, *convert(unsent)]


async def _with_call_id(request: Any, handler: Any) -> Any:  # noqa: ANN401 - as above
    _CALL_ID.set(request.tool_call["id"] or "")
    return await handler(request)


@cache
def _http() -> tuple[Any, sdk.Answers]:
    return sdk.lasting_async_client(_HTTP)


def _reason(message: Any) -> FinishReason | None:  # noqa: ANN401 - as above
    raw = getattr(message, "response_metadata", {}).get("finish_reason")
    return FINISH.get(raw, FinishReason.OTHER) if raw else None


def _turn(message: Any) -> Turn:  # noqa: ANN401 - as above
    calls = (
        ToolCall(call["id"] or "", call["name"], json.dumps(call["args"], ensure_ascii=False))
        for call in message.tool_calls
    )
    usage, reason = message.usage_metadata, _reason(message)
    return Turn(
        text=str(message.text),
        tool_calls=tuple(calls),
        parse_errors=_meta(message).parse_errors,
        finish=Finish(reason) if reason else None,
        usage=Usage(usage["input_tokens"], usage["output_tokens"]) if usage else None,
    )


def _meta(message: Any) -> Meta:  # noqa: ANN401 - as above
    """Return the calls that the package could not parse and hands over apart from the others."""
    errors = (
        ParseError(
            "tool_use",
            name=call["name"] or "",
            error=call["error"] or "",
            snippet=(call["args"] or "")[:SNIPPET_CHARACTERS],
            id=call["id"] or "",
        )
        for call in message.invalid_tool_calls
    )
    return Meta(parse_errors=tuple(errors))


agent: Final = Agent(
    name="langgraph-loop",
    converse=converse,
    role="peer",
    summary="the packages langgraph and langchain: create_agent with ChatOpenAI",
    policies={
        "history": "merged",
        "probe": "never",
        "retry": "never",
        "identical-calls": "unlimited",
        "truncation": "never",
        "last-round": "executed",
    },
    needs=("langgraph", "langchain", "langchain_openai", "httpx2"),
    extra="langgraph",
)
