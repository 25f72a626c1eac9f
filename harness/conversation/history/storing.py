"""A turn and the results of its calls -> what of it may be stored.

Nothing of a turn that broke off is stored as complete: its calls are left out and its text says
so. A call is stored only with a name, arguments that are one JSON object, and a result: a
rejected one becomes text, or a call that holds its raw text and failed (quirk
HIST-ARGS-INVALID), and one that nobody answered gets a result that says so (quirk
HIST-MISSING-RESULT).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, Protocol

import msgspec

from harness.conversation.feedback import ToolResult
from harness.conversation.history.identifiers import distinct_ids, fitting_name
from harness.conversation.results import MOST_CHARACTERS, error_text, result_text
from harness.conversation.wording import Language
from harness.providers import Capabilities
from harness.turns.arguments import parse
from harness.turns.deltas import CUT_SHORT, SNIPPET_CHARACTERS, ParseError, ToolCall
from harness.turns.exact_json import encode_json
from harness.turns.messages import Message, assistant, tool_result
from harness.turns.turn import Turn

# A provider's words may be of any length.
_MOST_ERROR: Final = 600
_UNANSWERED: Final[dict[Language, str]] = {
    "en": "nothing came back; it is not known whether the call ran.",
    "zh": "没有返回任何结果；不清楚该调用是否已执行。",
}
_INCOMPLETE: Final[dict[Language, str]] = {
    "en": "[turn broke off: {why}] No tool call of it was executed.",
    "zh": "[turn broke off: {why}] 本轮的工具调用均未执行。",
}
_RAW: Final[dict[Language, str]] = {"en": "The text was: ", "zh": "原文："}


class StoringOptions(msgspec.Struct, frozen=True):
    """The choices that an agent declares.

    Fields:
        rejected: a call that could not be used becomes `text` of the assistant, or a call
            whose arguments hold the raw text, with an error as its `result`.
        language: of what is said to the model.
        limit: the most characters of a result.
    """

    rejected: Literal["text", "result"] = "text"
    language: Language = "en"
    limit: int = MOST_CHARACTERS


class AnsweredCall(msgspec.Struct, frozen=True):
    """A call that may be sent, and the text that answers it."""

    call: ToolCall
    result: str


class StorableTurn(msgspec.Struct, frozen=True):
    """What of a turn may be stored; nothing at all where it says nothing."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[AnsweredCall, ...] = ()


def storable_turn(
    turn: Turn, results: Mapping[str, ToolResult], storing: StoringOptions
) -> StorableTurn:
    """Return what of `turn` may be stored.

    Args:
        turn: as a normalizer read it, whatever it holds.
        results: by the ids of `distinct_ids(turn)`.
        storing: the choices.
    """
    turn = distinct_ids(turn)
    why = incomplete_reason(turn)
    if why:
        return StorableTurn(_incomplete_text(turn, why, storing), turn.reasoning)
    answered, refused = _answered_and_refused(turn, results, storing)
    said = [turn.text, *(parse_error_text(error, storing.language) for error in refused)]
    return StorableTurn(join_paragraphs(*said), turn.reasoning, tuple(answered))


def incomplete_reason(turn: Turn) -> str:
    """Return why `turn` is not whole, so that no call of it may run; "" where it is."""
    if turn.failure is not None:
        return turn.failure.code or "failure"
    if turn.finish is None:
        return "no end"
    return turn.finish.reason.value if turn.finish.reason in CUT_SHORT else ""


def parse_error_text(error: ParseError, language: Language = "en") -> str:
    """Return what the history says in place of a call that could not be used."""
    named = f"{error.name}: " if error.name else ""
    raw = f"\n{_RAW[language]}{error.snippet[:SNIPPET_CHARACTERS]}" if error.snippet else ""
    return f"[{error.mode} parse error] {named}{error.error[:_MOST_ERROR]}{raw}"


def _incomplete_text(turn: Turn, why: str, storing: StoringOptions) -> str:
    errors = [parse_error_text(error, storing.language) for error in turn.parse_errors]
    if not (turn.text.strip() or errors or turn.tool_calls):
        return ""
    mark = _INCOMPLETE[storing.language].format(why=why[:_MOST_ERROR])
    return join_paragraphs(turn.text, *errors, mark)


def _answered_and_refused(
    turn: Turn, results: Mapping[str, ToolResult], storing: StoringOptions
) -> tuple[list[AnsweredCall], list[ParseError]]:
    """Return the calls that are stored as such, and those that become text."""
    answered: list[AnsweredCall] = []
    refused: list[ParseError] = []
    for item in _items(turn):
        if isinstance(item, ToolCall):
            answered.append(AnsweredCall(item, _result(results.get(item.id), storing)))
        elif item.name and (storing.rejected == "result" or item.id in results):
            # What ran, though it should not have, is told: its effects are there.
            answered.append(_failed(item, results.get(item.id), storing))
        else:
            refused.append(item)
    return answered, refused


def _items(turn: Turn) -> Iterator[ToolCall | ParseError]:
    for call in turn.tool_calls:
        yield _usable(call)
    yield from turn.parse_errors


