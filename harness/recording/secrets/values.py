"""Whether a value looks like a secret: random text, and not words, a placeholder or code."""

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

# Bits for each character; the words and names of people and programs have fewer.
_RANDOM_BITS: Final = 3.0
# Parts of keys between hyphens; one with letters only is longer than a word.
_SHORTEST_PART: Final = 8
_LONG_PART: Final = 16
# Random letters of both cases are like many short words, each with a capital.
_CASES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MOST_WORDS: Final = 5
_SHORT_WORDS: Final = 3


def is_mixed(secret: str) -> bool:
    """Whether `secret` has letters and digits, as most passwords have and few names."""
    return any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))


def is_jumbled(secret: str) -> bool:
    """Whether letters of both cases alternate so that hardly any word is in `secret`."""
    words = _CASES.findall(secret) if secret.lower() != secret != secret.upper() else ()
    return len(words) >= _MOST_WORDS and sum(map(len, words)) < _SHORT_WORDS * len(words)


def is_random(secret: str) -> bool:
    """Whether `secret` has letters and digits, and repeats few characters, as random text does."""
    return is_mixed(secret) and entropy(secret) >= _RANDOM_BITS


def entropy(text: str) -> float:
    """Return the Shannon entropy of `text`, in bits for each character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)


def is_key(secret: str) -> bool:
    """Whether a part of `secret` looks like the random text of a key, and not like words.

    Without separators, it is one word, and longer than nearly all words.
    """
    is_one = re.search(r"[-_.]", secret) is None
    return is_one or has_random_part(secret) or is_case_mixed(secret)


def has_random_part(secret: str) -> bool:
    """Whether a part of `secret` between hyphens, dots or underscores is random text."""
    return any(map(_is_random_part, re.split(r"[-_.]", secret)))


def _is_random_part(part: str) -> bool:
    """Whether a part has digits among its letters, or, if it is long, changes its case often."""
    digits = sum(map(str.isdigit, part))
    if len(part) >= _SHORTEST_PART and digits:
        # A number at the end of a word, such as in `release2026`, is a version or a year.
        return any(map(str.isdigit, part.rstrip("0123456789"))) or digits * 3 >= len(part)
    return len(part) >= _LONG_PART and _changes_case(part)


def _changes_case(text: str) -> bool:
    """Whether letters in upper and lower case alternate more often than in words."""
    return 5 * sum(a.isupper() != b.isupper() for a, b in pairwise(text)) >= len(text)


def is_case_mixed(secret: str) -> bool:
    """Whether `secret` has letters in both cases and digits, without any order."""
    return is_random(secret) and _changes_case(secret)


def is_credential_text(secret: str) -> bool:
    """Whether the text after `Bearer` is random, and not a word or the end of a sentence."""
    parts = re.split(r"[-_./]", secret)
    return any(map(_is_random_part, parts)) or (is_random(secret) and not secret.endswith("."))


def is_cookie(text: str) -> bool:
    """Whether a value of the cookies in `text` is random."""
    return any(is_random(part.partition("=")[2]) for part in text.split(";"))


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


# Names, hosts and words of documentation, and the usual names in containers.
_PLACEHOLDERS: Final = re.compile(
    r"(?i)[^A-Za-z0-9]*(?:x[^A-Za-z0-9]*)+|redacted.*|\**"
    r"|(?:.*[-_])?your[-_].*"
    r"|[^@]*@(?:[a-z0-9-]+\.)*(?:example\.(?:com|org|net|edu)|[a-z0-9-]+\.(?:example|test|invalid|localhost)"
    r"|noreply\.github\.com)"
    r"|user(?:name)?|you(?:r[-_ ]?(?:user)?name)?|me|alice|bob|john|jane|foo|node|runner|ubuntu|oai"
    r"|vscode|app|shared|public|default|root|sandbox|workspace|\.\.\.|name"
    r"|(?:sk-)?(?:your|my|test|fake|dummy|example|placeholder)[-_].*"
    r"|pass(?:word|wd)?|pwd?|secret|token|key|string|null|none|true|false|changeme|postgres|root|admin|guest"
    r"|123456789012"
    r"|\$[A-Za-z_][A-Za-z0-9_]*|\$[({].*|%[A-Za-z_]\w*%?|%\(.*|[<{\[].*|aws4-hmac-sha256|(?:process\.env|os\.environ|env|config|settings|self|this)\..*"
)


def is_placeholder(secret: str) -> bool:
    """Whether `secret` is only a placeholder, such as `sk-xxxx`."""
    return _PLACEHOLDERS.fullmatch(secret) is not None


_REFERENCE: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_]*(?:(?:\.|->|::)[A-Za-z_][A-Za-z0-9_]*)+")


def is_reference(value: str) -> bool:
    """Whether `value` is the name of a value in code, such as `request.password2`."""
    parts = re.split(r"\.|->|::", value)
    return _REFERENCE.fullmatch(value) is not None and not any(map(_is_random_part, parts))
