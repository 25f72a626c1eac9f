"""`harness show`: a cassette as a person reads it, read by read and event by event.

Also a driver for git: `git config diff.cassette.textconv "harness show"`. The same cassette
always gives the same text, but for its age, which only a terminal gets unless asked; and
nothing in it can move a terminal's cursor.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from harness.cli.options import dialect_option, resolve_cassette
from harness.dialects.kit.parse_request import ChatRequest
from harness.dialects.table import read_request
from harness.errors import StreamError
from harness.recording.detect import Detected
from harness.recording.identify import age_text, detected, identify
from harness.recording.importing import reasons_to_skip
from harness.reporting.visible import marked
from harness.wire.cassette import Cassette
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction

_LABEL_WIDTH = 20
_SYSTEM_CHARS = 100
_ENDINGS: Final[dict[str, str]] = {
    "reset": "then the connection was reset",
    "truncated": "then the server closed in the middle of the body",
    "aborted": "then the client left",
}


@click.command("show")
@click.argument("cassette", type=click.Path(path_type=Path))
@dialect_option("Read it")
@click.option(
    "--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", show_default=True
)
@click.option(
    "--age/--no-age", default=None, help="Say how old a recording is; by default on a terminal."
)
def show_command(cassette: Path, dialect: str | None, form: str, *, age: bool | None) -> None:
    r"""Print CASSETTE, a file or the id of one that ships, read by read and event by event.

    Invisible characters are made visible: ␍ ␊ ␉ for controls, <U+2028> for others, <\xFF> for
    a byte that is no UTF-8.
    """
    stored = resolve_cassette(cassette)
    said = stored.in_dialect(dialect) if dialect else stored
    left_out = ("",) * len(said.interactions) if dialect else reasons_to_skip(said)
    aged = sys.stdout.isatty() if age is None else age
    old = age_text(said.origin) if aged else ""
    shown = _CassetteView(identify(said), _detected(said), left_out, old)
    if form == "json":
        click.echo(json.dumps(_as_json(shown), indent=2))
    else:
        click.echo("\n".join(_as_text(shown)))


class _CassetteView(msgspec.Struct, frozen=True):
    """A cassette, and what is known of each of its interactions.

    Fields:
        detected: its dialect, how sure that is, and why.
        left_out: why it is no answer that the suite would judge, "" where it is one.
        age: of the recording, in words; "" where it is not known or not asked for.
    """

    cassette: Cassette
    detected: tuple[Detected, ...]
    left_out: tuple[str, ...]
    age: str


def _detected(cassette: Cassette) -> tuple[Detected, ...]:
    by = identify(cassette).provider
    return tuple(detected(interaction, by) for interaction in cassette.interactions)


def _as_text(shown: _CassetteView) -> Iterator[str]:
    cassette = shown.cassette
    for name in ("id", "provider", "model", "prompt", "dialect"):
        yield f"{name:<12}{marked(getattr(cassette, name))}"
    origin = msgspec.structs.asdict(cassette.origin)
    said = (f"{key} {marked(value)}" for key, value in origin.items() if value)
    yield f"{'origin':<12}{', '.join(said)}"
    if shown.age:
        yield f"{'age':<12}{shown.age}"
    if cassette.tools:
        names = " ".join(str(tool["name"]) for tool in cassette.tools)
        yield f"{'tools':<12}{marked(f'{names} (taught in words)')}"
    kept = 0  # as a run numbers them
    for known, reason, interaction in zip(
        shown.detected, shown.left_out, cassette.interactions, strict=True
    ):
        yield ""
        about = f"left out: {reason}" if reason else _detection_text(known)
        yield from _interaction("-" if reason else str(kept), about, interaction)
        kept += not reason


def _detection_text(known: Detected) -> str:
    return f"{known.dialect}, {known.confidence}: {known.because}"


def _interaction(n: str, about: str, interaction: Interaction) -> Iterator[str]:
    request = interaction.request
    address = marked(f"{request.method} {request.uri or '(no address kept)'}")
    yield f"interaction {n}: {address} -> {interaction.status}"
    yield f"  dialect   {marked(about)}"
    yield f"  request   {_request(interaction)}"
    for name, value in interaction.headers:
        yield f"  header    {marked(name)}: {marked(value)}"
    kept = "as the network cut them" if interaction.reads_kept else "synthetic, one for each event"
    size = f"{len(interaction.body)} bytes in {len(interaction.reads)} reads ({kept})"
    yield f"  body      {size}{_ending(interaction)}"
    frames, problem = _frames(interaction.body)
    yield from _reads(interaction, {frame.offset: (k, frame) for k, frame in enumerate(frames)})
    if problem:
        yield f"  {marked(problem)}"


def _ending(interaction: Interaction) -> str:
    encoding = f", came as {marked(interaction.encoding)}" if interaction.encoding else ""
    return (
        f"{encoding}, {_ENDINGS[interaction.ended]}" if interaction.ended in _ENDINGS else encoding
    )


def _request(interaction: Interaction) -> str:
    request = read_request(interaction.dialect, interaction.request)
    if not request.tools_known:
        return f"not kept as JSON ({len(interaction.request.body)} bytes)"
    return marked(", ".join(_request_facts(request)))


def _request_facts(request: ChatRequest) -> Iterator[str]:
    yield f"model {request.model or '(none)'}"
    yield "stream" if request.stream else "no stream"
    names = " ".join(tool.name for tool in request.tools)
    yield f"{len(request.tools)} tools" + (f": {names}" if names else "")
    if request.system:
        more = "..." if len(request.system) > _SYSTEM_CHARS else ""
        yield f"system {request.system[:_SYSTEM_CHARS]}{more}"


def _frames(body: bytes) -> tuple[list[Frame], str]:
    """Return the events of `body`, and why they end early where they do."""
    frames: list[Frame] = []
    try:
        frames.extend(frames_of([body]))
    except StreamError as error:
        return frames, str(error)
    return frames, ""


def _reads(interaction: Interaction, events: dict[int, tuple[int, Frame]]) -> Iterator[str]:
    start = 0
    for n, read in enumerate(interaction.reads):
        yield f"  read {n}: {read.size} bytes at {start}, after {read.delay_ms} ms"
        piece = interaction.body[start : start + read.size]
        yield from _lines(piece, start, events)
        start += read.size


def _lines(piece: bytes, start: int, events: dict[int, tuple[int, Frame]]) -> Iterator[str]:
    """Yield each line of a read with its offset; the first line of an event bears its number."""
    for line in piece.splitlines(keepends=True):
        label = _label(*events[start]) if start in events else ""
        yield f"    {label:<{_LABEL_WIDTH}}{start:>8}  {marked(line)}"
        start += len(line)


def _label(n: int, frame: Frame) -> str:
    name = f" {marked(frame.event)}" if frame.event else ""
    cut = "" if frame.complete else " cut short"
    return f"event {n}{name}{cut}"


def _as_json(shown: _CassetteView) -> dict[str, Any]:
    cassette = shown.cassette
    names = ("id", "provider", "model", "prompt", "dialect")
    return {
        **{name: getattr(cassette, name) for name in names},
        "origin": msgspec.structs.asdict(cassette.origin),
        "tools": cassette.tools,
        **({"age": shown.age} if shown.age else {}),
        "interactions": [
            {
                **_interaction_as_json(interaction),
                "dialect": msgspec.structs.asdict(known),
                "left_out": reason,
            }
            for known, reason, interaction in zip(
                shown.detected, shown.left_out, cassette.interactions, strict=True
            )
        ],
    }


def _interaction_as_json(interaction: Interaction) -> dict[str, Any]:
    request = interaction.request
    asked = read_request(interaction.dialect, request)
    frames, problem = _frames(interaction.body)
    return {
        "request": {
            "method": request.method,
            "uri": request.uri,
            "model": asked.model,
            "stream": asked.stream,
            "tools": [tool.name for tool in asked.tools] if asked.tools_known else None,
            "system": asked.system,
        },
        "status": interaction.status,
        "headers": [list(header) for header in interaction.headers],
        "bytes": len(interaction.body),
        "reads_kept": interaction.reads_kept,
        "ended": interaction.ended,
        "encoding": interaction.encoding,
        "reads": [{"bytes": read.size, "delay_ms": read.delay_ms} for read in interaction.reads],
        "events": [
            {
                "offset": frame.offset,
                "event": frame.event,
                "data": frame.data.decode("utf-8", "backslashreplace"),
                "complete": frame.complete,
            }
            for frame in frames
        ],
        "problem": problem,
    }
