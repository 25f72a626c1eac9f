"""The detectors of secrets: one table for recording, `harness audit` and `harness doctor`.

They find keys of providers by their prefixes, tokens, e-mail addresses, home folders, and numbers
that identify an account. Placeholders (`sk-xxxx`, `you@example.com`, `/home/user`) do not match.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Final

import msgspec


class Detector(msgspec.Struct, frozen=True, eq=False):
    """One kind of secret.

    Fields:
        kind: its name in reports.
        pattern: matches it; the group `secret` must be removed.
        hints: a text without any of these contains no such secret.
        before: characters that must not precede it directly.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    before: str = ""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each secret of this kind in `text`."""
        for match in self.pattern.finditer(text):
            start = match.start()
            if start and self.before and text[start - 1] in self.before:
                continue
            if not is_placeholder(match["secret"]):
                yield match.span("secret")


_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class _Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    pattern: str
    hints: tuple[str, ...]
    not_after: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `detectors.toml`, which describes the fields."""

    keys: dict[str, str]
    accounts: dict[str, str]
    detectors: tuple[_Pattern, ...]


def _iter_detectors() -> Iterator[Detector]:
    path = resources.files(__package__) / "detectors.toml"
    table = msgspec.toml.decode(path.read_text(encoding="utf-8"), type=_Table)
    for kind, prefixes in (("key", table.keys), ("account", table.accounts)):
        for prefix, rest in prefixes.items():
            pattern = re.compile(f"{re.escape(prefix)}(?P<secret>{rest})")
            yield Detector(kind, pattern, (prefix,), _ALNUM)
    for row in table.detectors:
        yield Detector(row.kind, re.compile(row.pattern), row.hints, row.not_after)


DETECTORS: Final = tuple(_iter_detectors())
_BY_HINT: Final = tuple((hint, detector) for detector in DETECTORS for hint in detector.hints)

KINDS: Final = tuple(dict.fromkeys(detector.kind for detector in DETECTORS))

# Names, hosts and words of documentation, and the usual names in containers.
_PLACEHOLDERS: Final = re.compile(
    r"(?i)[^A-Za-z0-9]*(?:x[^A-Za-z0-9]*)+|redacted.*|\**"
    r"|[^@]*@(?:[a-z0-9-]+\.)*(?:example\.(?:com|org|net|edu)|[a-z0-9-]+\.(?:example|test|invalid|localhost)"
    r"|noreply\.github\.com)"
    r"|user(?:name)?|you(?:r[-_ ]?(?:user)?name)?|me|alice|bob|john|jane|foo|node|runner|ubuntu"
    r"|vscode|app|shared|public|default|root|sandbox|workspace|\.\.\.|name"
    r"|(?:sk-)?(?:your|my|test|fake|dummy|example|placeholder)[-_].*"
)


def is_placeholder(secret: str) -> bool:
    """Whether `secret` is only a placeholder."""
    return _PLACEHOLDERS.fullmatch(secret) is not None


def likely_detectors(text: str, known: Sequence[Detector] = ()) -> Iterator[Detector]:
    """Yield the detectors whose hints are in `text`; usually these are few."""
    yield from (detector for detector in known if detector.hints[0] in text)
    yield from dict.fromkeys([detector for hint, detector in _BY_HINT if hint in text])


def literal_detector(value: str) -> Detector:
    """Return the detector of one known secret, such as the value of a header."""
    return Detector("credential", re.compile(f"(?P<secret>{re.escape(value)})"), (value,))
