"""Adapter of openai-agents: `Runner.run_streamed`, its agent loop, with chat completions.

The next question continues with `to_input_list()`, as its documentation does. Tools are
`FunctionTool` objects, which get their arguments as text and return an error as text.
"""

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from harness.conversation.agent import Agent
from harness.conversation.conversation import Conversation, Ending, Meta
from harness.conversation.sdk.task_run import CallError, TaskRun
from harness.conversation.task import Task
from harness.normalizers import sdk
from harness.turns.deltas import Finish, FinishReason, ToolCall, Usage
from harness.turns.messages import Message, system
from harness.turns.turn import Tool, Turn

_HTTP: Final = "httpx2"


def converse(task: Task) -> Conversation:
    """Run the conversation of a task with the package's runner."""
    return _Runs(task).converse()


class _Runs:
    """The runs of one task, one for each question."""

    def __init__(self, task: Task) -> None:
        self._agents: Any = importlib.import_module("agents")
        self._openai: Any = importlib.import_module("openai")
        self._task = task
        self._run = TaskRun(task, _HTTP)
        self._items: list[Any] = []
        self._responses: list[Any] = []

    def converse(self) -> Conversation:
        http, answers = _http()
        answers.play(self._run.answer)
        agent = self._agent(http)
        ending: Ending = "done"
        answer, problem = "", None
        for question in self._task.questions:
            answer, problem = self._answer_question(agent, question)
            if problem is not None:
                ending = self._ending(problem)
                break
        responses = [(_turn(response), Meta()) for response in self._responses]
        return self._run.conversation(self._messages(), responses, ending, answer, problem)

    def _agent(self, http: Any) -> Any:  # noqa: ANN401 - objects of a package that may not be installed
        options = sdk.client_options(http) | {"base_url": self._run.base_url}
        client = self._openai.AsyncOpenAI(**options)
        serial = not self._task.capabilities.supports_parallel_tools
        settings = {"parallel_tool_calls": False} if serial else {}
        return self._agents.Agent(
            name="assistant",
            instructions=self._run.instructions,
            model=self._agents.OpenAIChatCompletionsModel(self._task.model, client),
            model_settings=self._agents.ModelSettings(**settings),
            tools=[self._tool(tool) for tool in self._task.tools],
        )

    def _tool(self, tool: Tool) -> Any:  # noqa: ANN401 - as above
        async def invoke(context: Any, arguments: str) -> object:  # noqa: ANN401 - as above
            try:
                return self._run.call_json(context.tool_call_id, tool.name, arguments)
            except CallError as error:
                return str(error)

        return self._agents.FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )

    def _answer_question(self, agent: Any, question: str) -> tuple[str, Exception | None]:  # noqa: ANN401 - as above
        """Run the agent; return its answer, and the exception that ended the run."""
        asked = [*self._items, {"role": "user", "content": question}]
        result: Any = None

        async def events() -> Any:  # noqa: ANN401 - as above
            nonlocal result
            result = self._agents.Runner.run_streamed(
                agent,
                asked,
                max_turns=self._task.limits.rounds,
                run_config=self._agents.RunConfig(tracing_disabled=True),
            )
            return result.stream_events()

        problem: Exception | None = None
        try:
            for _ in sdk.iterate(events()):
                pass
        except (self._agents.AgentsException, self._openai.OpenAIError) as error:
            problem = error
        except importlib.import_module(_HTTP).TransportError as error:  # openai lets it pass
            problem = error
        self._items = result.to_input_list()
        self._responses += result.raw_responses
        return str(result.final_output or ""), problem

    def _ending(self, problem: Exception) -> Ending:
        if isinstance(problem, self._agents.MaxTurnsExceeded):
            return "limit"
        broken = isinstance(problem, self._openai.APIConnectionError)
        is_reported = isinstance(problem, self._agents.AgentsException | self._openai.OpenAIError)
        return "interrupted" if broken or not is_reported else "error"

    def _messages(self) -> list[Message]:
        """Return the history as the package's model would send it next."""
        converter: Any = importlib.import_module("agents.models.chatcmpl_converter").Converter
        found = converter.items_to_messages(self._items, model=self._task.model)
        return [system(self._run.instructions), *found]


@cache
def _http() -> tuple[Any, sdk.Answers]:
    return sdk.lasting_async_client(_HTTP)


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


agent: Final = Agent(
    name="openai-agents-loop",
    converse=converse,
    # Its responses have the form of the Responses API, which has no finish reason.
    hides=frozenset(("finish", "parse_errors")),
    role="peer",
    summary="the openai-agents package: Runner.run_streamed with OpenAIChatCompletionsModel",
    policies={
        "history": "merged",
        "probe": "never",
        "retry": "never",
        "identical-calls": "unlimited",
        "truncation": "never",
        "last-round": "executed",
    },
    needs=("agents", "openai", "httpx2"),
    extra="openai-agents",
)
