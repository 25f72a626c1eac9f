r"""Join UTF-16 surrogate pairs that a provider's JSON cut in two.

A JSON string may hold half of a pair (`"\ud83d"`), and the other half may come in the next
fragment; the two are one character, and a half that stays alone cannot be encoded.
Source: RFC 8259 section 8.2; quirk ARGS-LONE-SURROGATE.
"""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """Return `text` with pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
