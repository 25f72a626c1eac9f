"""The gateway agent: send tools in the API's field if the provider supports it, else in text.

    supports_tool_use: true    tool_use
                       false   json_fallback
                       None    a probe: a call in its response -> tool_use, else json_fallback

A probe is a test request that asks for a call of a dummy tool. `tool_use` sends the tools in the
API's field. A call that cannot be parsed becomes text for the model, and nothing is executed.
`json_fallback` describes the tools in the system text, and a call is a code block of JSON in the
response. It is deprecated: only a provider without tools gets it. Models add narration, forget the
code fence or stop early. Text that only looks like a call is a parse error, and the agent asks the
model again, with an example of a call if the provider's `json_stability` is low. The gateway raises
no exception because of what a model or a provider does.
"""

import json
import re
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.channel import assistant_text
from harness.conversation.feedback import parse_error_reports
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.prompts import PROMPTS, Prompt, Protocol, find_prompt, newest_prompt
from harness.conversation.prompts.examples import example_arguments
from harness.conversation.replies import next_request, request_turn
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.conversation.wording import TEXTS
from harness.dialects.table import AGENT_DIALECTS, DIALECTS
from harness.normalizers import reference
from harness.normalizers.respond import respond, respond_with_text_calls
from harness.results.conversation import Conversation, Probe
from harness.text_calls import ARGUMENTS_KEYS, NAME_KEYS, TextPolicy
from harness.turns.deltas import (
    SNIPPET_CHARACTERS,
    Finish,
    FinishReason,
    ParseError,
    ToolCall,
)
from harness.turns.messages import user
from harness.turns.turn import Tool, Turn

_COLON: Final = r"""["']\s{0,20}:\s{0,20}"""
# A name right after a brace, or anywhere; the text may end inside it.
_NAME: Final = re.compile(
    rf"""(\{{\s{{0,200}})?["'](?:{"|".join(NAME_KEYS)}){_COLON}["']([^"'\\]{{1,200}})(["']|\Z)"""
)
_ARGUMENTS: Final = re.compile(rf"""["'](?:{"|".join(ARGUMENTS_KEYS)}){_COLON}""")
# An object that begins with one of these keys is a call; other keys, such as `input`, may be data.
_ARGUMENTS_FIRST: Final = re.compile(
    rf"""\{{\s{{0,200}}["'](?:arguments|tool_args){_COLON}[{{"']"""
)
_UNREADABLE: Final = (
    "expected one strict JSON object with the name of a tool and its arguments, found text that "
    "only looks like one"
)


def attempted_call(text: str, known: AbstractSet[str]) -> ParseError | None:
    """Return the error of the first call that `text` attempts, or None if it attempts none.

    Weak models forget quotes, use Python's, begin with the arguments or stop in the middle of a
    name. Such text is not an answer: the user must see that no call was executed. Other JSON in the
    text is not an attempt, because it names no offered tool or contains no arguments.

    Args:
        text: the text of the model, without calls that could be parsed.
        known: names of the offered tools.
    """
    return (
        _attempt_at_known_tool(text, known)
        or _attempt_at_unknown_tool(text)
        or _attempt_without_name(text)
    )


def _attempt_at_known_tool(text: str, known: AbstractSet[str]) -> ParseError | None:
    arguments = _ARGUMENTS.search(text)
    for found in _NAME.finditer(text):
        after_brace, name, closed = found.groups()
        if name in known and (after_brace or arguments):
            start = found.start() if arguments is None else min(arguments.start(), found.start())
            return _attempt_error(text, start, _UNREADABLE, name)
        if after_brace and not closed and any(each.startswith(name) for each in known):
            return _attempt_error(text, found.start(), _UNREADABLE)
    return None


def _attempt_at_unknown_tool(text: str) -> ParseError | None:
    for found in _NAME.finditer(text):
        name = found[2]
        if found[1]:  # a known name after a brace was found before
            if not _ARGUMENTS.search(text, found.end()):
                return None
            return _attempt_error(text, found.start(), f"there is no tool {name!r}", name)
    return None


