"""What the tests of the browser share: the names of the pages, and how one is opened."""

from collections.abc import Callable
from typing import Any, TypeAlias

# Playwright's own types, which only those have who installed it.
Opened: TypeAlias = Any
Browser: TypeAlias = Any

# Opens a place of the report.
Visit = Callable[[str], Opened]

PAGES = (
    *("overview", "failures", "replays", "clients", "models", "changes"),
    *("quirks", "cassettes", "method"),
)
CASE = "case/openai-chat/many-fragments/naive"
INPUT = "input/openai-chat/many-fragments"
