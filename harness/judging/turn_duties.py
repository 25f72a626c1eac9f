"""Find what a turn lacks or has too much, whatever the API: ids, arguments, tools, text, calls.

The oracle says what the bytes mean. These duties say what a client cannot use of it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from harness.dialects.table import (
    DIALECTS,
    native_reading,
    offered_tools,
    read_request,
    request_body,
    tool_names,
)
from harness.judging.contract.shape import Grammar, iter_events, iter_parts
from harness.judging.expected import usable_arguments
from harness.judging.unusable import blame_of_arguments, is_truncated
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.deltas import Finish, FinishReason, TextDelta, ToolCallStart
from harness.turns.json_prefix import PrefixState, prefix_state
from harness.turns.oracle_reading import CallReading, Deviation, OracleReading
from harness.turns.schema_check import Checker
from harness.turns.turn import Tool
from harness.wire.interaction import Interaction

ID_MISSING: Final = "DELTA-ID-MISSING"
LEFT_IN_TEXT: Final = "call-left-in-text"
UNUSABLE: Final = "arguments-not-an-object"
NOT_OFFERED: Final = "tool-not-offered"
OTHER_KIND: Final = "tool-of-another-kind"
EMPTY: Final = "turn-empty"
MISFIT: Final = "arguments-against-schema"
CUT_EMPTY: Final = "turn-cut-empty"
USAGE_ZERO: Final = "usage-zero"
OTHER_FINISH: Final = "finish-of-another-kind"
THOUGHTS_IN_TEXT: Final = "reasoning-in-text"
MARK_LEFT: Final = "token-left-in-text"
DAMAGED: Final = "text-damaged"
# How chat templates end a turn, and what they write inside it.
_END_MARKS: Final = re.compile(
    r"(?:<\|[a-z_]{2,20}\|>|</s>|<end_of_turn>)\s*\Z"
    r"|<\|(?:channel|message|im_start|im_end|start_header_id|eot_id)\|>"
)
# How models such as DeepSeek R1 and Qwen 3 enclose their reasoning; some templates open it.
_OPENED: Final = re.compile(
    r"\A\s*<think>(?! ?(?:tags?|is|and|marks?|opens?|begins?|starts?|means?)\b)"
    r"|(?<!:)\n[ \t]*<think>"
)
# A closing tag ends a line or a sentence of the reasoning, or a paragraph.
_CLOSED: Final = re.compile(
    r"(?:\A|\n[ \t]*|[^\s/>(\[\"'\u201c\u2018\u00ab])</think>(?![.,;:!?)\]\"'\u201d\u2019\u00bb])"
    r"|</think>[ \t]*\n[ \t]*\n"
)
# A tag that a text explains: in a block or a span of code, in quotes or in parentheses.
_EXPLAINED: Final = re.compile(
    r"^[ \t]*```.*?^[ \t]*```|`[^`\n]*`|[\"'\u201c\u2018\u00ab(]</?think>[\"'\u201d\u2019\u00bb)]",
    re.DOTALL | re.MULTILINE,
)
_LEGACY_FINISH: Final = "function_call"
_LEGACY: Final = frozenset(("LEGACY-FUNCTION-CALL", "LEGACY-FC-STUB"))
# Members with the tokens of reasoning that no event shows.
_HIDDEN_TOKENS: Final = re.compile(rb'"(?:reasoning_tokens|thoughtsTokenCount)": ?[1-9]')
# What a server makes of bytes that it cannot decode.
_DAMAGE: Final = re.compile("[\\x00\ufffd]")
# Types of items such as `image_generation_call` and `server_tool_use`, and Gemini's parts.
_SERVER_CONTENT: Final = re.compile(r":\w+_(?:call|use|result)$|\.(?:executableCode|toolCall)$")
_KINDS: Final = ("function", "custom")
_CHECKER: Final = Checker()


def turn_deviations(interaction: Interaction, reading: OracleReading) -> Iterator[Deviation]:
    """Yield a deviation for each duty that the turn of a response does not keep.

    Args:
        interaction: the interaction with the response.
        reading: the oracle's reading of it.
    """
    marked = next((it for it in (reading, *reading.alternatives) if it.text_markup), None)
    reading = marked or reading
    if reading.error is not None or not reading.ended:
        return
    native = reading if reading.calls is not None else native_reading(interaction)
    yield from _call_deviations(interaction, native)
    yield from _end_deviations(interaction, native)
    if _leaks_thoughts(reading.text):
        yield Deviation(THOUGHTS_IN_TEXT, 0, ambiguous=False)
    request = read_request(interaction.dialect, interaction.request)
    offers = (request.tools or not request.tools_known) and not request.calls_barred
    if marked and offers and written_dialect(interaction, marked):
        yield Deviation(LEFT_IN_TEXT, 0, ambiguous=False)
    if _END_MARKS.search(reading.text):
        yield Deviation(MARK_LEFT, 0, ambiguous=False)
    if any(map(_DAMAGE.search, (reading.text, reading.reasoning, *_arguments(reading)))):
        yield Deviation(DAMAGED, 0, ambiguous=False)


def _leaks_thoughts(text: str) -> bool:
    """Return whether a text contains reasoning in tags, and not only speaks of the tags."""
    if "think>" not in text:
        return False
    prose = _EXPLAINED.sub(" ... ", text)
    if _OPENED.match(text) or ("</think>" in prose and _OPENED.search(prose)):
        return True
    closed = _CLOSED.search(prose)
    # An opening tag within a sentence is mentioned, and so is the closing one.
    return closed is not None and "<think>" not in prose[: closed.start()]


def _end_deviations(interaction: Interaction, reading: OracleReading) -> Iterator[Deviation]:
    """Yield what does not fit together: the content of a turn, its end and its tokens."""
    written = [usage.output_tokens for usage in reading.usages or ()]
    if not _is_empty(reading):
        if written and not any(written):
            yield Deviation(USAGE_ZERO, 0, ambiguous=False)
    elif not _has_server_content(interaction):
        if reading.meaning is FinishReason.STOP:
            yield Deviation(EMPTY, 0, ambiguous=False)
        is_hidden = _HIDDEN_TOKENS.search(interaction.body)
        if reading.meaning is FinishReason.LENGTH and any(written) and not is_hidden:
            yield Deviation(CUT_EMPTY, 0, ambiguous=False)
    is_legacy = reading.finish == _LEGACY_FINISH and reading.calls
    if is_legacy and _LEGACY.isdisjoint(reading.quirks):
        yield Deviation(OTHER_FINISH, 0, ambiguous=False)


def _arguments(reading: OracleReading) -> Iterator[str]:
    yield from (call.arguments for call in reading.calls or ())


def _call_deviations(interaction: Interaction, reading: OracleReading) -> Iterator[Deviation]:
    offered = tool_names(interaction)
    declared = _declared_kinds(interaction)
    tools = {tool.name: tool for tool in offered_tools(interaction)}
    for call in reading.calls or ():
        if not call.id.strip() and DIALECTS[interaction.dialect].has_call_ids:
            yield Deviation(ID_MISSING, call.offset, ambiguous=False)
        if call.kind not in _KINDS:
            continue
        if call.name and offered and call.name not in {*offered, *declared}:
            yield Deviation(NOT_OFFERED, call.offset, ambiguous=False)
        if declared.get(call.name, call.kind) != call.kind:
            yield Deviation(OTHER_KIND, call.offset, ambiguous=False)
        if call.kind != "function" or not call.name:
            continue
        if _is_unusable(call, reading):
            yield Deviation(UNUSABLE, call.offset, ambiguous=False)
        elif _is_misfit(call, reading, tools.get(call.name)):
            yield Deviation(MISFIT, call.offset, ambiguous=False)


def _is_misfit(call: CallReading, reading: OracleReading, tool: Tool | None) -> bool:
    """Return whether complete arguments do not fit the schema that the request declares."""
    known = {} if tool is None else {tool.name: tool}
    if tool is None or is_truncated(reading) or blame_of_arguments(call, reading, known):
        return False
    value = usable_arguments(call, reading).value
    return isinstance(value, dict) and bool(_CHECKER.problem(tool, value))


def _is_unusable(call: CallReading, reading: OracleReading) -> bool:
    """Return whether complete arguments are not an object.

    Arguments that lost characters are another deviation.
    """
    text = call.arguments.strip()
    is_lost = not text or (text.endswith("}") and not text.startswith("{"))
    if call.rejected or is_truncated(reading) or is_lost:
        return False
    arguments = usable_arguments(call, reading)
    is_cut = prefix_state(text) is PrefixState.PREFIX
    return arguments.value is None and arguments.certain and not is_cut


def _is_empty(reading: OracleReading) -> bool:
    has_content = reading.text or reading.reasoning or reading.refusal or reading.sealed
    is_clear = not reading.unknown and reading.calls == ()
    return is_clear and not has_content and not reading.other_output


def _has_server_content(interaction: Interaction) -> bool:
    """Return whether a part of the response is of a tool that the server executes."""
    events = iter_events(interaction, Grammar())
    parts = (part for event in events for part in iter_parts(event, Grammar()))
    return any(_SERVER_CONTENT.search(part.kind) for part in parts)


def _declared_kinds(interaction: Interaction) -> dict[str, str]:
    """Return the kind of each function or custom tool of the request, by name.

    Responses repeats the tools of the request in its first event.
    """
    body = request_body(interaction.request.body) or {}
    listed = body.get("tools")
    if not isinstance(listed, list):
        first = next(iter_events(interaction, Grammar()), None)
        response = first.value.get("response") if first else None
        listed = response.get("tools") if isinstance(response, dict) else None
    kinds: dict[str, str] = {}
    for tool in listed if isinstance(listed, list) else ():
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in _KINDS:
            name = tool.get("name") or _inner(tool, str(kind)).get("name")
            kinds[str(name or "")] = str(kind)
    return kinds


def _inner(tool: dict[str, Any], kind: str) -> dict[str, Any]:
    inner = tool.get(kind)
    return inner if isinstance(inner, dict) else {}


def written_dialect(interaction: Interaction, reading: OracleReading) -> str:
    """Return the text dialect that finds a call in a text whose calls are ambiguous; else ""."""
    if not reading.text_markup:
        return ""
    tools = read_request(interaction.dialect, interaction.request).tools
    named = (Tool(name, "", {}) for name in tool_names(interaction))
    texts = (reading.text, reading.reasoning)
    for name in TEXT_DIALECTS:
        policy = TextPolicy(frozenset((name,)), reasoning="calls")
        for text in filter(None, texts):
            deltas = (TextDelta(text), Finish(FinishReason.STOP, "stop"))
            found = read_text_calls(deltas, tools or tuple(named), policy)
            if any(isinstance(delta, ToolCallStart) for delta in found):
                return name
    return ""
