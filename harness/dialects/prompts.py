"""System text, tools and protocol -> the id of a prompt on the prompt axis of the rankings.

Two requests have the same id exactly when they ask in the same way: the id is a short
readable name and a hash. It is safe as a part of a path.
"""

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from harness.turns.turn import Tool

UNKNOWN: Final = "unknown"
NATIVE_TOOLS: Final = "native-tools"

_MOST_CHARS = 60
_HASH_CHARS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")


def prompt_id(protocol: str, system: str, tools: Iterable[Tool]) -> str:
    """Return an id such as `native-tools-get_weather-1a2b3c4d` or `no-tools-1a2b3c4d`.

    Args:
        protocol: how calls are asked for, such as `native-tools`; "" where the request is
            not known, which gives `unknown`.
        system: the text of the system messages.
        tools: as declared, in order.
    """
    declared = tuple(tools)
    if not protocol:
        return UNKNOWN
    spelled = [[tool.name, tool.description, tool.parameters] for tool in declared]
    try:
        text = json.dumps([protocol, system, spelled], sort_keys=True)
    except RecursionError:  # a schema nested deeper than any reader goes
        return UNKNOWN
    name = f"{protocol}-{declared[0].name}" if declared else "no-tools"
    tail = "-" + sha256(text.encode("ascii")).hexdigest()[:_HASH_CHARS]
    safe = _UNSAFE.sub("-", name).strip("-") or "tools"
    return safe[: _MOST_CHARS - len(tail)].rstrip("-") + tail
