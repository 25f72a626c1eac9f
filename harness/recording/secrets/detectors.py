"""The detectors of secrets: one table for recording, `harness audit` and `harness doctor`.

They find keys of providers by their prefixes, tokens, e-mail addresses, home folders, and numbers
that identify an account. Placeholders (`sk-xxxx`, `you@example.com`, `/home/user`) do not match.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Final

import msgspec


class Detector(msgspec.Struct, frozen=True, eq=False):
    """Finds one kind of secret.

    Fields:
        kind: the name of the kind in reports.
        pattern: matches the secret and its surroundings; the group `secret` is removed.
        hints: a text without any of these, in lower case, contains no such secret.
        before: characters that must not directly precede the secret.
        check: a further condition that the secret must fulfil.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    before: str = ""
    check: Callable[[str], bool] | None = None

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each secret of this kind in `text`."""
        for match in self.pattern.finditer(text):
            start = match.start()
            if start and self.before and text[start - 1] in self.before:
                continue
            secret = match["secret"]
            if not is_placeholder(secret) and (self.check is None or self.check(secret)):
                yield match.span("secret")


_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class _Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    pattern: str
    hints: tuple[str, ...]
    not_after: str = ""
    check: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `detectors.toml`, which describes the fields."""

    keys: dict[str, str]
    accounts: dict[str, str]
    detectors: tuple[_Pattern, ...]
    detect_secrets: dict[str, str]


# Bits for each character; the words and names of people and programs have fewer.
_RANDOM_BITS: Final = 3.0


def is_mixed(secret: str) -> bool:
    """Whether `secret` has letters and digits, as most passwords have and few names."""
    return any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))


def is_random(secret: str) -> bool:
    """Whether `secret` has letters and digits, and repeats few characters, as random text does."""
    return is_mixed(secret) and entropy(secret) >= _RANDOM_BITS


def entropy(text: str) -> float:
    """Return the Shannon entropy of `text`, in bits for each character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)


def is_basic(secret: str) -> bool:
    """Whether `secret` is `user:password` in base64, as in HTTP's basic authentication."""
    return ":" in basic_pair(secret)


def basic_pair(secret: str) -> str:
    """Return the text in base64 `secret`; "" if it is not base64 or does not decode to text."""
    digits = secret.rstrip("=")
    try:
        pair = base64.b64decode(f"{digits}{'=' * (-len(digits) % 4)}", b"-_").decode()
    except (binascii.Error, ValueError):
        return ""
    return pair if pair.isprintable() else ""


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "mixed": is_mixed,
    "random": is_random,
    "basic": is_basic,
}


def _iter_prefixed(table: _Table) -> Iterator[Detector]:
    for kind, prefixes in (("key", table.keys), ("account", table.accounts)):
        for prefix, rest in prefixes.items():
            pattern = re.compile(f"{re.escape(prefix)}(?P<secret>{rest})")
            yield Detector(kind, pattern, (prefix,), _ALNUM)


def _iter_others(table: _Table) -> Iterator[Detector]:
    for row in table.detectors:
        check = _CHECKS[row.check] if row.check else None
        yield Detector(row.kind, re.compile(row.pattern), row.hints, row.not_after, check)


_TEXT: Final = resources.files(__package__).joinpath("detectors.toml").read_text(encoding="utf-8")
TABLE: Final = msgspec.toml.decode(_TEXT, type=_Table)
_PREFIXED: Final = tuple(_iter_prefixed(TABLE))
_OTHERS: Final = tuple(_iter_others(TABLE))
_HINTS: Final = tuple({hint for detector in _OTHERS for hint in detector.hints})

KINDS: Final = tuple(dict.fromkeys(detector.kind for detector in (*_PREFIXED, *_OTHERS)))

# Names, hosts and words of documentation, and the usual names in containers.
_PLACEHOLDERS: Final = re.compile(
    r"(?i)[^A-Za-z0-9]*(?:x[^A-Za-z0-9]*)+|redacted.*|\**"
    r"|(?:.*[-_])?your[-_].*"
    r"|[^@]*@(?:[a-z0-9-]+\.)*(?:example\.(?:com|org|net|edu)|[a-z0-9-]+\.(?:example|test|invalid|localhost)"
    r"|noreply\.github\.com)"
    r"|user(?:name)?|you(?:r[-_ ]?(?:user)?name)?|me|alice|bob|john|jane|foo|node|runner|ubuntu|oai"
    r"|vscode|app|shared|public|default|root|sandbox|workspace|\.\.\.|name"
    r"|(?:sk-)?(?:your|my|test|fake|dummy|example|placeholder)[-_].*"
    r"|pass(?:word|wd)?|pwd?|secret|token|key|string|null|none|true|false|changeme|postgres|root|admin"
    r"|[$%<{\[].*|(?:process\.env|os\.environ|env|config|settings|self|this)\..*"
)


def is_placeholder(secret: str) -> bool:
    """Whether `secret` is only a placeholder, such as `sk-xxxx`."""
    return _PLACEHOLDERS.fullmatch(secret) is not None


# What follows a prefix; everything else becomes a space. No secret with a prefix is shorter.
_OF_WORDS: Final = f"{_ALNUM}_-./+=".encode()
_TO_WORDS: Final = bytes(code if code in _OF_WORDS else ord(" ") for code in range(256))
_SHORTEST_WORD: Final = 14


def likely_detectors(text: str, known: Sequence[Detector] = ()) -> Iterator[Detector]:
    """Yield the detectors that may find a secret in `text`; usually these are few.

    A prefix is searched only in long words, and once in each, because a stream repeats its ids.
    """
    yield from (detector for detector in known if detector.hints[0] in text)
    longest = " ".join(_long_words(text))
    yield from (detector for detector in _PREFIXED if detector.hints[0] in longest)
    lowered = text.lower()
    found = {hint for hint in _HINTS if hint in lowered}
    yield from (detector for detector in _OTHERS if not found.isdisjoint(detector.hints))


def _long_words(text: str) -> Iterator[str]:
    words = set(text.encode("latin-1").translate(_TO_WORDS).split())
    return (word.decode("latin-1") for word in words if len(word) >= _SHORTEST_WORD)
