"""Define the expected content of a request: roles, tools, texts and members of the body.

Wherever a scenario judges a text, it uses `ExpectedText`. It names members of the body by their
key or by a JSON pointer (RFC 6901).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from harness.errors import UnreadableError
from harness.files.typed import File, Text, require_json

Count = Annotated[int, msgspec.Meta(ge=0)]
Role = Literal["system", "developer", "user", "assistant", "tool"]
Parts: TypeAlias = Text | tuple[Text, ...]

MISSING: Final[Any] = msgspec.UNSET
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_POINTER_HINT: Final = (
    "Write the key of a member, or a JSON pointer such as /messages/0/content, with ~0 for ~ "
    "and ~1 for / inside a key."
)
# Characters that a finding shows of two texts from where they begin to differ.
_SHOWN: Final = 80


class CharacterCount(File, frozen=True):
    """How long a text must be, as a number of Unicode code points."""

    exactly: Count | None = None
    at_most: Count | None = None


class ExpectedText(File, frozen=True):
    """The conditions for a text. At least one key is required.

    Fields:
        equals: the complete text.
        contains: parts that the text must contain.
        lacks: parts that the text must not contain.
        counts: part -> how often the text contains it, without overlaps.
        characters: the length of the text.
    """

    equals: str | None = None
    contains: Parts = ()
    lacks: Parts = ()
    counts: dict[Text, Count] = msgspec.field(default_factory=dict)
    characters: CharacterCount = CharacterCount()

    def __post_init__(self) -> None:
        characters = self.characters.exactly, self.characters.at_most
        if (self.equals, *characters) == (None,) * 3 and not (
            self.contains or self.lacks or self.counts
        ):
            raise ValueError(
                "a text without an expectation\n"
                "Use `equals`, `contains`, `lacks`, `counts` or `characters`."
            )

    def differences(self, text: str) -> Iterator[tuple[str, object]]:
        """Yield each condition that `text` does not fulfil, and the value that was found."""
        if self.equals is not None and self.equals != text:
            yield _first_difference(self.equals, text)
        for part in as_texts(self.contains):
            if part not in text:
                yield f"a text that contains {part!r}", text
        for part in as_texts(self.lacks):
            if part in text:
                yield f"a text without {part!r}", text
        for part, count in self.counts.items():
            if (found := text.count(part)) != count:
                yield f"{part!r} {count} times", f"{found} times"
        exactly, at_most = self.characters.exactly, self.characters.at_most
        if exactly is not None and exactly != len(text):
            yield f"{exactly:,} characters", f"{len(text):,}"
        if at_most is not None and at_most < len(text):
            yield f"at most {at_most:,} characters", f"{len(text):,}"


# One part, several, or more than parts.
TextOrParts: TypeAlias = str | tuple[Text, ...] | ExpectedText


class ExpectedMessages(File, frozen=True):
    """The conditions for the messages of a request or history. A missing key is not judged.

    Fields:
        roles: the roles of all messages.
        last_role: the role of the last message.
        says: the text of the last message.
        texts: JSON pointer into the body of the request -> the text there. The body of a history
            has only the member `messages`.
    """

    roles: tuple[Role, ...] | None = None
    last_role: Role | None = None
    says: TextOrParts = ()
    texts: dict[str, TextOrParts] = msgspec.field(default_factory=dict)


class ExpectedRequest(ExpectedMessages, frozen=True):
    """The conditions for one request. A missing key is not judged.

    Fields:
        system: the text of all system and developer messages, with an empty line between them.
        has_tools: whether the request declares tools in the field of the API.
        tools: the names of the declared tools, in order.
        fields: members of the body, compared by value; null also matches a missing member.
        has_fields: whether the body has these members, with any value.
    """

    system: TextOrParts = ()
    has_tools: bool | None = None
    tools: tuple[Text, ...] | None = None
    fields: dict[str, Any] = msgspec.field(default_factory=dict)
    has_fields: dict[str, bool] = msgspec.field(default_factory=dict)


def as_texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return a tuple of texts from one text or from a tuple of texts."""
    return (value,) if isinstance(value, str) else value


def text_differences(expected: TextOrParts, text: str) -> Iterator[tuple[str, object]]:
    """Yield each condition that `text` does not fulfil, and the value that was found."""
    if not expected:
        return
    if not isinstance(expected, ExpectedText):
        expected = ExpectedText(contains=expected)
    yield from expected.differences(text)


def member_of(body: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the member of `body` with this key or JSON pointer; `MISSING` if there is none."""
    if not name.startswith("/"):
        return body.get(name, MISSING)
    value: Any = body
    for part in name[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return MISSING
    return value


def require_request(request: ExpectedRequest, path: str, where: str) -> None:
    """Raise an error for values that are not JSON, and for invalid JSON pointers.

    Args:
        request: the conditions for a request.
        path: the path of `request` in the file, for the error.
        where: the file, for the error.

    Raises:
        UnreadableError: a value or a name is invalid.
    """
    require_json(request.fields, f"{path}.fields", where)
    require_pointers(request, ("texts", "fields", "has_fields"), path, where)


def require_pointers(
    messages: ExpectedMessages, keys: Iterable[str], path: str, where: str
) -> None:
    """Raise an UnreadableError if a name below one of `keys` is an invalid JSON pointer."""
    for key in keys:
        for name in getattr(messages, key):
            if "/" in name and not _POINTER.fullmatch(name):
                raise UnreadableError(
                    f"{path}.{key}: {name!r} is not a JSON pointer", where=where, hint=_POINTER_HINT
                )


def _first_difference(expected: str, found: str) -> tuple[str, str]:
    """Return the parts of two texts from their first difference."""
    pairs = enumerate(zip(expected, found, strict=False))
    at = next((at for at, (a, b) in pairs if a != b), min(len(expected), len(found)))
    start = f"from character {at:,} on: "
    return (
        f"{start}{expected[at : at + _SHOWN]!r}",
        f"{start}{found[at : at + _SHOWN]!r}",
    )
