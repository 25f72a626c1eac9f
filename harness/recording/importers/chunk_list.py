"""One JSON event a line, without the framing of the wire: a response, or several in a row.

The framing is built anew, one `data:` line and a blank line for each event; `[DONE]` appears
only where the source has it. A new response begins at a new chunk id after a finish.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from harness.recording.importers.container import found, joined
from harness.wire.cassette import Cassette
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import encode

_DONE: Final = b"[DONE]"
_KEPT: Final = "events; framing rebuilt; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> Cassette | None:
    """Return the responses that the lines hold; None where a line is no event."""
    if data.lstrip()[:1] not in (b"{", b"d") or b"\ndata:" in data.replace(b"\n\ndata:", b""):
        pass
    lines = [line.strip().removeprefix(b"data:").strip() for line in data.split(b"\n")]
    events = _events([line for line in lines if line])
    if not events:
        return None
    kept = _KEPT if any(line == _DONE for line, _ in events) else f"{_KEPT}; no [DONE]"
    return found(path, [joined(body) for body in _bodies(events)], kept)


def _events(lines: list[bytes]) -> list[tuple[bytes, dict[str, Any]]]:
    return []


def _bodies(events: list[tuple[bytes, dict[str, Any]]]) -> Iterator[bytes]:
    yield b""
