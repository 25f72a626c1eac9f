"""One call -> the parts that spell it: one whole part, or the parts of Vertex AI's streaming.

A partial argument is one value that is no container, so arguments that hold an empty one, or
that are empty, cannot be streamed in parts and come whole, as do those that repeat a key.
"""

import json
from collections.abc import Iterator
from typing import Any

from harness.dialects.gemini.framed import Raw
from harness.dialects.gemini.partial_args import PartialArguments
from harness.dialects.gemini.paths import Step, path_of
from harness.dialects.gemini.spelling import Spelling
from harness.turns.exact_json import decode_exactly

Json = dict[str, Any]

# A string of more characters than this comes in two pieces.
_PIECE_CHARACTERS = 8


def call_parts(name: str, call_id: str, arguments: str, spelling: Spelling) -> list[Json]:
    """Return the parts of a call; arguments that are no object are written as a string."""
    call: Json = {"name": name, **({"id": call_id} if call_id else {})}
    pieces = _pieces(arguments) if spelling.arguments == "partial" else []
    if not pieces:
        return [{"functionCall": {**call, **_whole(arguments)}}]
    opening = {**call, "willContinue": True}
    more = [{"partialArgs": [piece], "willContinue": True} for piece in pieces]
    if spelling.call_end == "empty":
        return [{"functionCall": part} for part in (opening, *more, {})]
    more[-1] = {"partialArgs": more[-1]["partialArgs"]}
    return [{"functionCall": part} for part in (opening, *more)]


def _whole(arguments: str) -> Json:
    if not arguments:
        return {}
    return {"args": Raw(arguments) if _is_object(arguments) else arguments}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _pieces(arguments: str) -> list[Json]:
    """Return the partial arguments; none where they do not add up to these arguments."""
    try:
        value = decode_exactly(arguments.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    pieces = [piece for steps, leaf in _leaves(value, ()) for piece in _spelled(steps, leaf)]
    added = PartialArguments()
    for piece in pieces:
        added.add(piece)
    return pieces if added.text() == arguments and not added.fault else []


def _leaves(value: object, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], object]]:
    """Yield each value that is no container, with its steps."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, (*steps, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, (*steps, place))
    else:
        yield steps, value


def _spelled(steps: tuple[Step, ...], leaf: object) -> list[Json]:
    path = path_of(steps)
    if isinstance(leaf, str):
        head, rest = leaf[:_PIECE_CHARACTERS], leaf[_PIECE_CHARACTERS:]
        texts = [head, rest, ""] if rest else [head, ""]
        return [
            {"jsonPath": path, "stringValue": text}
            | ({"willContinue": True} if place < len(texts) - 1 else {})
            for place, text in enumerate(texts)
        ]
    if leaf is None:
        return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
    return [{"jsonPath": path, "boolValue" if isinstance(leaf, bool) else "numberValue": leaf}]
