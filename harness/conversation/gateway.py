"""The gateway agent: use tools if the provider supports them, and JSON in the text if not.

    supports_tool_use: true    tool_use
                       false   json_fallback
                       None    a probe: a call in its reply -> tool_use, else json_fallback

Tool use sends the tools in their own field. A call that cannot be parsed becomes text for the
model, and nothing is executed. The JSON fallback describes the tools in the system text, and a
call is a code block of JSON in the reply. Models add narration, forget the fence or stop early:
text that only looks like a call is a parse error, and the model is asked again. The gateway never
raises because of what a model or a provider does.
"""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.conversation import Conversation, Probe
from harness.conversation.feedback import REFUSAL_TEXTS, parse_error_reports
from harness.conversation.history.storing import StoringOptions, incomplete_reason
from harness.conversation.probe import probe
from harness.conversation.prompts import PROMPTS, Prompt, find_prompt
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.conversation.wording import Language
from harness.dialects.table import AGENT_DIALECTS
from harness.normalizers import reference
from harness.normalizers.respond import respond_with_text_calls
from harness.text_calls import ARGUMENTS_KEYS, NAME_KEYS, TextPolicy
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    SNIPPET_CHARACTERS,
    Delta,
    Finish,
    FinishReason,
    ParseError,
)
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

_COLON: Final = r"""["']\s{0,20}:\s{0,20}"""
# A name right behind a brace, or anywhere; the text may end inside it.
_NAME: Final = re.compile(
    rf"""(\{{\s{{0,200}})?["'](?:{"|".join(NAME_KEYS)}){_COLON}["']([^"'\\]{{1,200}})(["']|\Z)"""
)
_ARGUMENTS: Final = re.compile(rf"""["'](?:{"|".join(ARGUMENTS_KEYS)}){_COLON}""")
# These keys stand first in nothing but calls; others, such as `input`, may be data.
_ARGUMENTS_FIRST: Final = re.compile(
    rf"""\{{\s{{0,200}}["'](?:arguments|tool_args){_COLON}[{{"']"""
)
_UNREADABLE: Final = (
    "expected one strict JSON object with the name of a tool and its arguments, found text that "
    "only looks like one"
)


def attempted_call(text: str, known: AbstractSet[str]) -> ParseError | None:
    """Return a report of the first call that `text` attempts.

    Args:
        text: what the model said, without calls that could be read.
        known: names of the tools that were offered.
    """
    return (
        _attempt_at_known_tool(text, known)
        or _attempt_at_unknown_tool(text, known)
        or _attempt_without_name(text)
    )


def _attempt_at_known_tool(text: str, known: AbstractSet[str]) -> ParseError | None:
    arguments = _ARGUMENTS.search(text)
    for found in _NAME.finditer(text):
        behind_brace, name, closed = found.groups()
        if name in known and (behind_brace or arguments):
            start = found.start() if arguments is None else min(arguments.start(), found.start())
            return _attempt_error(text, start, _UNREADABLE, name)
        if behind_brace and not closed and any(each.startswith(name) for each in known):
            return _attempt_error(text, found.start(), _UNREADABLE)
    return None


def _attempt_at_unknown_tool(text: str, known: AbstractSet[str]) -> ParseError | None:
    for found in _NAME.finditer(text):
        name = found[2]
        if found[1] and name not in known:
            says_more = _ARGUMENTS.search(text, found.end())
            return (
                _attempt_error(text, found.start(), f"there is no tool {name!r}", name)
                if says_more
                else None
            )
    return None


def _attempt_without_name(text: str) -> ParseError | None:
    found = _ARGUMENTS_FIRST.search(text)
    return _attempt_error(text, found.start(), _UNREADABLE) if found else None


def _attempt_error(text: str, start: int, error: str, name: str = "") -> ParseError:
    snippet = text[start : start + SNIPPET_CHARACTERS]
    return ParseError("json_fallback", error, snippet, "", name)


# The provider's words for a call that the model spelled wrong (quirk PROVIDER-REJECTS-OWN-CALL),
# and ours for a finish that announces calls where none came.
_RETRYABLE: Final = frozenset(("tool_use_failed", "calls_missing"))
_MOST_REASON_CHARACTERS: Final = 300


