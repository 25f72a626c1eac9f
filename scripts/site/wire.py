"""Responses as text: the lines of each body, with the names of invisible characters."""

from collections.abc import Iterator
from typing import Final

from harness.errors import StreamError
from harness.reporting.visible import PICTURES, code_of, marked
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

_LINES: Final = 40
_LINE_CHARACTERS: Final = 400
_NOT_TEXT: Final = b"\x00"


def wire_example(cassette: Cassette) -> str:
    """Return the beginning of the responses of `cassette`, at most 40 lines."""
    lines = [line for n, each in enumerate(cassette.interactions, 1) for line in _of(n, each)]
    shown, more = lines[:_LINES], len(lines) - _LINES
    rest = [f"... {more} more lines"] if more > 0 else []
    return "\n".join((*shown, *rest))


def _of(number: int, interaction: Interaction) -> Iterator[str]:
    kinds = [value for name, value in interaction.headers if name.lower() == "content-type"]
    kind = f", {marked(kinds[0])}" if kinds else ""
    yield f"# response {number}: status {interaction.status}{kind}"
    if _NOT_TEXT in interaction.body[:64]:
        yield "# the payload of each binary message"
        yield from map(_shortened, _messages(interaction.body))
    else:
        yield from map(_shortened, map(visible, interaction.body.split(b"\n")))


def visible(line: bytes) -> str:
    """Return a line as text; an invisible character is its name in angle brackets."""
    codes = ((char, code_of(char)) for char in line.decode("utf-8", "surrogateescape"))
    return "".join(f"<{PICTURES.get(code, code)}>" if code else char for char, code in codes)


def _messages(body: bytes) -> Iterator[str]:
    try:
        for frame in iter_frames([body]):
            yield visible(frame.data)
    except StreamError as error:
        yield f"# {marked(str(error))}"


def _shortened(line: str) -> str:
    more = len(line) - _LINE_CHARACTERS
    return line if more <= 0 else f"{line[:_LINE_CHARACTERS]}... {more} more characters"
