"""The detectors of secrets: one table for recording, `harness audit` and `harness doctor`.

They find keys of providers by their prefixes, tokens, e-mail addresses, home folders, and numbers
that identify an account. Placeholders (`sk-xxxx`, `you@example.com`, `/home/user`) do not match.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from operator import itemgetter
from typing import Final

import msgspec

from harness.recording.secrets.named import NameRow, Names
from harness.recording.secrets.values import (
    is_basic,
    is_case_mixed,
    is_cookie,
    is_credential_text,
    is_key,
    is_mixed,
    is_placeholder,
    is_random,
)

# Replaces letters and digits; it has the same length, and no detector matches it.
FILL: Final = "x"


class Detector(msgspec.Struct, frozen=True, eq=False):
    """Finds one kind of secret.

    Fields:
        kind: the name of the kind in reports.
        pattern: matches the secret and its surroundings; the group `secret` is removed.
        hints: a text without any of these, in lower case, contains no such secret.
        before: characters that must not directly precede the secret.
        check: a further condition that the secret must fulfil.
        fill: the character that replaces each letter and digit of the secret.
        lower: whether the pattern is searched in the text in lower case.
        is_known: whether the secret itself is known, and not only its form. Only such a secret is
            also searched in the base64 of data URLs, where any form occurs by chance.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    before: str = ""
    check: Callable[[str], bool] | None = None
    fill: str = FILL
    is_known: bool = False
    lower: bool = False

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each secret of this kind in `text`."""
        data = [] if self.is_known else _data_spans(text)
        for match in self.pattern.finditer(text.lower() if self.lower else text):
            start = match.start()
            if start and self.before and text[start - 1] in self.before:
                continue
            if data and _is_inside(start, data):
                continue
            secret = text[slice(*match.span("secret"))]
            if not is_placeholder(secret) and (self.check is None or self.check(secret)):
                yield match.span("secret")


class NamedDetector(Detector, frozen=True, eq=False, kw_only=True):
    """Finds secrets by the name before them.

    Fields:
        names: the names to search for.
    """

    names: Names

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each secret of this kind in `text`."""
        data = _data_spans(text)
        for start, end in self.names.find(text):
            # Of a key with a known prefix, only what follows the prefix is removed.
            if not (data and _is_inside(start, data)) and not _is_prefixed(text[start:end]):
                yield start, end


def _is_prefixed(value: str) -> bool:
    """Whether the detector of a prefix finds the secret at the start of `value`."""
    return any(
        start == len(detector.hints[0])
        for detector in _PREFIXED
        if value.startswith(detector.hints[0])
        for start, _ in detector.find(value)
    )


_DATA: Final = re.compile(r";base64,[A-Za-z0-9+/_=-]*")


@lru_cache(maxsize=2)
def _data_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the base64 of each data URL in `text`."""
    return [match.span() for match in _DATA.finditer(text)] if ";base64," in text else []


def _is_inside(index: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, index, key=itemgetter(0)) - 1
    return at >= 0 and index < spans[at][1]


_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class _Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    pattern: str
    hints: tuple[str, ...]
    not_after: str = ""
    check: str = ""
    fill: str = FILL
    lower: bool = False


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `detectors.toml`, which describes the fields."""

    keys: dict[str, str]
    accounts: dict[str, str]
    names: tuple[NameRow, ...]
    detectors: tuple[_Pattern, ...]
    detect_secrets: dict[str, str]
    file_suffixes: frozenset[str]
    roles: frozenset[str]
    domains: frozenset[str]
    users: frozenset[str]


def is_email(address: str) -> bool:
    """Whether `address` names a person's mailbox, and not a version of a file or package."""
    name, _, domain = address.lower().rpartition("@")
    *labels, last = domain.split(".")
    is_version = any(map(str.isdigit, labels)) and not any(len(it) > 3 for it in labels)  # noqa: PLR2004 - as `npm` and `min`
    is_file = last in TABLE.file_suffixes or is_version
    return not (is_file or name in TABLE.roles or domain in TABLE.domains)