def _attempt_without_name(text: str) -> ParseError | None:
    found = _ARGUMENTS_FIRST.search(text)
    return _attempt_error(text, found.start(), _UNREADABLE) if found else None


def _attempt_error(text: str, start: int, error: str, name: str = "") -> ParseError:
    snippet = text[start : start + SNIPPET_CHARACTERS]
    return ParseError("json_fallback", error, snippet, "", name)


# Failure codes for a call that the model wrote in a wrong format: the provider's own code (quirk
# PROVIDER-REJECTS-OWN-CALL), and this project's for a finish that announces calls without any.
_RETRYABLE: Final = frozenset(("tool_use_failed", "calls_missing"))
_MOST_REASON_CHARACTERS: Final = 300


def retry_reason(turn: Turn, prompt: Prompt) -> str:
    """Return why the agent must ask the model again for a turn; "" if it must not.

    A retry makes sense only for errors that the model can fix: a call that cannot be parsed, a
    reply that was truncated inside a call, a call that the provider rejected. A retry does not help
    with a failed provider or an interrupted stream, and an empty turn may be correct (quirk
    TURN-EMPTY-IS-DONE).
    """
    texts = TEXTS[prompt.language].refusal
    code = incomplete_reason(turn)
    if not code:
        return "" if turn.tool_calls else parse_error_reports(turn.parse_errors)
    if turn.failure is not None:
        failure = f"{code}: {turn.failure.message}"[:_MOST_REASON_CHARACTERS]
        return texts.provider.format(why=failure) if turn.failure.code in _RETRYABLE else ""
    truncated = code == FinishReason.LENGTH.value
    called = turn.tool_calls or turn.parse_errors
    return texts.cut.format(why=code) if truncated and called else ""


def resolve_stop_reason(turn: Turn) -> Turn:
    """Return `turn` with the finish reason "stop" if it announces calls and has no usable call."""
    if turn.finish is None or turn.tool_calls or turn.finish.reason is not FinishReason.TOOL_CALLS:
        return turn
    return replace(turn, finish=Finish(FinishReason.STOP, turn.finish.raw))


def tool_use_config(task: Task) -> AgentConfig:
    """Return the agent's configuration for a provider that supports tools in the API's field."""
    serial = not task.capabilities.supports_parallel_tools
    return AgentConfig(
        normalize=reference.normalize,
        prompt=_prompt_like(task, "native-tools"),
        strategy="tool_use",
        # An explicit false is sent, and otherwise nothing (quirk PARALLEL-FALSE-DROPPED).
        options={"parallel_tool_calls": False} if serial else {},
        serial=serial,
        resolve=resolve_stop_reason,
        retry_reason=retry_reason,
    )


# The prompt says that a code block is a call, so it is not an example, also if words follow it.
FALLBACK_TEXT_POLICY: Final = TextPolicy(
    dialects=frozenset(("bare-json", "tagged-json")), bare="anywhere", code="calls"
)
# The rest of a code block whose call was removed.
_EMPTY_FENCE: Final = re.compile(r"```[a-zA-Z_]{0,20}\s{0,20}(?:```|\Z)")


def json_fallback_config(task: Task) -> AgentConfig:
    """Return how the gateway's agent works if the provider does not support tools.

    Its prompt describes the tools, and the model writes each call as JSON in its text.
    """
    known = frozenset(tool.name for tool in task.tools)
    prompt = _prompt_like(task, "json-fallback")
    return AgentConfig(
        normalize=partial(respond_with_text_calls, policy=FALLBACK_TEXT_POLICY),
        prompt=prompt,
        strategy="json_fallback",
        serial=True,  # the prompt asks for one call in each reply
        resolve=lambda turn: resolve_stop_reason(_with_attempt(turn, known)),
        retry_reason=retry_reason,
        retry_example=lambda turn: retry_example(task, prompt, turn),
    )


