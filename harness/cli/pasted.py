"""Make a cassette from a text that a person pasted, and print what was recognized in it."""

import sys
from collections import Counter
from pathlib import Path
from typing import Final

import click
import msgspec

from harness.cli.options import safe_name
from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importing import Imported, Labels, import_file
from harness.recording.pasted import Pasted, ways_to_read
from harness.reporting.visible import marked
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wording import pluralize

STDIN: Final = Path("-")
_STDIN_NAME: Final = "pasted"
_MOST_BYTES: Final = 32 * 1024 * 1024
_FORMATS: Final = (
    "Paste the lines of the response with `data:`, or its JSON events, also with the prefixes of a "
    "log, or the output of `curl -i` or `curl -v`."
)


def pasted_cassette(path: Path, name: str, labels: Labels) -> Cassette:
    """Return the cassette of the stream in the file at `path`; `-` is standard input.

    Args:
        path: the file with the text.
        name: the name of the cassette; "" for the name of the file.
        labels: the labels of the user.

    Raises:
        UsageError: no stream is recognized in the text, or the streams are from several models.
    """
    data = (
        sys.stdin.buffer.read(_MOST_BYTES) if path == STDIN else read_file(path, most=_MOST_BYTES)
    )
    stem = _STDIN_NAME if path == STDIN else path.stem
    pasted, found = _recognized(path, data, labels)
    if len(found.cassettes) > 1:
        named = ", ".join(f"{each.provider}/{each.model}" for each in found.cassettes)
        raise UsageError(
            f"expected streams of one model and dialect, found {len(found.cassettes)}: {named}",
            where=f"--from {path}",
            hint="Paste one of them, or use `harness import`.",
        )
    (cassette,) = found.cassettes
    _print_recognized(pasted, found, cassette)
    stored = safe_name(name or stem)
    return msgspec.structs.replace(
        cassette,
        id=f"{safe_name(cassette.provider)}/{safe_name(cassette.model)}/{stored}",
        origin=msgspec.structs.replace(
            cassette.origin,
            by="harness new",
            kept="; ".join(filter(None, (cassette.origin.kept, pasted.kept))),
        ),
    )


def _print_recognized(pasted: Pasted, found: Imported, cassette: Cassette) -> None:
    """Print the recognized parts, which a person should check before the expected result."""
    frames = [frame for each in cassette.interactions for frame in iter_frames([each.body])]
    facts = [
        pluralize(len(cassette.interactions), "response"),
        pluralize(len(frames), "event"),
        f"container {found.container}",
        *filter(None, [pasted.kept]),
    ]
    if pasted.dropped:
        facts.append(f"{pluralize(pasted.dropped, 'line')} left out")
    click.echo(f"recognized: {marked(', '.join(facts))}", err=True)
    cut = sum(bool(frame.data) and parse_event(frame.data) is None for frame in frames)
    if cut:
        text = f"{cut} of {pluralize(len(frames), 'event')} are not JSON: a log may cut its lines"
        click.echo(f"check it: {text}", err=True)
    for n, detected in found.detected:
        text = f"{detected.dialect} ({detected.confidence}: {detected.because})"
        click.echo(f"response {n}: {marked(text)}", err=True)
    for reason in found.skipped:
        click.echo(f"skipped: {marked(reason)}", err=True)


def _recognized(path: Path, data: bytes, labels: Labels) -> tuple[Pasted, Imported]:
    """Return the data of the first way to read the text that contains a stream, and its import."""
    reasons: Counter[str] = Counter()
    for pasted in ways_to_read(data):
        try:
            found = import_file(path, pasted.data, path.name, labels)
        except UnreadableError as error:
            reasons[error.what] += 1
            continue
        if found.cassettes:
            return pasted, found
        reasons.update(found.skipped)
    why = f": {reasons.most_common(1)[0][0]}" if reasons else ""
    raise UsageError(f"no stream recognized{why}", where=f"--from {path}", hint=_FORMATS)
