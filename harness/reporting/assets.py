"""The page's own style and script: one text each, and the policy that allows only them.

The parts lie in `templates/style` and `templates/script` and are joined in the order of the
tables below; the script's parts share one scope.
"""

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Final

_PACKAGE: Final = "harness.reporting"
_STYLE: Final = (
    *("colours", "text", "layout", "tables", "boards", "squares", "charts", "case", "narrow"),
    "print",
)
_SCRIPT: Final = (
    *("state", "theme", "tables", "copy", "rows", "query", "replays", "sheet", "steps"),
    *("pages", "keys", "live"),
)


@cache
def style() -> str:
    """Return the style sheet."""
    return "".join(_text("style", f"{name}.css") for name in _STYLE)


@cache
def script() -> str:
    """Return the script: its parts in one function of their own."""
    parts = "".join(_text("script", f"{name}.js") for name in _SCRIPT)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def policy(*, live: bool) -> str:
    """Return the content policy: nothing but the one style and the one script.

    Args:
        live: the page asks its own server whether there is more.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style())}'",
            f"script-src '{_digest(script())}'",
            "img-src data:",
            f"connect-src {_SELF if live else _NOBODY}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


_SELF: Final = "'self'"
_NOBODY: Final = "'none'"


def _text(folder: str, name: str) -> str:
    place = resources.files(_PACKAGE) / "templates" / folder / name
    return place.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
