"""`harness show`: print the reads and events of a cassette as text or JSON.

Git can use it to show differences: `git config diff.cassette.textconv "harness show"`. The output
depends on the cassette only, except for the age, and contains no control characters of the
cassette.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from harness.cli.cassette_options import dialect_option, resolve_cassette
from harness.cli.options import format_option
from harness.dialects.kit.parse_request import ChatRequest
from harness.dialects.table import read_request
from harness.errors import StreamError
from harness.files.load import read_file
from harness.judging.policies import require_name
from harness.normalizers.respond import respond_with_text_calls
from harness.recording.detect import Detected
from harness.recording.identify import age_text, detected, identify
from harness.recording.importing import reasons_to_skip
from harness.reporting.visible import marked
from harness.text_calls import TEXT_DIALECTS, TextPolicy, load_response_template
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction
from harness.wording import pluralize

_LABELS: Final = ("id", "provider", "model", "prompt", "dialect")
_LABEL_WIDTH = 20
_SYSTEM_CHARS = 100
_TEMPLATE: Final = "template:"
_LARGEST_CONFIG: Final = 64_000_000
_ENDINGS: Final[dict[str, str]] = {
    "reset": "then the connection was reset",
    "truncated": "then the server closed the connection before the end of the body",
    "aborted": "then the client closed the connection",
}


@click.command("show")
@click.argument("cassette", type=click.Path(path_type=Path))
@dialect_option("Parse the cassette as this dialect and skip detection.")
@format_option("pretty", "json")
@click.option(
    "--age/--no-age",
    default=None,
    help="Print the age of a recording. Default: only on a terminal.",
)
@click.option(
    "--text-dialect",
    metavar="NAME",
    help="Print the turn with the calls that the text contains in this text dialect, too. "
    "template:FILE reads the response template of a tokenizer config.",
)
def show_command(
    cassette: Path, dialect: str | None, style: str, *, age: bool | None, text_dialect: str | None
) -> None:
    r"""Print the reads and events of CASSETTE, a file or the id of a bundled one.

    Invisible characters are shown as ␍ ␊ ␉ for controls, <U+2028> for others, and <\xFF> for a byte
    that is not valid UTF-8.
    """
    stored = resolve_cassette(cassette)
    parsed = stored.with_each(dialect=dialect) if dialect else stored
    named = identify(parsed)
    view = _CassetteView(
        cassette=named,
        detected=tuple(detected(each, named.provider) for each in parsed.interactions),
        left_out=("",) * len(parsed.interactions) if dialect else reasons_to_skip(parsed),
        age=age_text(parsed.origin) if (sys.stdout.isatty() if age is None else age) else "",
        turns=_turns(parsed, text_dialect) if text_dialect else (),
    )
    if style == "json":
        click.echo(json.dumps(_as_json(view), indent=2))
    else:
        click.echo("\n".join(_as_text(view)))


class _CassetteView(msgspec.Struct, frozen=True):
    """A cassette, with facts about each of its interactions.

    Fields:
        detected: the dialect of each interaction, with the confidence and the reason.
        left_out: for each interaction, why a run skips it; "" if a run replays it.
        age: the age of the recording as text; "" if it is unknown or not requested.
        turns: the turn of each interaction with its text calls; () if it is not requested.
    """

    cassette: Cassette
    detected: tuple[Detected, ...]
    left_out: tuple[str, ...]
    age: str
    turns: tuple[Turn, ...] = ()


def _turns(cassette: Cassette, text_dialect: str) -> tuple[Turn, ...]:
    """Return the turn of each interaction, with the calls that its text contains.

    Raises:
        UnreadableError: there is no such text dialect, or the response template cannot be used.
    """
    template, names = None, frozenset[str]()
    if text_dialect.startswith(_TEMPLATE):
        path = Path(text_dialect.removeprefix(_TEMPLATE))
        template = load_response_template(read_file(path, most=_LARGEST_CONFIG), str(path))
    else:
        problem = "there is no text dialect"
        require_name(text_dialect, tuple(TEXT_DIALECTS), problem, "--text-dialect")
        names = frozenset((text_dialect,))
    policy = TextPolicy(names)
    return tuple(
        fold(respond_with_text_calls(each, [each.body], policy, template))
        for each in cassette.interactions
    )


def _as_text(shown: _CassetteView) -> Iterator[str]:
    cassette = shown.cassette
    for name in _LABELS:
        yield f"{name:<12}{marked(getattr(cassette, name))}"
    origin = msgspec.structs.asdict(cassette.origin)
    facts = (f"{key} {marked(value)}" for key, value in origin.items() if value)
    yield f"{'origin':<12}{', '.join(facts)}"
    if shown.age:
        yield f"{'age':<12}{shown.age}"
    if cassette.tools:
        names = " ".join(str(tool["name"]) for tool in cassette.tools)
        yield f"{'tools':<12}{marked(f'{names} (described in the prompt)')}"
    number = 0  # as in a run
    rows = zip(shown.detected, shown.left_out, cassette.interactions, strict=True)
    for at, (known, reason, interaction) in enumerate(rows):
        found = f"{known.dialect}, {known.confidence}: {known.because}"
        dialect = f"left out: {reason}" if reason else found
        yield ""
        yield from _interaction("-" if reason else str(number), dialect, interaction)
        if shown.turns:
            turn = shown.turns[at]
            yield f"  turn      {marked(json.dumps(msgspec.to_builtins(turn), ensure_ascii=False))}"
        number += not reason


def _interaction(n: str, dialect: str, interaction: Interaction) -> Iterator[str]:
    request = interaction.request
    address = marked(f"{request.method} {request.uri or '(address not recorded)'}")
    yield f"interaction {n}: {address} -> {interaction.status}"
    yield f"  dialect   {marked(dialect)}"
    yield f"  request   {_request(interaction)}"
    for name, value in interaction.headers:
        yield f"  header    {marked(name)}: {marked(value)}"
    origin = "recorded" if interaction.reads_kept else "synthetic, one for each event"
    size = (
        f"{len(interaction.body)} bytes in {pluralize(len(interaction.reads), 'read')} ({origin})"
    )
    yield f"  body      {size}{_ending(interaction)}"
    frames, problem = _frames(interaction.body)
    yield from _reads(interaction, {frame.offset: (k, frame) for k, frame in enumerate(frames)})
    if problem:
        yield f"  {marked(problem)}"


def _ending(interaction: Interaction) -> str:
    encoding = f", received as {marked(interaction.encoding)}" if interaction.encoding else ""
    return (
        f"{encoding}, {_ENDINGS[interaction.ended]}" if interaction.ended in _ENDINGS else encoding
    )


def _request(interaction: Interaction) -> str:
    request = read_request(interaction.dialect, interaction.request)
    if not request.tools_known:
        return f"not recorded as JSON ({len(interaction.request.body)} bytes)"
    return marked(", ".join(_request_facts(request)))


def _request_facts(request: ChatRequest) -> Iterator[str]:
    yield f"model {request.model or '(none)'}"
    yield "stream" if request.stream else "no stream"
    names = " ".join(tool.name for tool in request.tools)
    yield pluralize(len(request.tools), "tool") + (f": {names}" if names else "")
    if request.system:
        more = "..." if len(request.system) > _SYSTEM_CHARS else ""
        yield f"system {request.system[:_SYSTEM_CHARS]}{more}"


def _frames(body: bytes) -> tuple[list[Frame], str]:
    """Return the complete frames at the start of `body`, and why the next one is unreadable.

    The reason is "" if the frames go to the end of the body.
    """
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
    """Yield each line of a read with its offset; the first line of an event has its number."""
    for line in piece.splitlines(keepends=True):
        label = _label(*events[start]) if start in events else ""
        yield f"    {label:<{_LABEL_WIDTH}}{start:>8}  {marked(line)}"
        start += len(line)


def _label(n: int, frame: Frame) -> str:
    name = f" {marked(frame.event)}" if frame.event else ""
    cut = "" if frame.complete else " incomplete"
    return f"event {n}{name}{cut}"


def _as_json(shown: _CassetteView) -> dict[str, Any]:
    cassette = shown.cassette
    rows = zip(shown.detected, shown.left_out, cassette.interactions, strict=True)
    return {
        **{name: getattr(cassette, name) for name in _LABELS},
        "origin": msgspec.structs.asdict(cassette.origin),
        "tools": cassette.tools,
        **({"age": shown.age} if shown.age else {}),
        "interactions": [
            _interaction_as_json(interaction)
            | {"dialect": msgspec.structs.asdict(known), "left_out": reason}
            | ({"turn": msgspec.to_builtins(shown.turns[at])} if shown.turns else {})
            for at, (known, reason, interaction) in enumerate(rows)
        ],
    }


def _interaction_as_json(interaction: Interaction) -> dict[str, Any]:
    request = interaction.request
    parsed = read_request(interaction.dialect, request)
    frames, problem = _frames(interaction.body)
    return {
        "request": {
            "method": request.method,
            "uri": request.uri,
            "model": parsed.model,
            "stream": parsed.stream,
            "tools": [tool.name for tool in parsed.tools] if parsed.tools_known else None,
            "system": parsed.system,
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