def _usable(call: ToolCall) -> ToolCall | ParseError:
    """Return `call` as it may be sent; free text of a custom tool as a member of an object."""
    if call.kind == "custom" and call.name:
        held = encode_json({"input": call.arguments}).decode()
        return ToolCall(call.id, fitting_name(call.name), held)
    parsed = parse(call.arguments)
    if parsed.value is None or not call.name:
        error = parsed.error or "the call has no name"
        snippet = call.arguments[:SNIPPET_CHARACTERS]
        return ParseError("tool_use", error, snippet, call.id, call.name)
    arguments = call.arguments if call.arguments.strip() else "{}"
    return ToolCall(call.id, fitting_name(call.name), arguments)


def _failed(error: ParseError, result: ToolResult | None, storing: StoringOptions) -> AnsweredCall:
    held = encode_json({"raw": error.snippet}).decode()
    call = ToolCall(error.id, fitting_name(error.name), held)
    if result is not None:
        return AnsweredCall(call, _result(result, storing))
    said = f"[{error.mode} parse error] {error.error[:_MOST_ERROR]}"
    return AnsweredCall(call, error_text(said, storing.language, limit=storing.limit))


def _result(result: ToolResult | None, storing: StoringOptions) -> str:
    if result is None:
        unanswered = _UNANSWERED[storing.language]
        return error_text(unanswered, storing.language, limit=storing.limit)
    if result.error:
        return error_text(result.error, storing.language, limit=storing.limit)
    return result_text(result.value, storing.language, limit=storing.limit)


def join_paragraphs(*parts: str) -> str:
    """Return the parts that are not blank, with an empty line between them."""
    return "\n\n".join(part for part in parts if part.strip())


_DEFAULT: Final = StoringOptions()


class HistoryPolicy(Protocol):
    """One way to store turns."""

    def __call__(
        self,
        turn: Turn,
        results: Mapping[str, ToolResult],
        iteration: int,
        capabilities: Capabilities,
        storing: StoringOptions = _DEFAULT,
    ) -> tuple[Message, ...]:
        """Return the messages; none where the turn says nothing.

        Args:
            turn: as a normalizer read it, whatever it holds.
            results: by the ids of `ids.distinct_ids(turn)`.
            iteration: number of the turn in the conversation.
            capabilities: of the provider that gets them.
            storing: where there is a choice.
        """


def merged_messages(
    turn: Turn,
    results: Mapping[str, ToolResult],
    iteration: int,  # noqa: ARG001 - all policies are called alike
    capabilities: Capabilities,
    storing: StoringOptions = _DEFAULT,
) -> tuple[Message, ...]:
    """Store a turn as one message of the assistant, and its results behind it."""
    kept = storable_turn(turn, results, storing)
    said = _assistant_messages(kept.text, kept.calls, kept.reasoning, capabilities)
    return (*said, *_result_messages(kept.calls))


def direct_messages(
    turn: Turn,
    results: Mapping[str, ToolResult],
    iteration: int,  # noqa: ARG001 - all policies are called alike
    capabilities: Capabilities,
    storing: StoringOptions = _DEFAULT,
) -> tuple[Message, ...]:
    """Store each part of a turn as a message of its own, each call with its result behind it."""
    kept = storable_turn(turn, results, storing)
    messages = [*_assistant_messages(kept.text, (), kept.reasoning, capabilities)]
    for each in kept.calls:
        messages += (
            *_assistant_messages("", (each,), kept.reasoning, capabilities),
            *_result_messages((each,)),
        )
    return tuple(messages)


def grouped_messages(
    turn: Turn,
    results: Mapping[str, ToolResult],
    iteration: int,
    capabilities: Capabilities,
    storing: StoringOptions = _DEFAULT,
) -> tuple[Message, ...]:
    """Store text, calls and results apart, under the name of the iteration."""
    kept = storable_turn(turn, results, storing)
    text = _assistant_messages(kept.text, (), kept.reasoning, capabilities)
    calls = _assistant_messages("", kept.calls, kept.reasoning, capabilities)
    named = (message | {"name": f"iteration_{iteration}"} for message in (*text, *calls))
    return (*named, *_result_messages(kept.calls))


HISTORY_POLICIES: Final[dict[str, HistoryPolicy]] = {
    "merged": merged_messages,
    "direct": direct_messages,
    "grouped": grouped_messages,
}
# What each departs from by design, by quirk: the model made these calls at once, and reads
# that it made them one after the other. No provider refuses that; the seed's own order (all
# calls, each in its message, and then all results) they do refuse.
DEPARTURES: Final[dict[str, frozenset[str]]] = {
    "merged": frozenset(),
    "direct": frozenset({"HIST-SPLIT-PARALLEL"}),
    "grouped": frozenset(),
}


def _assistant_messages(
    text: str, calls: Iterable[AnsweredCall], reasoning: str, capabilities: Capabilities
) -> tuple[Message, ...]:
    """Return the message, or none where it would be empty."""
    entries = [each.call for each in calls]
    if not (text or entries):
        return ()
    silent = None if capabilities.content_beside_calls == "null" else ""
    message = assistant(text or silent, entries)
    if capabilities.reasoning_field and (entries or reasoning):
        message[capabilities.reasoning_field] = reasoning
    return (message,)


def _result_messages(calls: Iterable[AnsweredCall]) -> tuple[Message, ...]:
    return tuple(tool_result(each.call.id, each.result) for each in calls)
