"""Convert scalars of YAML without quotes and without a tag to values: the YAML 1.2 core schema."""

import re
from collections.abc import Callable
from typing import Final

TagReader = Callable[[str], object]

# The value of the key `<<`, which merges mappings.
MERGE: Final = object()


def _integer(text: str) -> int:
    return int(text, 16 if "x" in text else 10)


def _number(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


# YAML 1.2 core schema. The bounded lengths keep a hostile number from costing quadratic time.
_RESOLVERS: Final[tuple[tuple[str, tuple[str, ...], TagReader], ...]] = (
    (r"(?:~|null|Null|NULL|)", ("~", "n", "N", ""), lambda _text: None),
    (r"(?:true|True|TRUE)", ("t", "T"), lambda _text: True),
    (r"(?:false|False|FALSE)", ("f", "F"), lambda _text: False),
    (
        r"[-+]?(?:0|[1-9][0-9]{0,300}|0x[0-9a-fA-F]{1,300})",
        tuple("-+0123456789"),
        _integer,
    ),
    (
        (
            r"[-+]?(?:[0-9]{1,300}\.[0-9]{0,300}(?:[eE][-+]?[0-9]{1,4})?"
            r"|[0-9]{1,300}[eE][-+]?[0-9]{1,4}|\.[0-9]{1,300}(?:[eE][-+]?[0-9]{1,4})?"
            r"|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
        ),
        tuple("-+0123456789."),
        _number,
    ),
    (r"<<", ("<",), lambda _text: MERGE),
)


def _by_first_character() -> dict[str, list[tuple[re.Pattern[str], TagReader]]]:
    found: dict[str, list[tuple[re.Pattern[str], TagReader]]] = {}
    for pattern, first, convert in _RESOLVERS:
        for character in first:
            found.setdefault(character, []).append((re.compile(pattern), convert))
    return found


_RESOLVERS_OF: Final = _by_first_character()


def resolved(text: str) -> object:
    """Return the value of a scalar without quotes and without a tag, such as `17` or `true`."""
    for pattern, convert in _RESOLVERS_OF.get(text[:1], ()):
        if pattern.fullmatch(text):
            return convert(text)
    return text
