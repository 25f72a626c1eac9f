"""Adapter of openai-agents: `Runner.run_streamed`, its agent loop, with chat completions.

The next question continues with `to_input_list()`, as its documentation does. Tools are
`FunctionTool` objects, which get their arguments as text and return an error as text. The
model gets a hook if the provider wants its reasoning back.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from harness.conversation.sdk.task_run import HTTP, CallError, TaskRun, json_text, library_agent
from harness.conversation.task import Task
from harness.normalizers import sdk
from harness.results.conversation import Ending, TurnMeta
from harness.turns.deltas import Finish, FinishReason, ToolCall, Usage
from harness.turns.messages import Message, system
from harness.turns.turn import Tool, Turn


class _Run(TaskRun):
    """The library's runner on one task, called once for each question."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._agents: Any = importlib.import_module("agents")
        self._openai: Any = importlib.import_module("openai")
        self._agent: Any = None
        self._items: list[Any] = []
        self._responses: list[Any] = []

    def start(self, client_options: dict[str, Any]) -> None:
        serial = not self.task.capabilities.supports_parallel_tools
        settings = {"parallel_tool_calls": False} if serial else {}
        self._agent = self._agents.Agent(
            name="assistant",
            instructions=self.instructions,
            model=self._agents.OpenAIChatCompletionsModel(
                self.task.model,
                self._openai.AsyncOpenAI(**client_options),
                should_replay_reasoning_content=self._replay,
            ),
            model_settings=self._agents.ModelSettings(**settings),
            tools=[self._tool(tool) for tool in self.task.tools],
        )

    @property
    def _replay(self) -> Callable[[Any], bool] | None:
        """The hook that sends reasoning back to the provider; None for the library's default."""
        wanted = self.task.capabilities.reasoning_field == "reasoning_content"
        return (lambda _context: True) if wanted else None

    def _tool(self, tool: Tool) -> Any:  # noqa: ANN401 - as above
        async def invoke(context: Any, arguments: str) -> str:  # noqa: ANN401 - as above
            try:
                result = self.call_json(context.tool_call_id, tool.name, arguments)
            except CallError as error:
                return str(error)
            return json_text(result)

        return self._agents.FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )

    def answer_question(self, question: str) -> tuple[str, Exception | None]:
        asked = [*self._items, {"role": "user", "content": question}]
        result: Any = None

        async def events() -> Any:  # noqa: ANN401 - as above
            nonlocal result
            result = self._agents.Runner.run_streamed(
                self._agent,
                asked,
                max_turns=self.task.limits.rounds,
                run_config=self._agents.RunConfig(tracing_disabled=True),
            )
            return result.stream_events()

        problem: Exception | None = None
        try:
            for _ in sdk.iterate(events()):
                pass
        except (self._agents.AgentsException, self._openai.OpenAIError) as error:
            problem = error
        except importlib.import_module(HTTP).TransportError as error:  # openai lets it pass
            problem = error
        self._items = result.to_input_list()
        self._responses += result.raw_responses
        return str(result.final_output or ""), problem

    def ending(self, problem: Exception | None) -> Ending:
        if problem is None:
            return "done"
        if isinstance(problem, self._agents.MaxTurnsExceeded):
            return "limit"
        broken = isinstance(problem, self._openai.APIConnectionError)
        is_reported = isinstance(problem, self._agents.AgentsException | self._openai.OpenAIError)
        return "interrupted" if broken or not is_reported else "error"

    def history(self) -> list[Message]:
        converter: Any = importlib.import_module("agents.models.chatcmpl_converter").Converter
        found = converter.items_to_messages(
            self._items, model=self.task.model, should_replay_reasoning_content=self._replay
        )
        return [system(self.instructions), *found]

    def responses(self) -> list[tuple[Turn, TurnMeta]]:
        return [(_turn(response), TurnMeta()) for response in self._responses]


def _turn(response: Any) -> Turn:  # noqa: ANN401 - as above
    calls = tuple(
        ToolCall(item.call_id, item.name, item.arguments)
        for item in response.output
        if item.type == "function_call"
    )
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    return Turn(
        text="".join(_texts(response)),
        tool_calls=calls,
        finish=Finish(reason),
        usage=Usage(response.usage.input_tokens, response.usage.output_tokens),
    )


def _texts(response: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    for item in response.output:
        if item.type == "message":
            yield from (part.text for part in item.content if part.type == "output_text")


agent: Final = library_agent(
    "openai-agents-loop",
    _Run,
    summary="the openai-agents package: Runner.run_streamed with OpenAIChatCompletionsModel",
    needs=("agents", "openai"),
    extra="openai-agents",
    # Its responses have the form of the Responses API, which has no finish reason.
    hides=frozenset(("finish", "parse_errors")),
)
