"""The plain loop: the tool loop with any normalizer, and with no more than an agent needs.

It uses the task's prompt, answers each unusable call with an error, and never sends a retry,
because the model decides how to react to an error. Agents with this loop differ in the normalizer,
the prompts and how turns become messages.
"""

from typing import Final

from harness.conversation.agent import Agent, Converse
from harness.conversation.history.storing import HistoryPolicy, StoringOptions
from harness.conversation.prompts import PROMPTS, Protocol, find_prompt
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.dialects.table import AGENT_DIALECTS
from harness.normalizers import reference, seed_systems
from harness.normalizers.protocol import Normalize, Normalizer
from harness.results.conversation import Conversation

_POLICIES: Final = {"probe": "never", "retry": "never", "batch": "per-call"}


def agent_config(
    task: Task, normalize: Normalize, history: HistoryPolicy = "merged"
) -> AgentConfig:
    """Return the configuration of the plain loop for a task.

    Args:
        task: the task.
        normalize: the function that parses responses.
        history: how turns become messages.
    """
    serial = not task.capabilities.supports_parallel_tools
    return AgentConfig(
        normalize=normalize,
        prompt=find_prompt(task.prompt),
        policy=history,
        storing=StoringOptions(rejected="result"),
        options={"parallel_tool_calls": False} if serial else {},
    )


def plain_loop(normalize: Normalize, history: HistoryPolicy = "merged") -> Converse:
    """Return an agent's function that runs the plain loop.

    It parses responses with `normalize`, and stores turns as the policy `history` specifies. It
    raises a UsageError for an unknown prompt or dialect.
    """

    def converse(task: Task) -> Conversation:
        return ToolLoop(task, agent_config(task, normalize, history)).run_conversation()

    return converse


def _agent(
    name: str,
    summary: str,
    normalizer: Normalizer,
    *protocols: Protocol,
    history: HistoryPolicy = "merged",
) -> Agent:
    prompts = (prompt for prompt in PROMPTS.values() if prompt.protocol in protocols)
    return Agent(
        name=name,
        converse=plain_loop(normalizer.normalize, history),
        dialects=normalizer.dialects & AGENT_DIALECTS,
        prompts=frozenset(prompt.id for prompt in prompts),
        summary=summary,
        policies={"history": history, **_POLICIES, **normalizer.policies},
    )


plain: Final = _agent(
    "plain-loop",
    "seed system 5: the tool loop over `reference`, turns merged into messages",
    reference.normalizer,
    "native-tools",
    "tag-tools",
    "action-protocol",
    "react",
)
direct: Final = _agent(
    "direct-loop",
    "seed system 5, its first scheme: one message for each part of a turn",
    reference.normalizer,
    "native-tools",
    history="direct",
)
grouped: Final = _agent(
    "grouped-loop",
    "seed system 5, its third scheme: messages named after their iteration",
    reference.normalizer,
    "native-tools",
    history="grouped",
)
dashscope: Final = _agent(
    "dashscope-loop",
    "seed system 1 in a loop: native tools on DashScope, id and name restored",
    seed_systems.dashscope_restore,
    "native-tools",
)
tag: Final = _agent(
    "tag-loop",
    "seed system 2 in a loop: tools described in the prompt, calls in <tool_call> tags",
    seed_systems.tag_extract,
    "tag-tools",
)
action: Final = _agent(
    "action-loop",
    "seed system 3 in a loop: each reply is one JSON object with an action",
    seed_systems.action_protocol,
    "action-protocol",
)
