"""Find secrets by the name before them, in any text: `api_key = ...`, `"token", "..."`, `-p ...`.

A table of names decides, and how a text assigns a value is described once: members of JSON,
variables, headers, options of commands, XML, pairs in a list, and words such as `password is`.
The value itself must look random, the more so the weaker the name is.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from harness.recording.secrets.values import (
    has_random_part,
    is_case_mixed,
    is_credential_text,
    is_jumbled,
    is_mixed,
    is_placeholder,
    is_random,
    is_reference,
)


class NameRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `[[names]]` in `detectors.toml`.

    Fields:
        kind: the name of the kind in reports.
        words: ends of names, in lower case; `-` stands for any separator or none.
        least: the least number of characters of a value.
        check: whether a value only needs letters and digits, or must be random.
        whole: whether a name must end with a complete word, as `bypass` does not with `pass`.
        unless: words in a name whose value is not secret, as in `cache_key`.
        uuid: whether a UUID can be the secret, and not only an identifier.
    """

    kind: str
    words: tuple[str, ...]
    least: int
    check: Literal["mixed", "random"] = "mixed"
    whole: bool = False
    unless: frozenset[str] = frozenset()
    uuid: bool = True


# After the end of a name: `API_KEY_2`, `password_prod`.
_SUFFIX: Final = (
    r"(?:[-_.]?(?:[0-9]{1,3}|prod(?:uction)?|dev|live|test|staging|base64|b64|hex|value"
    r"|default|base|data|hash|material|string|text|secret|raw|plain(?:text)?|enc(?:rypted)?|override))?"
)
# Two of the characters are a space that does not break a line, in lower case. Each length has a
# bound, so that the time grows as the text does.
_SPACE: Final = r"(?:[ \t]|\xe2\xa0){0,40}"
_LINE: Final = r"[ \t]{0,40}(?:\r?\n[ \t]{0,40})?"
_GAP: Final = r"[ \t\r\n]{0,40}"
_PAIR_NAME: Final = r"[\"']?(?:value|text|content|default|string_?value)[\"']?"
_INNER: Final = rf"(?:\{{{_LINE}{_PAIR_NAME}{_SPACE}:{_SPACE})?"
_ITEM: Final = r"(?:\r?\n[ \t]{0,40}-[ \t]{1,9})?"
_NEXT_TAG: Final = rf"</[a-z]{{1,20}}>{_GAP}<[a-z]{{1,20}}>"
_TAG_END: Final = rf"(?:(?:[ \t][^<>\r\n]{{0,80}})?>{_GAP}(?:{_NEXT_TAG})?|{_NEXT_TAG})"
# How a text assigns a value to a name. The value of a pair follows its own name.
_ASSIGNED: Final = "|".join(
    (
        rf"{_LINE},?{_LINE}{_PAIR_NAME}{_SPACE}[:=]{_LINE}{_INNER}",
        rf"{_SPACE}(?:=>|:=|::|->|={{1,3}}|:=?|\xef\xbc\x9a){_SPACE}{_ITEM}",
        rf"{_SPACE},{_LINE}(?=b?[\"'])",
        rf"{_SPACE}\((?=b?[\"'])",
        rf"(?P<tag>{_TAG_END})",
        r"[ \t]{1,40}(?=b?[\"'])",
    )
)
# With these, only a random value is a secret: a verb, a dash, a column of a table, or some words.
_VERB: Final = r"is|was|provided|given|used|supplied|received|ist|es|est|-|\xe2\x80[\x93\x94]"
_PHRASE: Final = r"(?:[ \t]{1,9}[a-z0-9'_.@-]{1,24}){1,6}(?:[ \t]{0,9}:|[ \t]{1,9}is)[ \t]{1,9}"
_SAID: Final = (
    rf"(?P<said>(?P<phrase>{_PHRASE})|[ \t]{{1,9}}(?:(?:{_VERB})[ \t]{{0,9}}:?[ \t]{{1,9}})?"
    rf"|[ \t]{{0,40}}\|[ \t]{{0,40}}|[ \t]{{0,9}}(?:\xe6\x98\xaf|\xe3\x81\xaf)[ \t]{{0,9}})"
)
_QUOTE: Final = r"(?:\xe2\x80[\x98-\x9f]|\xe2\xab)?"
_NAME_END: Final = (
    rf"{_SUFFIX}[\"'`]?\]?[\"']?(?:[ \t]{{0,9}}[\[(][^\[\]()\r\n\"']{{0,24}}[\])])?"
    rf"(?:{_ASSIGNED}|{_SAID})(?P<open>[\[({{]?){_GAP}{_QUOTE}"
)
_CONTAINED: Final = re.compile(
    r"(?P<quote>[\"'])(?P<value>[A-Za-z0-9_.~+/=!@*$:-]{8,512})(?P=quote)(?![ \t\r\n]{0,40}:)"
)
_END_OF_CONTAINER: Final = {"[": "]", "{": "}"}
_MOST_CONTAINED: Final = 2_000
_END_TAG: Final = re.compile(r"[ \t\r\n]{0,40}</")
_SCHEME: Final = (
    r"(?:(?i:bearer|basic|token|bot|api[-_]?key|key|ssws|splunk|geniekey|sso-key|negotiate"
    r"|deepl-auth-key|apitoken|oauth)[ \t]{1,9})?"
)
_IN_QUOTES: Final = r"(?P<quoted>(?:(?!(?P=quote))[^\s\\]){%d,512}+)(?P=quote)"
_BARE: Final = r"(?P<bare>(?:(?!\xe2\x80)[^\s\"'`\\,;&<>(){}\[\]|]){%d,512}+)(?!\()"
_VALUE: Final = rf"b?(?:(?P<quote>[\"'`]){_SCHEME}{_IN_QUOTES}|[\"'`]?{_SCHEME}{_BARE})"
_MOST_OF_NAME: Final = 64
_NAME: Final = re.compile(r"[A-Za-z0-9_.$-]*")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Names:
    """One row of names, ready to search.

    Args:
        row: the names and what their value must be.
    """

    def __init__(self, row: NameRow) -> None:
        self._row = row
        words = [
            re.escape(case).replace(r"\-", "[-_. ]?") for word in row.words for case in _cases(word)
        ]
        self._end = re.compile(rf"(?:{'|'.join(words)}){_NAME_END}")
        self._value = re.compile(_VALUE % (row.least, row.least))

    @property
    def hints(self) -> tuple[str, ...]:
        """Texts of which at least one is in each text with such a name."""
        return tuple({case.split("-")[-1] for word in self._row.words for case in _cases(word)})

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each secret in `text`."""
        for match in self._end.finditer(text.lower()):
            if not self._is_secret_name(text, match.start(), match.end()):
                continue
            value = self._value.match(text, match.end())
            group = "bare" if value is None or value["quoted"] is None else "quoted"
            if value is not None and self._is_secret(text, match, value[group], value.end(group)):
                yield value.span(group)
            elif match["open"] in ("[", "{"):
                yield from self._contained(text, match.end(), _END_OF_CONTAINER[match["open"]])

    def _contained(self, text: str, start: int, closing: str) -> Iterator[tuple[int, int]]:
        """Yield the secrets in a list or an object that has a secret name."""
        end = text.find(closing, start, start + _MOST_CONTAINED)
        for match in _CONTAINED.finditer(text, start, end if end >= 0 else start):
            value = match["value"]
            is_random_text = has_random_part(value) and is_random(value)
            if is_random_text and not is_placeholder(value) and not is_reference(value):
                yield match.span("value")

    def _is_secret_name(self, text: str, start: int, end: int) -> bool:
        """Whether the name that begins before `start`, if it does, is one of this row."""
        found = _NAME.match(text[max(0, start - _MOST_OF_NAME) : start][::-1])
        first = start - (found.end() if found else 0)
        if self._row.whole and start > first and text[start - 1].isalnum():
            begins_word = text[start].isupper() and text[start - 1].islower()
            if not begins_word:
                return False
        words = {word.lower() for word in _WORD.findall(text[first:end])}
        return self._row.unless.isdisjoint(words)

    def _is_secret(self, text: str, name: re.Match[str], value: str, end: int) -> bool:
        """Whether a value after a name of this row is a secret."""
        if is_placeholder(value) or is_reference(value):
            return False
        if name["said"] is not None:
            is_weak = name["phrase"] is not None and self._row.check == "random"
            return not is_weak and _is_said(value)
        if name["tag"] is not None and not _END_TAG.match(text, end):
            return False
        if is_jumbled(value):
            return True
        if self._row.check == "mixed":
            return is_mixed(value) or (value.isdigit() and text[end : end + 1] in ("'", '"'))
        return is_random(value) and (self._row.uuid or not _UUID.fullmatch(value))


def _is_said(value: str) -> bool:
    """Whether a word of a sentence is random text, and neither a word nor a path."""
    is_path = "/" in value and (value[0] in "/.~" or not is_case_mixed(value))
    return value.isascii() and is_random(value) and is_credential_text(value) and not is_path


def _cases(word: str) -> tuple[str, ...]:
    """Return the forms of a word as a view in lower case shows their bytes, each a character.

    A view in lower case changes the case of ASCII only.
    """
    forms = (word,) if word.isascii() else (word, word.capitalize(), word.upper())
    return tuple(dict.fromkeys(it.encode().decode("latin-1").lower() for it in forms))
