"""Decide which parts of a turn the history may contain, and build their messages.

No part of an incomplete turn is stored as complete: its calls are left out, and its text says that
it is incomplete. A call is stored only with a name, arguments that are one JSON object, and a
result. A rejected call becomes text, or a failed call whose arguments contain the raw text (quirk
HIST-ARGS-INVALID). A call without a result was not executed, and gets a result that says so (quirk
HIST-MISSING-RESULT).

There are three policies. Each gives histories that providers accept: results are texts directly
after their calls, and no message is empty. `identifiers.fit_ids` makes ids unique in the history.

    merged    one assistant message with text and calls, then one message for each result
    direct    one message for each part: the text, then each call followed by its result. The model
              reads that it made its calls one after the other (quirk HIST-SPLIT-PARALLEL)
    grouped   text, calls and results in separate messages; the name of the assistant's messages
              contains the iteration

With `direct` and `grouped`, text after a call is stored with a call if the provider signed that
text, because a signature must be sent back in the same part and in the same order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Final, Literal

import msgspec

from harness.conversation.feedback import ToolResult, tool_result_text
from harness.conversation.history.identifiers import distinct_ids, fitting_name
from harness.conversation.results import MOST_CHARACTERS, error_text
from harness.conversation.wording import Language
from harness.providers import Capabilities
from harness.turns.deltas import CUT_SHORT, SNIPPET_CHARACTERS, ParseError, ToolCall
from harness.turns.exact_json import encode_json
from harness.turns.messages import SEALED, Message, assistant, tool_result
from harness.turns.turn import Sealed, Turn
from harness.turns.verdicts import unusable_reason

# A message of a provider may have any length.
_MOST_ERROR: Final = 600
_UNANSWERED: Final[dict[Language, str]] = {
    "en": "this call did not run.",
    "zh": "该调用没有执行。",
}
_INCOMPLETE: Final[dict[Language, str]] = {
    "en": "[turn broke off: {why}] No tool call of it was executed.",
    "zh": "[turn broke off: {why}] 本轮的工具调用均未执行。",
}
_RAW: Final[dict[Language, str]] = {"en": "The text was: ", "zh": "原文："}


class StoringOptions(msgspec.Struct, frozen=True):
    """How an agent stores turns.

    Fields:
        rejected: an unusable call becomes `text` of the assistant, or a call whose arguments
            contain the raw text, with an error as its `result`.
        language: the language of the texts for the model.
        limit: the maximum number of characters of a result.
    """

    rejected: Literal["text", "result"] = "text"
    language: Language = "en"
    limit: int = MOST_CHARACTERS


class StorableParts(msgspec.Struct, frozen=True):
    """The parts of a turn that the next request may contain.

    Fields:
        text: the text of the assistant's message.
        calls: the usable calls with their results.
        sealed: opaque data that only the provider can read, such as signatures. Its field `call` is
            an index of `calls`.
    """

    text: str
    calls: tuple["AnsweredCall", ...] = ()
    sealed: tuple[Sealed, ...] = ()


class AnsweredCall(msgspec.Struct, frozen=True):
    """A call that the next request may contain, and the text of its result."""

    call: ToolCall
    result: str


def incomplete_reason(turn: Turn) -> str:
    """Return why `turn` is incomplete, so that no call may be executed; "" if it is complete."""
    if turn.failure is not None:
        return turn.failure.code or "failure"
    if turn.finish is None:
        return "no end"
    return turn.finish.reason.value if turn.finish.reason in CUT_SHORT else ""


def parse_error_text(error: ParseError, language: Language) -> str:
    """Return the text that replaces an unusable call in the history."""
    named = f"{error.name}: " if error.name else ""
    raw = f"\n{_RAW[language]}{error.snippet[:SNIPPET_CHARACTERS]}" if error.snippet else ""
    return f"[{error.mode} parse error] {named}{error.error[:_MOST_ERROR]}{raw}"


def _incomplete_text(turn: Turn, why: str, storing: StoringOptions) -> str:
    errors = [parse_error_text(error, storing.language) for error in turn.parse_errors]
    if not (turn.text.strip() or errors or turn.tool_calls):
        return ""
    mark = _INCOMPLETE[storing.language].format(why=why[:_MOST_ERROR])
    return join_paragraphs(turn.text, *errors, mark)


def _storable_parts(
    turn: Turn, results: Mapping[str, ToolResult], storing: StoringOptions
) -> StorableParts:
    """Return the parts of `turn` that the next request may contain; unusable calls become text.

    Args:
        turn: the turn that a normalizer parsed.
        results: id of a call in `distinct_ids(turn)` -> its result.
        storing: the options.
    """
    turn = distinct_ids(turn)
    why = incomplete_reason(turn)
    if why:
        return StorableParts(_incomplete_text(turn, why, storing))
    texts, calls, usable = [turn.text], list[AnsweredCall](), list(map(_usable, turn.tool_calls))
    for item in (*usable, *turn.parse_errors):
        if isinstance(item, ToolCall):
            calls.append(AnsweredCall(item, _result(results.get(item.id), storing)))
        elif item.name and (storing.rejected == "result" or item.id in results):
            # A call that was executed by mistake is stored, because its effects exist.
            calls.append(_failed(item, results.get(item.id), storing))
        else:
            texts.append(parse_error_text(item, storing.language))
    kept = [isinstance(item, ToolCall) for item in usable]
    return StorableParts(join_paragraphs(*texts), tuple(calls), tuple(_sealed(turn, kept)))


def _sealed(turn: Turn, kept: list[bool]) -> Iterator[Sealed]:
    """Yield the opaque data of the turn, without the data of calls that are not stored.

    `kept` contains for each call of the turn whether it is stored.
    """
    before = (0, *accumulate(map(int, kept)))
    for each in turn.sealed:
        if each.of != "call" or kept[each.call]:
            yield msgspec.structs.replace(each, call=before[each.call])


def _usable(call: ToolCall) -> ToolCall | ParseError:
    """Return `call` as a request may contain it, or a parse error if its arguments are unusable.

    The text input of a custom call becomes `{"input": TEXT}`.
    """
    arguments = call.arguments
    if call.kind == "custom":
        arguments = encode_json({"input": arguments}).decode()
    error = unusable_reason(call.name, arguments, cut_short=False)
    if error:
        snippet = call.arguments[:SNIPPET_CHARACTERS]
        return ParseError("tool_use", error, snippet, call.id, call.name, call.namespace)
    arguments = arguments if arguments.strip() else "{}"
    return ToolCall(call.id, fitting_name(call.name), arguments, namespace=call.namespace)


def _failed(error: ParseError, result: ToolResult | None, storing: StoringOptions) -> AnsweredCall:
    arguments = encode_json({"raw": error.snippet}).decode()
    call = ToolCall(error.id, fitting_name(error.name), arguments, namespace=error.namespace)
    if result is not None:
        return AnsweredCall(call, _result(result, storing))
    text = f"[{error.mode} parse error] {error.error[:_MOST_ERROR]}"
    return AnsweredCall(call, error_text(text, storing.language, limit=storing.limit))


def _result(result: ToolResult | None, storing: StoringOptions) -> str:
    if result is None:
        unanswered = _UNANSWERED[storing.language]
        return error_text(unanswered, storing.language, limit=storing.limit)
    return tool_result_text(result, storing.language, storing.limit)


def join_paragraphs(*parts: str) -> str:
    """Return the parts that are not blank, with an empty line between them."""
    return "\n\n".join(part for part in parts if part.strip())


HistoryPolicy = Literal["merged", "direct", "grouped"]
HISTORY_POLICIES: Final[tuple[HistoryPolicy, ...]] = ("merged", "direct", "grouped")
_DEFAULT_STORING: Final = StoringOptions()


def turn_messages(  # noqa: PLR0913, PLR0917 - each is a fact about the turn
    policy: HistoryPolicy,
    turn: Turn,
    results: Mapping[str, ToolResult],
    iteration: int,
    capabilities: Capabilities,
    storing: StoringOptions = _DEFAULT_STORING,
) -> tuple[Message, ...]:
    """Return the messages that store a turn in the history; () if the turn is empty.

    Args:
        policy: how text, calls and results are divided into messages.
        turn: the turn that a normalizer parsed.
        results: id of a call in `identifiers.distinct_ids(turn)` -> its result.
        iteration: the number of the turn in the conversation.
        capabilities: the capabilities of the provider that receives the messages.
        storing: the options.
    """
    parts = _storable_parts(turn, results, storing)
    text, calls = parts.text, parts.calls
    texts, sealed = _by_message(parts)

    def assistant_of(
        text: str, calls: Sequence[AnsweredCall], own: Iterable[Sealed], first: int = 0
    ) -> tuple[Message, ...]:
        messages = _assistant_messages(text, calls, turn.reasoning, capabilities)
        entries = [_sealed_entry(each, first) for each in own]
        return tuple(it | {SEALED: entries} for it in messages) if entries else messages

    if policy == "merged":
        return (*assistant_of(text, calls, parts.sealed), *_result_messages(calls))
    head = assistant_of(texts.pop(None, ""), (), sealed.pop(None, ()))
    if policy == "direct":
        pairs = (
            (
                *assistant_of(texts.get(at, ""), (call,), sealed.get(at, ()), at),
                *_result_messages((call,)),
            )
            for at, call in enumerate(calls)
        )
        return (*head, *chain.from_iterable(pairs))
    later = chain.from_iterable(sealed.values())
    apart = (*head, *assistant_of("".join(texts.values()), calls, later))
    named = (message | {"name": f"iteration_{iteration}"} for message in apart)
    return (*named, *_result_messages(calls))


def _by_message(
    parts: StorableParts,
) -> tuple[dict[int | None, str], dict[int | None, list[Sealed]]]:
    """Return the text and the opaque data for the message of each call, by the call's index.

    The key None is the message before the calls. It has the text, without signed text after calls,
    and the opaque reasoning before the first call. If this text is blank, both belong to the
    message of the first call.
    """
    texts: dict[int | None, str] = {None: ""}
    sealed: dict[int | None, list[Sealed]] = {}
    last = len(parts.calls) - 1
    rest, at = parts.text, None
    for each in parts.sealed:
        home = None if each.of != "call" and each.call == 0 else min(each.call, last)
        sealed.setdefault(home, []).append(each)
        if each.of == "text":
            at = home
            own = each.text if rest.startswith(each.text) else ""  # the text was changed since
            texts[at] = texts.get(at, "") + own
            rest = rest[len(own) :]
    texts[at] += rest
    if not texts[None].strip():
        texts = {0: texts.pop(None) + texts.pop(0, ""), **texts}
        sealed = {0: [*sealed.pop(None, ()), *sealed.pop(0, ())], **sealed}
    return texts, sealed


def _sealed_entry(sealed: Sealed, first: int) -> dict[str, Any]:
    own = msgspec.structs.replace(sealed, call=sealed.call - first)
    entry: dict[str, Any] = msgspec.to_builtins(own)
    return entry


def _assistant_messages(
    text: str, calls: Iterable[AnsweredCall], reasoning: str, capabilities: Capabilities
) -> tuple[Message, ...]:
    """Return the assistant's message with this text, reasoning and calls; () if it is empty."""
    entries = [each.call for each in calls]
    if not (text or entries):
        return ()
    message = assistant(text or capabilities.silent_content, entries)
    if capabilities.reasoning_field and (entries or reasoning):
        message[capabilities.reasoning_field] = reasoning
    return (message,)


def _result_messages(calls: Iterable[AnsweredCall]) -> tuple[Message, ...]:
    return tuple(tool_result(each.call.id, each.result) for each in calls)
