"""Any text -> a part of a path that is safe on every file system."""

import re
from typing import Final

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_CHARS: Final = 120


def safe(name: str) -> str:
    """Return `name` as one part of a path, never empty and never hidden."""
    return _UNSAFE.sub("-", name)[:_MOST_CHARS].strip(".-") or "unnamed"
