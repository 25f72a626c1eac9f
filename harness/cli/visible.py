r"""Hostile text -> one line that a terminal only prints: what cannot be seen gets a sign.

Controls become their pictures (␍ ␊ ␛), every other unseen character <U+2028>, a byte that
is no UTF-8 <\xFF>. No escape sequence survives.
"""

from harness.reporting.visible import code_of


def visible(data: bytes | str) -> str:
    """Return `data` as one line of printable text."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    if text.isascii() and text.isprintable():
        return text
    return "".join(_sign(code_of(char)) or char for char in text)


def _sign(code: str) -> str:
    return f"<{code}>" if len(code) > 1 else code
