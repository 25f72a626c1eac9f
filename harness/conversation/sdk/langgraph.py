"""Adapter of langgraph: the graph of `langchain.agents.create_agent`, with `ChatOpenAI`.

The graph is run by `astream` with `stream_mode="messages"`, which makes the model stream, and the
next question continues with the messages of its state. `ModelCallLimitMiddleware` limits the
rounds. Tools are `StructuredTool` objects with a JSON Schema: one that fails raises a
`ToolException`, whose text `handle_tool_error` sends to the model.
"""

import importlib
import json
from contextvars import ContextVar
from typing import Any, Final

from harness.conversation.sdk.task_run import HTTP, CallError, TaskRun, json_text, library_agent
from harness.conversation.task import Task
from harness.normalizers import sdk
from harness.normalizers.sdk.chat import FINISH
from harness.results.conversation import Ending, TurnMeta
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

# A tool with a JSON Schema does not get the id of its call; middleware does.
_CALL_ID: Final[ContextVar[str]] = ContextVar("call_id", default="")


class _Run(TaskRun):
    """The library's graph on one task, run once for each question."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._openai: Any = importlib.import_module("openai")
        self._middleware: Any = importlib.import_module("langchain.agents.middleware")
        self._core_tools: Any = importlib.import_module("langchain_core.tools")
        self._graph: Any = None
        self._messages: list[Any] = []

    def start(self, client_options: dict[str, Any]) -> None:
        options = dict(client_options)
        options["http_async_client"] = options.pop("http_client")
        serial = not self.task.capabilities.supports_parallel_tools
        model = importlib.import_module("langchain_openai").ChatOpenAI(
            model=self.task.model,
            use_responses_api=False,
            model_kwargs={"parallel_tool_calls": False} if serial else {},
            **options,
        )
        limit = self._middleware.ModelCallLimitMiddleware(
            run_limit=self.task.limits.rounds, exit_behavior="error"
        )
        self._graph = importlib.import_module("langchain.agents").create_agent(
            model,
            [self._tool(tool) for tool in self.task.tools],
            system_prompt=self.instructions,
            middleware=[limit, self._middleware.wrap_tool_call(_with_call_id)],
        )

    def _tool(self, tool: Tool) -> Any:  # noqa: ANN401 - as above
        async def execute(**arguments: Any) -> str:  # noqa: ANN401 - as above
            try:
                return json_text(self.call(_CALL_ID.get(), tool.name, arguments))
            except CallError as error:
                raise self._core_tools.ToolException(str(error)) from None

        return self._core_tools.StructuredTool(
            name=tool.name,
            description=tool.description,
            args_schema=tool.parameters,
            coroutine=execute,
            handle_tool_error=True,
        )

    def answer_question(self, question: str) -> tuple[str, Exception | None]:
        asked = [*self._messages, {"role": "user", "content": question}]
        states = self._graph.astream({"messages": asked}, stream_mode=["messages", "values"])
        try:
            for mode, value in sdk.iterate(states):
                if mode == "values":
                    self._messages = value["messages"]
        except self._reported() as error:
            return "", error
        last = self._messages[-1]
        return str(last.text) if last.type == "ai" else "", None

    def _reported(self) -> tuple[type[Exception], ...]:
        limit: Any = importlib.import_module("langchain.agents.middleware.model_call_limit")
        core: Any = importlib.import_module("langchain_core.exceptions")
        http: Any = importlib.import_module(HTTP)
        return (
            limit.ModelCallLimitExceededError,
            self._openai.OpenAIError,
            core.LangChainException,
            http.TransportError,  # openai lets it pass
        )

    def ending(self, problem: Exception | None) -> Ending:
        limit, _, _, transport = self._reported()
        if problem is None:
            reason = _reason(self._messages[-1])
            if reason is None:  # the stream of the message did not end
                return "interrupted"
            return "limit" if reason is FinishReason.LENGTH else "done"
        if isinstance(problem, limit):
            return "limit"
        broken = isinstance(problem, self._openai.APIConnectionError | transport)
        return "interrupted" if broken else "error"

    def history(self) -> list[Message]:
        convert: Any = importlib.import_module("langchain_core.messages").convert_to_openai_messages
        at = [number for number, it in enumerate(self._messages) if it.type == "ai"]
        # What the state has after the last request.
        unsent = self._messages[at[-1] :] if at and len(at) == self.requests else []
        return [*self.sent, *convert(unsent)]

    def responses(self) -> list[tuple[Turn, TurnMeta]]:
        return [(_turn(it), _meta(it)) for it in self._messages if it.type == "ai"]


async def _with_call_id(request: Any, handler: Any) -> Any:  # noqa: ANN401 - as above
    _CALL_ID.set(request.tool_call["id"] or "")
    return await handler(request)


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


def _meta(message: Any) -> TurnMeta:  # noqa: ANN401 - as above
    """Return the data about a turn: the calls that the library put into `invalid_tool_calls`."""
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
    return TurnMeta(parse_errors=tuple(errors))


agent: Final = library_agent(
    "langgraph-loop",
    _Run,
    summary="the packages langgraph and langchain: create_agent with ChatOpenAI",
    needs=("langgraph", "langchain", "langchain_openai"),
    extra="langgraph",
)