def retry_reason(turn: Turn, prompt: Prompt) -> str:
    """Return what to tell the model of its reply."""
    words = REFUSAL_TEXTS[prompt.language]
    why = incomplete_reason(turn)
    if not why:
        return (
            parse_error_reports(turn.parse_errors)
            if turn.parse_errors and not turn.tool_calls
            else ""
        )
    if turn.failure is not None:
        said = f"{why}: {turn.failure.message}"[:_MOST_REASON_CHARACTERS]
        return words.provider.format(why=said) if turn.failure.code in _RETRYABLE else ""
    cut = turn.finish is not None and turn.finish.reason is FinishReason.LENGTH
    called = turn.tool_calls or turn.parse_errors
    return words.cut.format(why=why) if cut and called else ""


def resolve_stop_reason(turn: Turn) -> Turn:
    """Return `turn` with the reason that its calls show; one that was cut short keeps its own."""
    if turn.finish is None:
        return turn
    reason = turn.finish.reason
    if turn.tool_calls and reason in DECIDED_BY_CALLS:
        return replace(turn, finish=Finish(FinishReason.TOOL_CALLS, turn.finish.raw))
    if not turn.tool_calls and reason is FinishReason.TOOL_CALLS:
        return replace(turn, finish=Finish(FinishReason.STOP, turn.finish.raw))
    return turn


_TOOL_USE_PROMPTS: dict[Language, str] = {"en": "native-tools/v1", "zh": "native-tools-zh/v1"}


def tool_use_config(task: Task) -> AgentConfig:
    """Return how the gateway talks to a provider that takes tools."""
    serial = not task.capabilities.supports_parallel_tools
    return AgentConfig(
        normalize=reference.normalize,
        prompt=find_prompt(_TOOL_USE_PROMPTS[find_prompt(task.prompt).language]),
        strategy="tool_use",
        storing=StoringOptions(rejected="text"),
        # An explicit false is sent, and nothing where it is not false (PARALLEL-FALSE-DROPPED).
        options={"parallel_tool_calls": False} if serial else {},
        serial=serial,
        resolve=resolve_stop_reason,
        retry_reason=retry_reason,
    )


_FALLBACK_PROMPTS: dict[Language, str] = {"en": "json-fallback/v1", "zh": "json-fallback-zh/v1"}
# The template teaches that a code block is a call, so here it is no example.
FALLBACK_TEXT_POLICY: Final = TextPolicy(
    dialects=frozenset(("fenced-json", "bare-json", "tagged-json")), bare="anywhere", code="calls"
)
# What is left of a code block whose call was taken out.
_EMPTY_FENCE: Final = re.compile(r"```[a-zA-Z_]{0,20}\s{0,20}```")


def json_fallback_config(task: Task) -> AgentConfig:
    """Return how the gateway talks to a provider that takes no tools."""
    known = frozenset(tool.name for tool in task.tools)
    return AgentConfig(
        normalize=_normalize_fallback,
        prompt=find_prompt(_FALLBACK_PROMPTS[find_prompt(task.prompt).language]),
        strategy="json_fallback",
        storing=StoringOptions(rejected="text"),
        # The template asks for one call in each reply.
        serial=True,
        resolve=lambda turn: resolve_stop_reason(_with_attempt(turn, known)),
        retry_reason=retry_reason,
    )


def _normalize_fallback(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    return respond_with_text_calls(interaction, reads, FALLBACK_TEXT_POLICY)


def _with_attempt(turn: Turn, known: frozenset[str]) -> Turn:
    """Return `turn` with a report of what was meant as a call and is none."""
    if turn.tool_calls or turn.parse_errors:
        return replace(turn, text=_EMPTY_FENCE.sub("", turn.text).strip())
    attempt = attempted_call(turn.text, known) if known and turn.failure is None else None
    return replace(turn, parse_errors=(attempt,)) if attempt else turn


_PROTOCOLS: Final = frozenset(("native-tools", "json-fallback"))


def converse(task: Task) -> Conversation:
    """Have the conversation of `task`.

    Raises:
        UsageError: the task names a prompt or a dialect that does not exist, or its pattern for
            ids leaves no room for one more.
    """
    return ToolLoop(task, *choose_config(task)).run_conversation()


def choose_config(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Return how to talk to the provider, and the probe that was needed to know."""
    takes_tools, shown = _supports_tools(task)
    return tool_use_config(task) if takes_tools else json_fallback_config(task), shown


def _supports_tools(task: Task) -> tuple[bool, Probe | None]:
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
    dialects=AGENT_DIALECTS,
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
