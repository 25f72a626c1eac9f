"""The gateway: look up what the provider can do, probe where nobody knows, then talk its way.

    supports_tool_use: true    tool_use
                       false   json_fallback
                       None    a probe: a call in its reply -> tool_use, else json_fallback

It never raises for what a model or a provider does.
"""

from typing import Final

from harness.conversation.agent import Agent
from harness.conversation.asking import BODIES
from harness.conversation.conversation import Conversation, Probe
from harness.conversation.dialogue import Dialogue, Way
from harness.conversation.gateway.json_fallback import json_fallback
from harness.conversation.gateway.probe import probe
from harness.conversation.gateway.tool_use import tool_use
from harness.conversation.prompts import PROMPTS
from harness.conversation.task import Task
from harness.normalizers import reference

_PROTOCOLS: Final = frozenset(("native-tools", "json-fallback"))


def converse(task: Task) -> Conversation:
    """Have the conversation of `task`.

    Raises:
        UsageError: the task names a prompt or a dialect that does not exist, or its pattern for
            ids leaves no room for one more.
    """
    return Dialogue(task, *plan(task)).have()


def plan(task: Task) -> tuple[Way, Probe | None]:
    """Return how to talk to the provider, and the probe that was needed to know."""
    takes_tools, shown = _takes_tools(task)
    return tool_use(task) if takes_tools else json_fallback(task), shown


def _takes_tools(task: Task) -> tuple[bool, Probe | None]:
    """Return whether the provider takes tools, and the probe that was needed to know."""
    declared = task.capabilities.supports_tool_use
    if task.prompt in _FALLBACKS or not task.tools:
        return task.prompt not in _FALLBACKS, None
    if declared is not None:
        return declared, None
    shown = probe(task)
    return shown.ok, shown


_FALLBACKS: Final = frozenset(
    prompt.id for prompt in PROMPTS.values() if prompt.protocol == "json-fallback"
)
gateway: Final = Agent(
    name="gateway",
    converse=converse,
    dialects=frozenset(BODIES),
    prompts=frozenset(prompt.id for prompt in PROMPTS.values() if prompt.protocol in _PROTOCOLS),
    summary="seed system 4: tool use or JSON fallback by capability, probe, one retry",
    policies={
        "history": "merged",
        "probe": "undeclared",
        "retry": "once",
        "batch": "per-call",
        **reference.POLICY.declared(),
    },
)
