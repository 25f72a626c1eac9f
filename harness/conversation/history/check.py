"""Find the parts of a history that a provider would reject or misread, and the quirk of each.

The input is a list of messages in OpenAI's format that a client really sent. This check shares no
code with the modules that store turns. It never raises an exception.
"""

import re
import reprlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from harness.providers import Capabilities
from harness.turns.argument_errors import ArgumentClass
from harness.turns.arguments import parse
from harness.turns.messages import sealed_of

_VALID_ARGUMENTS: Final = frozenset((ArgumentClass.OBJECT, ArgumentClass.DUPLICATE_KEYS))
# Source: OpenAI's API reference, `messages[].tool_calls[].function.name`.
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# The quirk of a pattern; for other patterns it depends on the length of the id.
_PATTERN_QUIRKS: Final = {"[a-zA-Z0-9]{9}": "ID-MISTRAL-9"}
_LONGEST_ID: Final = 40
_MOST_SHOWN: Final = 80


class Problem(msgspec.Struct, frozen=True):
    """One location in a history that a provider would reject or misread.

    Fields:
        quirk: the id of the quirk that describes the problem; "" if the message is invalid in
            another way.
        path: the location, such as `messages[3].tool_calls[0].id`.
        call_id: the id of a call, if the id itself is the problem; else "".
    """

    quirk: str
    path: str
    expected: str
    actual: str
    call_id: str = ""


def history_problems(messages: Sequence[object], capabilities: Capabilities) -> tuple[Problem, ...]:
    """Return every problem of a history, in the order of its messages.

    Args:
        messages: the messages of a request.
        capabilities: the declared capabilities of the provider that receives the messages.
    """
    return tuple(_HistoryCheck(capabilities).problems(messages))


