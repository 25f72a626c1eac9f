"""Change ids of calls and names of tools so that a provider accepts them.

Ids are unique in the conversation and match the provider's pattern. An id that matches and was not
used before is unchanged, because some providers require the id that they sent (quirk
ID-KIMI-NATIVE). Any other id is derived only from the original id and the number of its earlier
uses. So a longer history never changes an id that was sent before, and no two calls share an id
(quirks ID-*). Fit the ids of the complete history, then shorten the history.

A name that every provider accepts is unchanged. Any other name is replaced by one of at most 64
letters, digits, `_` and `-`, and no two names get the same replacement (quirks NAME-SANITIZED,
NAME-SANITIZE-COLLISION).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, product
from typing import Final

import msgspec
from msgspec.structs import replace

from harness.errors import UsageError
from harness.turns.messages import Message
from harness.turns.turn import Turn

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Characters and beginnings of ids of real providers; the longest id that fits a pattern is used.
_ALPHABETS: Final = (_BASE62, _BASE62[36:], "0123456789abcdef", "0123456789")
_PREFIXES: Final = ("", "call_", "toolu_", "fc_", "chatcmpl-tool-")
# Without the beginning. The ids of items of OpenAI's Responses API have as many characters.
_MOST_LENGTH: Final = 48
_SAMPLES: Final = "abc"
# Attempts to find an id that was not used before.
_MOST_TRIES: Final = 10_000


class FittedIds(msgspec.Struct, frozen=True):
    """A history with ids that a provider accepts.

    Fields:
        native: id in the messages -> the original id of the call.
    """

    messages: tuple[Message, ...]
    native: dict[str, str]


def distinct_ids(turn: Turn) -> Turn:
    """Return `turn` with ids that are not empty and unique within it.

    Call this before any call is executed, because results are found by these ids. A unique id is
    unchanged.
    """
    given = [call.id for call in turn.tool_calls] + [error.id for error in turn.parse_errors]
    fresh = iter(_distinct(given))
    return replace(
        turn,
        tool_calls=tuple(replace(call, id=next(fresh)) for call in turn.tool_calls),
        parse_errors=tuple(replace(error, id=next(fresh)) for error in turn.parse_errors),
    )


def fit_ids(messages: Sequence[Message], pattern: str) -> FittedIds:
    """Return `messages` with ids that are unique and match `pattern` completely.

    A result belongs to the nearest call before it with the same id.

    Args:
        messages: the complete history; the ids of the calls of one message differ.
        pattern: a regular expression; "" for any id.

    Raises:
        UsageError: no id matches the pattern.
    """
    ids, sent = _Ids(pattern), dict[str, str]()
    fitted = tuple(_fit(message, ids, sent) for message in messages)
    return FittedIds(fitted, ids.native)


def _distinct(given: Sequence[str]) -> Iterator[str]:
    taken, seen = set(given), {""}
    for position, each in enumerate(given):
        fresh = each
        if each in seen:
            made = (f"{each}-{number}" for number in count(position))
            fresh = next(it for it in made if it not in taken)
        seen.add(fresh)
        taken.add(fresh)
        yield fresh


def _fit(message: Message, ids: "_Ids", sent: dict[str, str]) -> Message:
    """Return `message` with changed ids.

    `sent` maps each original id to the newest id that replaces it, and is updated.
    """
    calls = message.get("tool_calls")
    if calls:
        for call in calls:
            sent[call["id"]] = ids.give(call["id"])
        return message | {"tool_calls": [call | {"id": sent[call["id"]]} for call in calls]}
    if message["role"] == "tool":
        call_id = message["tool_call_id"]
        return message | {"tool_call_id": sent.get(call_id, call_id)}
    return message


class _Ids:
    """Assigns an id to each call of a conversation, in order."""

    def __init__(self, pattern: str) -> None:
        self.native: dict[str, str] = {}
        self._pattern = re.compile(pattern or r"[\s\S]+")
        self._any = not pattern
        self._came: dict[str, int] = {}

    def give(self, native: str) -> str:
        for wire in self._candidates(native):
            if wire not in self.native and self._pattern.fullmatch(wire):
                self.native[wire] = native
                return wire
        raise UsageError(
            f"no id for {native!r} matches {self._pattern.pattern!r}",
            where="tool_id_pattern",
            hint="Declare a pattern that allows more letters or digits.",
        )

    def _candidates(self, native: str) -> Iterator[str]:
        first = self._came.get(native, 0) + 1
        for number in range(first, first + _MOST_TRIES):
            self._came[native] = number
            if number == 1:
                yield native
            yield self._made(native, number)

    def _made(self, native: str, number: int) -> str:
        if self._any:
            return f"{native}-{number}"
        return _shape_of(self._pattern).write(native if number == 1 else f"{native}/{number}")


class _Shape(msgspec.Struct, frozen=True):
    """A kind of text that matches a provider's pattern for ids: a prefix and further characters.

    Fields:
        prefix: the text at the start.
        alphabet: the characters that may follow.
        length: how many characters follow.
    """

    prefix: str
    alphabet: str
    length: int

    def write(self, text: str) -> str:
        """Return an id of this kind that is derived from `text`."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        number, signs = int.from_bytes(digest, "big"), []
        for _ in range(self.length):
            number, sign = divmod(number, len(self.alphabet))
            signs.append(self.alphabet[sign])
        return self.prefix + "".join(signs)


