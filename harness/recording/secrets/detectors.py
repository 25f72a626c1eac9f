"""The detectors of secrets: one table for recording, `harness audit` and `harness doctor`.

They find keys of providers by their prefixes, tokens, e-mail addresses, home folders, and numbers
that identify an account. Placeholders (`sk-xxxx`, `you@example.com`, `/home/user`) do not match.
"""

import re
from collections.abc import Iterator, Sequence
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
_UUID: Final = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NAMED: Final = (
    "api[-_]?key|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|"
    "client[-_]?secret|secret[-_]?access[-_]?key|session[-_]?token|security[-_]?token|"
    "organi[sz]ation(?:[-_]?(?:id|uuid))?|org[-_]?id|account[-_]?(?:id|uuid)|tenant[-_]?id|"
    "subscription[-_]?id|billing[-_]?account"
)
# Each of those names contains one of these.
_STEMS: Final = (
    "key",
    "token",
    "secret",
    "organi",
    "org",
    "account",
    "tenant",
    "subscr",
    "billing",
)

# Beginning, and pattern of the rest. The beginning is kept, so that the kind of key is visible.
_KEYS: Final = (
    ("sk-ant-", "[A-Za-z0-9_-]{16,}"),
    ("sk-or-", "[A-Za-z0-9_-]{16,}"),
    ("sk-", "[A-Za-z0-9_-]{16,}"),
    ("sk_", "(?:live|test|proj)?_?[A-Za-z0-9]{16,}"),
    ("pk_", "(?:live|test)_[A-Za-z0-9]{16,}"),
    ("gsk_", "[A-Za-z0-9]{16,}"),
    ("xai-", "[A-Za-z0-9]{16,}"),
    ("pplx-", "[A-Za-z0-9]{16,}"),
    ("nvapi-", "[A-Za-z0-9_-]{16,}"),
    ("hf_", "[A-Za-z0-9]{16,}"),
    ("r8_", "[A-Za-z0-9]{16,}"),
    ("csk-", "[A-Za-z0-9]{16,}"),
    ("tgp_v1_", "[A-Za-z0-9_-]{16,}"),
    ("fw_", "[A-Za-z0-9]{20,}"),
    ("AIza", "[A-Za-z0-9_-]{30,}"),
    ("ya29.", "[A-Za-z0-9_-]{16,}"),
    ("AKIA", "[A-Z0-9]{16}"),
    ("ASIA", "[A-Z0-9]{16}"),
    ("LTAI", "[A-Za-z0-9]{12,}"),
    ("ghp_", "[A-Za-z0-9]{20,}"),
    ("gho_", "[A-Za-z0-9]{20,}"),
    ("ghu_", "[A-Za-z0-9]{20,}"),
    ("ghs_", "[A-Za-z0-9]{20,}"),
    ("github_pat_", "[A-Za-z0-9_]{20,}"),
    ("glpat-", "[A-Za-z0-9_-]{16,}"),
    ("npm_", "[A-Za-z0-9]{30,}"),
    ("pypi-", "[A-Za-z0-9_-]{30,}"),
    ("xoxb-", "[A-Za-z0-9-]{16,}"),
    ("xoxp-", "[A-Za-z0-9-]{16,}"),
    ("xapp-", "[A-Za-z0-9-]{16,}"),
)
_ACCOUNTS: Final = (
    ("org-", "[A-Za-z0-9]{16,}"),
    ("proj_", "[A-Za-z0-9]{16,}"),
    ("projects/", "[0-9]{6,}"),
    ("/subscriptions/", _UUID),
    ("/organizations/", _UUID),
    ("/accounts/", "[0-9a-f]{32}"),
)

_NAME: Final = r"[^/\\\"'`\s<>|?*:,;()\[\]{}$%]{1,255}"

DETECTORS: Final = (
    *(
        Detector("key", re.compile(f"{re.escape(start)}(?P<secret>{rest})"), (start,), _ALNUM)
        for start, rest in _KEYS
    ),
    *(
        Detector("account", re.compile(f"{re.escape(start)}(?P<secret>{rest})"), (start,), _ALNUM)
        for start, rest in _ACCOUNTS
    ),
    Detector(
        "account",
        re.compile(r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(?P<secret>[0-9]{12}):"),
        ("arn:aws",),
    ),
    Detector(
        "token",
        re.compile(r"eyJ(?P<secret>[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"),
        ("eyJ",),
        _ALNUM,
    ),
    Detector(
        "token",
        re.compile(r"(?:[Bb]earer|Basic)[ \t]+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
        ("earer", "Basic"),
    ),
    Detector(
        "token",
        re.compile(
            rf"(?i:{_NAMED})[\"']?[ \t]*[:=][ \t]*[\"']?(?P<secret>[A-Za-z0-9._~+/-]{{16,}}=*)"
        ),
        tuple(stem for word in _STEMS for stem in (word, word.title(), word.upper())),
    ),
    Detector(
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
            r"(?P<secret>(?:(?!-----)[A-Za-z0-9+/=\s:,-]){16,})"
        ),
        ("PRIVATE KEY-----",),
    ),
    Detector(
        "e-mail address",
        re.compile(
            r"(?<![A-Za-z0-9._%+-])(?P<secret>[A-Za-z0-9._%+-]{1,64}@"
            r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24})"
        ),
        ("@",),
    ),
    Detector(
        "home folder",
        re.compile(rf"/(?:home|Users)/(?P<secret>{_NAME})"),
        ("/home/", "/Users/"),
        _ALNUM + ".",
    ),
    Detector(
        "home folder",
        re.compile(
            r"[A-Za-z]:[\\/]Users[\\/](?P<secret>[^/\\\"'`<>|?*:\r\n\t]{1,255}(?=[\\/])|"
            + _NAME
            + ")"
        ),
        (":\\Users\\", ":/Users/", ":\\Users/", ":/Users\\"),
    ),
)

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