class _HistoryCheck:
    """Checks a history message by message, and stores which calls have no result yet."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities
        self._open: dict[str, str] = {}  # calls of the last turn without a result -> path
        self._answered: set[str] = set()  # calls of the last turn with a result
        self._late: dict[str, str] = {}  # unanswered calls -> path of the next turn
        self._seen: dict[str, str] = {}  # each id -> path of its first use
        self._results_began = False

    def problems(self, messages: Sequence[object]) -> Iterator[Problem]:
        for number, message in enumerate(messages):
            path = f"messages[{number}]"
            role = message.get("role") if isinstance(message, dict) else None
            check = _CHECKS.get(role) if isinstance(role, str) else None
            if check is None or not isinstance(message, dict):
                yield Problem("", path, f"a role of {', '.join(_CHECKS)}", _shown(message))
                continue
            yield from check(self, message, path)
        yield from self._end_of_results(f"messages[{len(messages)}]")

    # One for each role

    def _instruction(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        if self._open:
            between = "no message between calls and their results"
            yield Problem("HIST-SYSTEM-MID", f"{path}.role", between, _shown(message["role"]))
        elif path != "messages[0]" and not self._capabilities.allows_midturn_system:
            first = "a system message at the beginning only"
            yield Problem("HIST-SYSTEM-MID", f"{path}.role", first, _shown(message["role"]))
        yield from _content(message, path)

    def _question(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        yield from self._end_of_results(path)
        yield from _content(message, path)

    def _answer(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            yield from self._turn_with_calls(message, calls, path)
            return
        yield from self._end_of_results(path)
        if "tool_calls" in message:
            found = _shown(calls)
            yield Problem("HIST-TOOLCALLS-EMPTY", f"{path}.tool_calls", "no such key", found)
        yield from _content(message, path, nullable=True)
        if _is_blank(message.get("content")) and not _has_other_content(message):
            found = _shown(message.get("content"))
            yield Problem("HIST-EMPTY-TURN", f"{path}.content", "text, or calls", found)

    def _turn_with_calls(
        self, message: dict[str, Any], calls: list[Any], path: str
    ) -> Iterator[Problem]:
        if self._open and not self._results_began:
            one = "the calls of one turn in one message"
            found = f"calls without results in the message before: {self._waiting()}"
            yield Problem("HIST-SPLIT-PARALLEL", f"{path}.tool_calls", one, found)
        else:
            yield from self._end_of_results(path)
            self._answered = set()
        self._results_began = False
        yield from self._content_beside_calls(message, path)
        yield from self._reasoning(message, path)
        for number, call in enumerate(calls):
            yield from self._call(call, f"{path}.tool_calls[{number}]")

    def _result(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        self._results_began = True
        call_id = message.get("tool_call_id")
        if isinstance(call_id, str) and call_id in self._open:
            del self._open[call_id]
            self._answered.add(call_id)
        else:
            yield self._orphan(call_id, f"{path}.tool_call_id")
        if not _is_text(message.get("content")):
            found = _shown(message.get("content"))
            yield Problem("HIST-RESULT-NON-STRING", f"{path}.content", "a string", found)
        if message.get("apart") is True:
            one = "the results of one turn in one message"
            yield Problem("HIST-RESULTS-GROUPED", path, one, "a result in the next message")

    # Calls and results

    def _call(self, call: object, path: str) -> Iterator[Problem]:
        if not isinstance(call, dict):
            yield Problem("", path, "an object", _shown(call))
            return
        yield from self._id(call.get("id"), f"{path}.id", path)
        custom = call.get("custom")
        if call.get("type") == "custom" and isinstance(custom, dict):
            yield from _name(custom.get("name"), f"{path}.custom.name")
            return
        function = call.get("function")
        if not isinstance(function, dict):
            yield Problem("", f"{path}.function", "an object", _shown(function))
            return
        yield from _name(function.get("name"), f"{path}.function.name")
        yield from _arguments(function.get("arguments"), f"{path}.function.arguments")

    def _id(self, call_id: object, path: str, call_path: str) -> Iterator[Problem]:
        if not isinstance(call_id, str) or not call_id:
            yield Problem("DELTA-ID-MISSING", path, "an id", _shown(call_id))
            return
        if call_id in self._seen:
            found = f"{_shown(call_id)}, as at {self._seen[call_id]}"
            yield Problem("ID-REUSED-ACROSS-TURNS", path, "a unique id", found, call_id)
        self._seen.setdefault(call_id, path)
        self._open[call_id] = call_path
        self._answered.discard(call_id)
        self._late.pop(call_id, None)
        pattern = self._capabilities.tool_id_pattern
        if pattern and not re.fullmatch(pattern, call_id):
            quirk = _quirk_of_id(pattern, call_id)
            expected = f"an id that matches {pattern}"
            yield Problem(quirk, path, expected, _shown(call_id), call_id)

    def _orphan(self, call_id: object, path: str) -> Problem:
        found = _shown(call_id)
        if isinstance(call_id, str) and call_id in self._answered:
            found = f"a second result for {found}"
        elif isinstance(call_id, str) and call_id in self._late:
            found = f"{found}, whose turn ended at {self._late[call_id]}"
        waiting = f"the id of a call without a result: {self._waiting()}"
        reused = call_id if isinstance(call_id, str) and call_id in self._answered else ""
        return Problem("HIST-ORPHAN-RESULT", path, waiting, found, reused)

    def _end_of_results(self, path: str) -> Iterator[Problem]:
        """Report the unanswered calls, because the message at `path` is not a result."""
        for call_id, call_path in self._open.items():
            found = f"none for {_shown(call_id)} before {path}"
            yield Problem("HIST-MISSING-RESULT", call_path, "exactly one result", found)
            self._late[call_id] = path
        self._open = {}

    def _waiting(self) -> str:
        return ", ".join(map(_shown, list(self._open)[:5])) or "none"

    # Fields next to calls

    def _content_beside_calls(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        yield from _content(message, path, nullable=True)
        content = message.get("content")
        expected = self._capabilities.content_beside_calls
        silent, silent_text = _SILENT[expected]
        is_missing = expected == "present" and "content" not in message
        text = content.strip() if isinstance(content, str) else content
        if not _is_blank(content) or (text in silent and not is_missing):
            return
        if any(each.get("of") == "text" for each in sealed_of(message)):
            return  # a signed text comes back unchanged, also one of spaces
        quirk = "HIST-CONTENT-NULL" if content is None else "HIST-CONTENT-EMPTY"
        found = "no such key" if is_missing else _shown(content)
        yield Problem(quirk, f"{path}.content", f"text, or {silent_text}", found)

    def _reasoning(self, message: dict[str, Any], path: str) -> Iterator[Problem]:
        field = self._capabilities.reasoning_field
        if field and not isinstance(message.get(field), str):
            found = _shown(message.get(field))
            yield Problem("HIST-REASONING-REQUIRED", f"{path}.{field}", "the reasoning", found)


_CHECKS: Final[dict[str, Callable[[_HistoryCheck, dict[str, Any], str], Iterator[Problem]]]] = {
    "system": _HistoryCheck._instruction,  # noqa: SLF001 - the table of this class's own methods
    "developer": _HistoryCheck._instruction,  # noqa: SLF001 - as above
    "user": _HistoryCheck._question,  # noqa: SLF001 - as above
    "assistant": _HistoryCheck._answer,  # noqa: SLF001 - as above
    "tool": _HistoryCheck._result,  # noqa: SLF001 - as above
}
# What a provider accepts as no text, and how that is written.
_SILENT: Final[dict[str, tuple[tuple[str | None, ...], str]]] = {
    "any": ((None, ""), "null, '', or no key"),
    "present": ((None, ""), "null, or ''"),
    "null": ((None,), "null"),
    "empty": (("",), "''"),
}


def _name(name: object, path: str) -> Iterator[Problem]:
    if not isinstance(name, str) or not name:
        yield Problem("NAME-EMPTY", path, "a name", _shown(name))
    elif not _NAME.fullmatch(name):
        yield Problem("NAME-SANITIZED", path, f"a name that matches {_NAME.pattern}", _shown(name))


def _arguments(text: object, path: str) -> Iterator[Problem]:
    if not isinstance(text, str):
        yield Problem("HIST-ARGS-INVALID", path, "a string of JSON", _shown(text))
        return
    parsed = parse(text)
    if parsed.kind not in _VALID_ARGUMENTS:
        why = f": {parsed.error}" if parsed.error else ""
        found = f"{_shown(text)}{why}"
        yield Problem("HIST-ARGS-INVALID", path, "the JSON of an object", found)


def _content(message: dict[str, Any], path: str, *, nullable: bool = False) -> Iterator[Problem]:
    content = message.get("content")
    if not isinstance(content, str | list) and not (nullable and content is None):
        expected = "a string, parts, or null" if nullable else "a string, or parts"
        yield Problem("", f"{path}.content", expected, _shown(content))


def _is_blank(content: object) -> bool:
    return content is None or content == [] or (isinstance(content, str) and not content.strip())


def _has_other_content(message: dict[str, Any]) -> bool:
    """Whether an assistant message has a refusal, audio, or the older field `function_call`."""
    return any(message.get(key) for key in ("refusal", "audio", "function_call"))


def _is_text(content: object) -> bool:
    """Whether `content` is a string, or a list of text parts as the API allows."""
    if isinstance(content, list):
        return bool(content) and all(
            isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
        )
    return isinstance(content, str)


def _quirk_of_id(pattern: str, call_id: str) -> str:
    other = "ID-LENGTH-40" if len(call_id) > _LONGEST_ID else "ID-ANTHROPIC-PATTERN"
    return _PATTERN_QUIRKS.get(pattern, other)


def _shown(value: object) -> str:
    """Return a JSON value as text, shortened."""
    shorten = reprlib.Repr()
    shorten.maxstring = shorten.maxother = _MOST_SHOWN
    try:
        return shorten.repr(value)
    except ValueError:  # a number with more digits than Python writes
        return str(type(value))