def retry_example(task: Task, prompt: Prompt, turn: Turn) -> str:
    """Return an example of a call for a model whose JSON is unreliable; "" for other models.

    The example calls the tool that the response names, or else the first tool.
    """
    if task.capabilities.json_stability != "low" or not task.tools:
        return ""
    tools = {tool.name: tool for tool in task.tools}
    names = [error.name for error in turn.parse_errors] + [call.name for call in turn.tool_calls]
    tool = next((tools[name] for name in names if name in tools), task.tools[0])
    arguments = json.dumps(example_arguments(tool), ensure_ascii=False)
    call = assistant_text(prompt, Turn(tool_calls=(ToolCall("", tool.name, arguments),)))
    return TEXTS[prompt.language].refusal.example.format(name=tool.name, call=call)


def _prompt_like(task: Task, protocol: Protocol) -> Prompt:
    """Return the task's prompt if it has this protocol, else the newest one in its language."""
    own = find_prompt(task.prompt)
    return own if own.protocol == protocol else newest_prompt(protocol, own.language)


def _with_attempt(turn: Turn, known: frozenset[str]) -> Turn:
    """Return `turn` with a parse error if its text only looks like a call."""
    if turn.tool_calls or turn.parse_errors:
        return replace(turn, text=_EMPTY_FENCE.sub("", turn.text).strip())
    attempt = attempted_call(turn.text, known) if known and turn.failure is None else None
    return replace(turn, parse_errors=(attempt,)) if attempt else turn


# The dummy is never executed, and the probe is not part of the history.
DUMMY: Final = Tool(
    "harness_probe",
    "Does nothing. Call it to show that you can call tools.",
    {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "description": "always true"}},
        "required": ["ok"],
    },
)
PROBE_QUESTION: Final = "Call the tool harness_probe with ok = true, and say nothing."
_CHOICE: Final[dict[str, Any]] = {
    "tool_choice": {"type": "function", "function": {"name": DUMMY.name}}
}
# Dialects in which a request can name the tool to call; `next_request` refuses unknown ones.
_REQUIRE_TOOLS: Final = frozenset(row.name for row in DIALECTS.values() if row.can_require_tool)
_REFUSALS: Final = frozenset(("refusal",))
_MOST_ERROR_CHARACTERS: Final = 200


def probe(task: Task) -> Probe:
    """Find out whether the provider supports tools, by one request to call a dummy tool.

    A call in the API's own field means yes. Text or a refusal means no. After any other response,
    the support is unknown, and the gateway uses the JSON fallback.
    """
    asked = replace(task, tools=(DUMMY,))
    options = _CHOICE if task.dialect in _REQUIRE_TOOLS else {}
    request = next_request(asked, [user(PROBE_QUESTION)], asked.tools, options)
    # Calls in text prove nothing about the field, so they are not parsed.
    return _probe_result(request_turn(asked, request, respond))


def _probe_result(turn: Turn) -> Probe:
    failure = turn.failure
    if failure is not None and failure.code not in _REFUSALS:
        return Probe(ok=False, error=f"{failure.code}: {failure.message}"[:_MOST_ERROR_CHARACTERS])
    return Probe(ok=failure is None and bool(turn.tool_calls or turn.parse_errors))


def converse(task: Task) -> Conversation:
    """Run the conversation of `task`.

    Raises:
        UsageError: the task's prompt or dialect is unknown, or no more ids match its pattern.
    """
    return ToolLoop(task, *choose_config(task)).run_conversation()


def choose_config(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Return the configuration for the provider, and the result of the probe if one was sent."""
    fallback = task.prompt in PROMPTS and PROMPTS[task.prompt].protocol == "json-fallback"
    declared, result = task.capabilities.supports_tool_use, None
    if fallback or not task.tools:
        declared = not fallback
    elif declared is None:
        result = probe(task)
        declared = result.ok
    return tool_use_config(task) if declared else json_fallback_config(task), result


gateway: Final = Agent(
    name="gateway",
    converse=converse,
    dialects=AGENT_DIALECTS,
    prompts=frozenset(
        it.id for it in PROMPTS.values() if it.protocol in ("native-tools", "json-fallback")
    ),
    summary="seed system 4: tool use or JSON fallback by capability, probe, one retry",
    policies={
        "history": "merged",
        "probe": "undeclared",
        "retry": "once",
        "batch": "per-call",
        **reference.POLICY.declared(),
    },
)