def is_folder_of_user(name: str) -> bool:
    """Whether a folder below `/home` is that of a user, and not a page such as `index.html`."""
    lowered = name.lower()
    suffix = lowered.rpartition(".")[2] if "." in lowered else ""
    return lowered not in TABLE.users and suffix not in TABLE.file_suffixes


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "mixed": is_mixed,
    "random": is_random,
    "basic": is_basic,
    "case": is_case_mixed,
    "cookie": is_cookie,
    "credential": is_credential_text,
    "e-mail": is_email,
    "folder": is_folder_of_user,
}


def _iter_prefixed(table: _Table) -> Iterator[Detector]:
    for kind, prefixes in (("key", table.keys), ("account", table.accounts)):
        check = is_key if kind == "key" else None
        for prefix, rest in prefixes.items():
            pattern = re.compile(f"{re.escape(prefix)}(?P<secret>{_bounded(rest)})")
            yield Detector(kind, pattern, (prefix,), _ALNUM, check)


_END: Final = re.compile(r"(\[[^\]]+\])\{([0-9]+)(,?)\}(=\{0,2\})?\Z")
_MOST_CHARACTERS: Final = 256


def _bounded(rest: str) -> str:
    """Return the pattern of the rest of a key, with a bound, and an end after the last character.

    A longer text is not a key, but data such as base64.
    """
    found = _END.search(rest)
    if found is None:
        return rest
    characters, least, is_open, padding = found.groups()
    most = f",{_MOST_CHARACTERS}" if is_open else ""
    end = f"{characters}{{{least}{most}}}{padding or ''}(?!{characters})"
    return f"{rest[: found.start()]}{end}"


_ANY: Final = re.compile(r"(?P<secret>)")


def _iter_others(table: _Table) -> Iterator[Detector]:
    for row in table.detectors:
        check = _CHECKS[row.check] if row.check else None
        pattern = re.compile(row.pattern)
        yield Detector(
            row.kind, pattern, row.hints, row.not_after, check, row.fill, lower=row.lower
        )
    for named in table.names:
        names = Names(named)
        yield NamedDetector(named.kind, _ANY, names.hints, names=names)


_TEXT: Final = resources.files(__package__).joinpath("detectors.toml").read_text(encoding="utf-8")
TABLE: Final = msgspec.toml.decode(_TEXT, type=_Table)
_PREFIXED: Final = tuple(_iter_prefixed(TABLE))
_OTHERS: Final = tuple(_iter_others(TABLE))
_HINTS: Final = tuple({hint for detector in _OTHERS for hint in detector.hints})

KINDS: Final = tuple(dict.fromkeys(detector.kind for detector in (*_PREFIXED, *_OTHERS)))

# What follows a prefix; everything else becomes a space. No secret with a prefix is shorter.
_OF_WORDS: Final = f"{_ALNUM}_-./+=".encode()
_TO_WORDS: Final = bytes(code if code in _OF_WORDS else ord(" ") for code in range(256))
_SHORTEST_WORD: Final = 14


def likely_detectors(text: str, known: Sequence[Detector] = ()) -> Iterator[Detector]:
    """Yield the detectors that may find a secret in `text`; usually these are few.

    A prefix is searched only in long words, and once in each, because a stream repeats its ids.
    Only a known secret is searched in the base64 of data URLs.
    """
    yield from (detector for detector in known if detector.hints[0] in text)
    if _data_spans(text):
        text = _DATA.sub(";base64,", text)
    longest = " ".join(_long_words(text))
    yield from (detector for detector in _PREFIXED if detector.hints[0] in longest)
    lowered = text.lower()
    found = {hint for hint in _HINTS if hint in lowered}
    yield from (detector for detector in _OTHERS if not found.isdisjoint(detector.hints))


def _long_words(text: str) -> Iterator[str]:
    words = set(text.encode("latin-1").translate(_TO_WORDS).split())
    return (word.decode("latin-1") for word in words if len(word) >= _SHORTEST_WORD)
