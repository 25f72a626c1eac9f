"""Adapter of pydantic-ai: `Agent.run` with an `event_stream_handler`, which makes it stream.

The next question continues with `message_history`. Tools are made by `Tool.from_schema`: its
`args_validator` raises `ModelRetry` for arguments that do not fit, and a tool that fails raises the
package's `ToolFailed`. The profile tells it whether the provider accepts later system messages.
"""

import importlib
import json
from collections.abc import Iterator
from typing import Any, Final

from harness.conversation.sdk.task_run import CallError, TaskRun, library_agent
from harness.conversation.task import Task
from harness.normalizers import sdk
from harness.results.conversation import Ending, TurnMeta
from harness.turns.deltas import Finish, FinishReason, StreamFailure, ToolCall, Usage
from harness.turns.messages import Message, assistant, tool_result, user
from harness.turns.turn import Tool, Turn

# Finish reasons of the package, which has the same for each provider.
_FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


class _Run(TaskRun):
    """The library's agent on one task, run once for each question."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._package: Any = importlib.import_module("pydantic_ai")
        self._exceptions: Any = importlib.import_module("pydantic_ai.exceptions")
        self._agent: Any = None
        self._messages: list[Any] = []

    def start(self, client_options: dict[str, Any]) -> None:
        serial = not self.task.capabilities.supports_parallel_tools
        self._agent = self._package.Agent(
            _model(self.task, client_options),
            instructions=self.instructions,
            tools=[self._tool(tool) for tool in self.task.tools],
            model_settings={"parallel_tool_calls": False} if serial else None,
        )

    def _tool(self, tool: Tool) -> Any:  # noqa: ANN401 - as above
        async def execute(context: Any, /, **arguments: Any) -> object:  # noqa: ANN401 - as above
            try:
                return self.call(context.tool_call_id, tool.name, arguments)
            except CallError as error:
                raise self._exceptions.ToolFailed(str(error)) from None

        async def validate(_context: Any, /, **arguments: Any) -> None:  # noqa: ANN401 - as above
            try:
                self.check(tool.name, arguments)
            except CallError as error:
                raise self._exceptions.ModelRetry(str(error)) from None

        return self._package.Tool.from_schema(
            execute,
            tool.name,
            tool.description,
            tool.parameters,
            takes_ctx=True,
            args_validator=validate,
        )

    def answer_question(self, question: str) -> tuple[str, Exception | None]:
        limits = self._package.UsageLimits(request_limit=self.task.limits.rounds)
        found: list[str] = []

        async def read(_context: Any, events: Any) -> None:  # noqa: ANN401 - as above
            async for _ in events:
                pass

        async def run(_hand_over: object) -> None:
            result = await self._agent.run(
                question,
                message_history=self._messages,
                usage_limits=limits,
                event_stream_handler=read,
            )
            found.append(str(result.output))

        problem: Exception | None = None
        with self._package.capture_run_messages() as messages:
            try:
                sdk.complete(run)
            except self._exceptions.AgentRunError as error:
                problem = error
        self._messages = list(messages)
        return found[0] if found else "", problem

    def ending(self, problem: Exception | None) -> Ending:
        exceptions = self._exceptions
        if problem is None:
            responses = [it for it in self._messages if it.kind == "response"]
            was_cut = bool(responses) and responses[-1].finish_reason == "length"
            return "limit" if was_cut else "done"
        if isinstance(problem, exceptions.UsageLimitExceeded | exceptions.OutputTokenLimitExceeded):
            return "limit"
        return "interrupted" if isinstance(problem, exceptions.ModelConnectionError) else "error"

    def history(self) -> list[Message]:
        responses = [at for at, it in enumerate(self._messages) if it.kind == "response"]
        # What the package stored after its last request.
        unsent = self._messages[responses[-1] :] if len(responses) == self.requests else []
        return [*self.sent, *_stored(unsent)]

    def responses(self) -> list[tuple[Turn, TurnMeta]]:
        return [
            (_turn(message), TurnMeta(retries=_retries(self._messages[at + 1 : at + 2])))
            for at, message in enumerate(self._messages)
            if message.kind == "response"
        ]


def _model(task: Task, client_options: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
    models: Any = importlib.import_module(f"pydantic_ai.models.{_family(task)}")
    providers: Any = importlib.import_module(f"pydantic_ai.providers.{_family(task)}")
    package: Any = importlib.import_module(_family(task))
    # The default profile is that of the model's name, and cannot know the provider.
    inline = task.capabilities.allows_midturn_system
    profile = {} if inline else {"supports_inline_system_prompts": False}
    if task.dialect == "anthropic":
        client = package.AsyncAnthropic(**client_options)
        provider = providers.AnthropicProvider(anthropic_client=client)
        return models.AnthropicModel(task.model, provider=provider, profile=profile)
    provider = providers.OpenAIProvider(openai_client=package.AsyncOpenAI(**client_options))
    return models.OpenAIChatModel(task.model, provider=provider, profile=profile)


def _family(task: Task) -> str:
    return "anthropic" if task.dialect == "anthropic" else "openai"


def _turn(response: Any) -> Turn:  # noqa: ANN401 - as above
    finish: Finish | None = None
    failure: StreamFailure | None = None
    if response.state == "interrupted":
        failure = StreamFailure("error", "the package stored the response as interrupted")
    else:
        finish = Finish(_FINISH.get(response.finish_reason, FinishReason.OTHER))
    return Turn(
        text=_text(response, "text"),
        reasoning=_text(response, "thinking"),
        tool_calls=_calls(response) if failure is None else (),
        finish=finish,
        usage=Usage(response.usage.input_tokens, response.usage.output_tokens),
        failure=failure,
    )


def _text(response: Any, kind: str) -> str:  # noqa: ANN401 - as above
    return "".join(part.content for part in response.parts if part.part_kind == kind)


def _calls(response: Any) -> tuple[ToolCall, ...]:  # noqa: ANN401 - as above
    return tuple(
        ToolCall(
            part.tool_call_id,
            part.tool_name,
            part.args if isinstance(part.args, str) else json.dumps(part.args or {}),
        )
        for part in response.parts
        if part.part_kind == "tool-call"
    )


def _retries(following: list[Any]) -> int:
    """Return how many later requests the library sent because it could not use a response."""
    parts = (part for message in following for part in message.parts)
    return sum(part.part_kind == "retry-feedback" for part in parts)


def _stored(messages: list[Any]) -> Iterator[Message]:
    """Yield messages in OpenAI's format; the library marks a message of an interrupted turn."""
    for message in messages:
        if message.kind == "response":
            calls, text = _calls(message), _text(message, "text")
            if (text or calls) and message.state != "interrupted":
                yield assistant(text or None, calls)
            continue
        for part in message.parts:
            if part.part_kind == "tool-return":
                yield tool_result(part.tool_call_id, part.model_response_str())
            elif part.part_kind in {"user-prompt", "retry-feedback"}:
                yield user(str(part.content))


agent: Final = library_agent(
    "pydantic-ai-loop",
    _Run,
    summary="the pydantic-ai package: Agent.run with an event_stream_handler",
    needs=("pydantic_ai", "openai", "anthropic"),
    extra="pydantic-ai",
    dialects=frozenset(("openai-chat", "anthropic")),
    hides=frozenset(("parse_errors",)),
    policies={
        # As documented for `openai_chat_streaming_requires_finish_reason`.
        "absent-finish": "stop",
        # As documented for `RetryFeedbackPart`, whose cause is then `no_output`.
        "empty-turn": "retried",
    },
)