# A history is fitted again for each request, and up to some hundred forms are tried.
@lru_cache(maxsize=64)
def _shape_of(pattern: re.Pattern[str]) -> _Shape:
    for length, prefix, alphabet in product(range(_MOST_LENGTH, 0, -1), _PREFIXES, _ALPHABETS):
        shape = _Shape(prefix, alphabet, length)
        if all(pattern.fullmatch(shape.write(sample)) for sample in _SAMPLES):
            return shape
    return _Shape("", _BASE62, _MOST_LENGTH)


# Source: OpenAI's API reference, `tools[].function.name`; Anthropic's has the same pattern.
NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# So that the longest name has room for `_` and eight characters of a digest.
_MOST_PLAIN_CHARACTERS: Final = 55
_UNFIT: Final = re.compile(r"[^a-zA-Z0-9_-]")


class NameMap:
    """Maps the application's names of tools to the names in a request, and back.

    Args:
        declared: the names in the application. The first of two similar names gets the simpler
            replacement.
    """

    def __init__(self, declared: Iterable[str]) -> None:
        names = tuple(dict.fromkeys(declared))
        self._wire = {name: name for name in names if NAME.fullmatch(name)}
        self._declared = {name: name for name in self._wire}
        for name in names:
            if name not in self._wire:
                wire = next(each for each in _candidate_names(name) if each not in self._declared)
                self._wire[name], self._declared[wire] = wire, name

    def wire(self, name: str) -> str:
        """Return the name in the request for the application's name, even if undeclared."""
        return self._wire.get(name) or fitting_name(name)

    def declared(self, wire: str) -> str:
        """Return the application's name for a name in the request; `wire` itself if unknown."""
        return self._declared.get(wire, wire)


def fitting_name(name: str) -> str:
    """Return `name`, or a unique replacement if a provider would reject it."""
    return name if NAME.fullmatch(name) else _name_with_digest(name, name)


def _candidate_names(name: str) -> Iterator[str]:
    plain = _UNFIT.sub("_", name)
    if any(map(str.isalnum, plain)) and NAME.fullmatch(plain):
        yield plain
    yield from (_name_with_digest(name, name + "/" * number) for number in count())


def _name_with_digest(name: str, text: str) -> str:
    """Return a simplified `name`, followed by a hash of `text`, which makes it unique."""
    plain = _UNFIT.sub("_", name).strip("_")[:_MOST_PLAIN_CHARACTERS] or "tool"
    digest = hashlib.sha256(ascii(text).encode()).hexdigest()
    return f"{plain}_{digest[:8]}"
