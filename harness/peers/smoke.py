"""Write the smoke cases of a peer: a text and a call, or for an agent a conversation with a call.

They prove that an adapter uses its library correctly before the library is judged. A library that
fails one of them is not judged, because its other failures would show nothing about it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harness import shipped
from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    Usage,
    UsageDelta,
    call_deltas,
)
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Request

_MODEL: Final = "smoke"
_TOOL: Final = Tool(
    "get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
# As each server counts; a library may count for itself where a stream has zeros.
_USAGE: Final = UsageDelta(Usage(input_tokens=52, output_tokens=14))
_TEXT: Final[tuple[Delta, ...]] = (
    TextDelta("Hello, "),
    TextDelta("world."),
    _USAGE,
    Finish(FinishReason.STOP),
)
_CALL: Final[tuple[Delta, ...]] = (
    *call_deltas(0, "call_abc12", _TOOL.name, '{"city": ', '"Oslo"}'),
    _USAGE,
    Finish(FinishReason.TOOL_CALLS),
)

# Bundled scenarios without any difficulty, one for each dialect of agents of libraries.
_CONVERSATIONS: Final = {
    "openai-chat": "loops/content-null-beside-call",
    "anthropic": "loops/anthropic-two-at-once",
}


def smoke_conversations(dialects: Iterable[str]) -> tuple[Path, ...]:
    """Return the bundled conversation scenarios in these dialects, one for each that has one."""
    folder = shipped.bundled_folder("scenarios").absolute()
    found = (_CONVERSATIONS[each] for each in dialects if each in _CONVERSATIONS)
    return tuple(folder / f"{scenario}.yaml" for scenario in found)


def write_smoke_cases(dialects: Iterable[str], folder: Path) -> tuple[Path, ...]:
    """Write a cassette for each case of each dialect to `folder`, and return their paths."""
    paths = []
    for name in dialects:
        dialect = DIALECTS[name]
        cases = {"text": _TEXT} if dialect.arguments == "none" else {"text": _TEXT, "call": _CALL}
        for case, deltas in cases.items():
            path = folder / f"{name}-{case}.yaml"
            interaction = dialect.interaction(deltas, request=_request(dialect))
            save_cassette(Cassette(path.stem, (interaction,), Origin("emulated")), path)
            paths.append(path)
    return tuple(paths)


def _request(dialect: Dialect) -> Request:
    tools = () if dialect.arguments == "none" else (_TOOL,)
    return dialect.request_forms[""].first_request(_MODEL, "What is the weather in Oslo?", tools)
