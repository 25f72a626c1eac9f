"""Find the request in a pasted `curl` command, whose response follows in the same text.

The tools of a request decide what its response means. Headers are left out, because they contain
keys.
"""

import base64
import json
import shlex
from itertools import pairwise
from typing import Any, Final

import msgspec

_DATA: Final = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
# A prompt of a shell before the command.
_PROMPTS: Final = (b"$ ", b"# ", b"% ", b"> ")
_MOST_BYTES: Final = 1_000_000


class CurlCommand(msgspec.Struct, frozen=True):
    """A request, and the lines of the text without the command.

    Fields:
        lines: the lines after the command, and those before it.
    """

    url: str
    body: str
    lines: list[bytes]

    def with_response(self, body: bytes) -> bytes:
        """Return the request and a response with this body, as JSON that an importer knows."""
        request = {"method": "POST", "url": self.url, "body": self.body}
        response = {"status": 200, "body_base64": base64.b64encode(body).decode()}
        return json.dumps({"request": request, "response": response}).encode()


def find_command(lines: list[bytes]) -> CurlCommand | None:
    """Return the first `curl` command with JSON data in `lines`; None if there is none."""
    for start, line in enumerate(lines):
        if not _without_prompt(line).startswith(b"curl "):
            continue
        text = b""
        for end, part in enumerate(lines[start:], start=start + 1):
            text += (_without_prompt(part) if end == start + 1 else part) + b"\n"
            words = _words(text)
            if words is not None and not part.rstrip().endswith(b"\\"):
                return _command(words, lines[:start] + lines[end:])
            if len(text) > _MOST_BYTES:
                break
    return None


def _without_prompt(line: bytes) -> bytes:
    line = line.lstrip()
    return next((line[len(it) :] for it in _PROMPTS if line.startswith(it)), line)


def _words(text: bytes) -> list[str] | None:
    """Return the words of a command; None if a quotation is still open."""
    try:
        return shlex.split(text.decode("utf-8", "replace").replace("\\\n", " "))
    except ValueError:
        return None


def _command(words: list[str], lines: list[bytes]) -> CurlCommand | None:
    url = next((word for word in words if word.startswith(("http://", "https://"))), "")
    for option, value in pairwise(words):
        if option in _DATA and isinstance(_json(value), dict):
            return CurlCommand(url.partition("?")[0], value, lines)
    return None


def _json(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
