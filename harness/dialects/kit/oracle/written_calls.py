"""Read the calls in a text in which a model wrote them exactly as its prompt describes.

This module reads only the strict format of four text dialects, from the prompts and from the chat
templates of Hermes and Qwen 2.5 (https://huggingface.co/NousResearch/Hermes-2-Pro-Llama-3-8B), and
the format of Kimi K3 at the end of reasoning (https://github.com/vllm-project/vllm/pull/50093).
Anything else, such as a second key, a missing tag, a draft or a quotation, has no certain meaning,
and the functions return nothing. No code is shared with `text_calls`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from harness.dialects.kit.oracle.values import item_texts, member_text, read_arguments

_OPENER: Final = "<tool_call>"
_CLOSER: Final = "</tool_call>"
_DECODE: Final = json.JSONDecoder().raw_decode
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\r?\n([^`]*)```\s*")
_ACTION: Final = re.compile(
    r"\s*(?:Thought:(?:(?!\n(?:Action|Final Answer|Observation)).)*\n)?"
    r"Action:[ \t]*(\S+)[ \t]*\r?\nAction Input:[ \t]*(\{.*\})\s*",
    re.DOTALL,
)
_CALL_KEYS: Final = frozenset(("name", "arguments"))
# Keys of a schema: the object may describe the tool again instead of calling it.
_SCHEMA_KEYS: Final = frozenset(("type", "properties"))
# Words of the system text that describe a text dialect.
_DESCRIPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "tagged-json": (_OPENER, _CLOSER, '"name"', '"arguments"'),
    "action-protocol": ('"action"', '"tool_call"', '"finish"', '"tool_calls"'),
    "react": ("Action:", "Action Input:"),
}
_FENCED_DESCRIPTION: Final = ("```json", '"name"', '"arguments"')


class WrittenCall(msgspec.Struct, frozen=True):
    """One call as the model wrote it. `arguments` is the JSON text of an object."""

    name: str
    arguments: str


class WrittenReply(msgspec.Struct, frozen=True):
    """The content of a text that a model wrote in the format of one text dialect.

    Fields:
        dialect: the text dialect.
        text: the text before the calls, or the answer if there are none.
        reasoning: the reasoning, if the format has a field for it.
        text_known: False if the format does not define which part of the rest is text.
    """

    dialect: str
    calls: tuple[WrittenCall, ...]
    text: str = ""
    reasoning: str = ""
    text_known: bool = True


def described_text_dialects(system: str) -> frozenset[str]:
    """Return the names of the text dialects that a system text describes."""
    found = {name for name, words in _DESCRIPTIONS.items() if all(it in system for it in words)}
    if not found and all(it in system for it in _FENCED_DESCRIPTION):
        found.add("fenced-json")
    return frozenset(found)


def written_reply(text: str, names: frozenset[str]) -> WrittenReply | None:
    """Return the content of `text` if all of it is in the strict format of one text dialect.

    None if it is not.

    Args:
        text: the text of the reply, without reasoning at its start.
        names: the names of the tools; empty if they are not known.
    """
    for reply in _replies(text):
        keys = [(call.name, read_arguments(call.arguments).value) for call in reply.calls]
        named = all(name and (not names or name in names) for name, _ in keys)
        # Equal calls may be one call that was repeated.
        different = all(each not in keys[:at] for at, each in enumerate(keys))
        described = any(not _SCHEMA_KEYS.isdisjoint(value or ()) for _, value in keys)
        return reply if named and different and not described else None
    return None


def _replies(text: str) -> Iterator[WrittenReply]:
    if _OPENER in text:
        yield from _tagged(text)
    elif fenced := _FENCED.fullmatch(text):
        yield from _whole_reply("fenced-json", _calls((fenced[1].strip(),)))
    elif action := _ACTION.fullmatch(text):
        if read_arguments(action[2]).value is not None:
            yield WrittenReply("react", (WrittenCall(action[1], action[2]),), text_known=False)
    elif value := read_arguments(text.strip()).value:
        if "action" in value:
            yield from _action_reply(text.strip(), value)
        else:
            yield from _whole_reply("bare-json", _calls((text.strip(),)))


def _whole_reply(dialect: str, calls: tuple[WrittenCall, ...]) -> Iterator[WrittenReply]:
    if calls:
        yield WrittenReply(dialect, calls)


def _calls(texts: tuple[str, ...]) -> tuple[WrittenCall, ...]:
    """Return the calls in these JSON objects; () if one of them is not exactly a call."""
    calls = []
    for text in texts:
        value = read_arguments(text).value or {}
        if value.keys() != _CALL_KEYS or not isinstance(value["arguments"], dict):
            return ()
        if not isinstance(value["name"], str):
            return ()
        calls.append(WrittenCall(value["name"], member_text(text, "arguments")))
    return tuple(calls)


def _tagged(text: str) -> Iterator[WrittenReply]:
    """Yield the reply if text is followed only by tags with one JSON object each."""
    before, _, _ = text.partition(_OPENER)
    objects, at = [], len(before)
    if before.rpartition("\n")[2].strip() or "`" in before:
        return
    while at < len(text):
        if not text.startswith(_OPENER, at):
            return
        start = _skip_space(text, at + len(_OPENER))
        try:
            _, end = _DECODE(text, start)
        except (ValueError, RecursionError):
            return
        objects.append(text[start:end])
        at = _skip_space(text, end)
        if not text.startswith(_CLOSER, at):
            return
        at = _skip_space(text, at + len(_CLOSER))
    if calls := _calls(tuple(objects)):
        yield WrittenReply("tagged-json", calls, before)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _action_reply(text: str, value: dict[str, Any]) -> Iterator[WrittenReply]:
    """Yield the reply if the object `value` has an action, with calls or with the answer."""
    reasoning, answer = value.get("reasoning", ""), value.get("content")
    if not isinstance(reasoning, str):
        return
    keys = value.keys() - {"reasoning"}
    if value["action"] == "finish" and keys == {"action", "content"}:
        if isinstance(answer, str) and answer:
            yield WrittenReply("action-protocol", (), answer, reasoning)
    elif value["action"] == "tool_call" and keys == {"action", "tool_calls"}:
        listed = value["tool_calls"]
        texts = item_texts(member_text(text, "tool_calls")) if isinstance(listed, list) else ()
        if calls := _calls(texts):
            yield WrittenReply("action-protocol", calls, "", reasoning)


# Kimi K3 writes its calls between special tokens, which no ordinary text contains.
_K3_BLOCK: Final = re.compile(
    r"([^|]*)<\|open\|>tools<\|sep\|>(.+)<\|close\|>tools<\|sep\|>\s*", re.DOTALL
)
_K3_CALL: Final = re.compile(
    r'<\|open\|>call tool="([\w.-]{1,128})"(?: index="\d{1,9}")?<\|sep\|>'
    r"(.*?)<\|close\|>call<\|sep\|>",
    re.DOTALL,
)
_K3_ARGUMENT: Final = re.compile(
    r'<\|open\|>argument key="([\w.-]{1,128})" type="([a-z]{1,16})"<\|sep\|>'
    r"([^|]*)<\|close\|>argument<\|sep\|>"
)


def reply_in_reasoning(text: str) -> WrittenReply | None:
    """Return the calls with which reasoning ends, and the reasoning before them; None if none.

    The model never closed its reasoning, so that a server forwards the calls as a part of it.
    """
    block = _K3_BLOCK.fullmatch(text)
    calls = _pieces(_K3_CALL, block[2]) if block else None
    written = [_k3_call(*call.groups()) for call in calls or ()]
    if block is None or not written or None in written:
        return None
    return WrittenReply("kimi-k3", tuple(filter(None, written)), "", block[1])


def _pieces(pattern: re.Pattern[str], text: str) -> list[re.Match[str]] | None:
    """Return the matches of `pattern` if nothing else is in `text`; None if there is."""
    found = list(pattern.finditer(text))
    return None if pattern.sub("", text).strip() else found


def _k3_call(name: str, text: str) -> WrittenCall | None:
    arguments = _pieces(_K3_ARGUMENT, text)
    if arguments is None:
        return None
    members = (
        f"{json.dumps(key)}: {json.dumps(value) if kind == 'string' else value}"
        for key, kind, value in (each.groups() for each in arguments)
    )
    written = f"{{{', '.join(members)}}}"
    return None if read_arguments(written).value is None else WrittenCall(name, written)
