"""Mutants that describe the task wrongly to the model."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.channel import Channel
from harness.conversation.gateway import PROBE_QUESTION, gateway
from harness.conversation.history.storing import HistoryPolicy, StoringOptions
from harness.conversation.mutants.edit import channel_mutant, loop_mutant
from harness.conversation.prompts import PROMPTS, Prompt, system_text
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.normalizers.protocol import Normalize
from harness.results.conversation import Probe
from harness.turns.messages import Message, system
from harness.turns.turn import Tool, Turn

_EXAMPLE: Final = '\n\n```json\n{"name": "TOOL_NAME", "arguments": {}}\n```'


@loop_mutant("system-forgotten", "CONV-SYSTEM-LOST")
class _WithoutSystem(ToolLoop):
    """Replaces the application's system text by its own."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        super().__init__(replace(task, system=""), config, probe)


@loop_mutant("tools-offered-twice", "CONV-TOOLS-OFFERED", of=gateway)
class _OfferedTwice(ToolLoop):
    """Sends the tools in their field, and describes calls in JSON in the system text too."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        if not config.prompt.describes_tools and task.tools:
            both = system_text(PROMPTS["json-fallback/v1"], task.tools, task.system)
            task = replace(task, system=both)
        super().__init__(task, config, probe)


@channel_mutant("last-tool-forgotten", "CONV-TOOLS-OFFERED")
class _LastToolForgotten(Channel):
    """Declares the last tool in the first request only."""

    def request_turn(
        self, history: Sequence[Message], normalize: Normalize, options: Mapping[str, Any]
    ) -> Turn:
        turn = super().request_turn(history, normalize, options)
        self._tools = self._tools[:-1] or self._tools
        return turn


@channel_mutant("descriptions-undeclared", "CONV-TOOLS-OFFERED")
class _WithoutDescriptions(Channel):
    """Declares the tools without their descriptions."""

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        super().__init__(task, prompt, policy, storing)
        self._tools = tuple(replace(tool, description="") for tool in self._tools)


@channel_mutant("required-undeclared", "CONV-TOOLS-OFFERED")
class _WithoutRequired(Channel):
    """Declares each parameter as optional."""

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        super().__init__(task, prompt, policy, storing)
        self._tools = tuple(
            replace(tool, parameters={**tool.parameters, "required": []}) for tool in self._tools
        )


@channel_mutant("required-undescribed", "CONV-TOOLS-OFFERED")
class _WithoutRequiredInText(Channel):
    """Describes the required parameters of tools in the system text as the optional ones."""

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        super().__init__(task, prompt, policy, storing)
        if prompt.describes_tools:
            tools = tuple(map(_with_optional_alone, task.tools))
            self._system = system(system_text(prompt, tools, task.system))


def _with_optional_alone(tool: Tool) -> Tool:
    schema = tool.parameters
    has_both = len(schema.get("properties", ())) > len(schema.get("required", ()))
    return replace(tool, parameters={**schema, "required": []}) if has_both else tool


@channel_mutant("types-undescribed", "CONV-PROMPT-TEXT")
class _WithoutTypes(Channel):
    """Describes the parameters of tools in the system text without their types."""

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        super().__init__(task, prompt, policy, storing)
        if prompt.describes_tools:
            tools = tuple(map(_without_types, task.tools))
            self._system = system(system_text(prompt, tools, task.system))


def _without_types(tool: Tool) -> Tool:
    untyped: dict[str, Any] = {name: {} for name in tool.parameters.get("properties", {})}
    required = tool.parameters.get("required", [])
    return replace(tool, parameters={"properties": untyped, "required": required})


@channel_mutant("example-given-twice", "CONV-PROMPT-TEXT")
class _TwoExamples(Channel):
    """Adds another example of a call to the system text."""

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        super().__init__(task, prompt, policy, storing)
        if prompt.describes_tools and task.tools:
            self._system = system(self._system["content"] + _EXAMPLE)


@channel_mutant("json-mode-sent", "CONV-REQUEST")
class _JsonMode(Channel):
    """Sends `response_format` if the system text describes the tools, though no prompt says so."""

    def request_turn(
        self, history: Sequence[Message], normalize: Normalize, options: Mapping[str, Any]
    ) -> Turn:
        asked = {"response_format": {"type": "json_object"}} if self.prompt.describes_tools else {}
        return super().request_turn(history, normalize, {**options, **asked})


@loop_mutant("probe-stored", "CONV-PROBE-LEAKED", of=gateway)
class _ProbeStored(ToolLoop):
    """Begins the user's conversation with the question of the probe."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        super().__init__(task, config, probe)
        if probe is not None:
            self.add_user_text(PROBE_QUESTION)
