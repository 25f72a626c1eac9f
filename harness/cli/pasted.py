"""Make a cassette from a text that a person pasted, and print what was recognized in it."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from harness.cli.options import safe_name
from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.recording.importers import read
from harness.recording.importers.event_list import parse_event
from harness.recording.importing import Imported, Labels, import_file, with_requests
from harness.recording.logged_request import LoggedRequest, request_of_text
from harness.recording.pasted import Pasted, requests_in, ways_to_read
from harness.recording.secrets.scrubber import iter_leaks
from harness.reporting.visible import marked
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Request
from harness.wording import pluralize

STDIN: Final = Path("-")
_STDIN_NAME: Final = "pasted"
_MOST_BYTES: Final = 32 * 1024 * 1024
_FORMATS: Final = (
    "Paste the lines of the response with `data:`, or its events as JSON or as Python prints them, "
    "also with the prefixes of a log, or the output of `curl -i` or `curl -v`."
)
_MOST_SHOWN: Final = 60
# Every API names a call in the event that starts it.
_NAME: Final = re.compile(rb"""["']?\bname["']?\s*[:=]""")


def pasted_cassette(path: Path, name: str, labels: Labels, request: Path | None = None) -> Cassette:
    """Return the cassette of the stream in the file at `path`; `-` is standard input.

    Args:
        path: the file with the text.
        name: the name of the cassette; "" for the name of the file.
        labels: the labels of the user.
        request: the file with the request; None to look for it in the text.

    Raises:
        UsageError: no stream is recognized in the text, or the streams are from several models, or
            the text lacks a part of an event with which the turn or a call starts.
    """
    data = (
        sys.stdin.buffer.read(_MOST_BYTES) if path == STDIN else read_file(path, most=_MOST_BYTES)
    )
    stem = _STDIN_NAME if path == STDIN else path.stem
    requests = _requests(data, request)
    pasted, found = _recognized(path, data, labels, requests)
    if len(found.cassettes) > 1:
        named = ", ".join(f"{each.provider}/{each.model}" for each in found.cassettes)
        raise UsageError(
            f"expected streams of one model and dialect, found {len(found.cassettes)}: {named}",
            where=f"--from {path}",
            hint="Paste one of them, or use `harness import`.",
        )
    (cassette,) = found.cassettes
    _print_recognized(pasted, found, cassette)
    _print_request(requests)
    _print_masked(path, pasted, requests)
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


def _requests(data: bytes, file: Path | None) -> tuple[Request, ...]:
    """Return the request in the user's file, or else those in the pasted text."""
    found: Iterable[LoggedRequest] = ()
    if file is None:
        found = (each for each in requests_in(data) if each.body)
    else:
        text = read_file(file, most=_MOST_BYTES).decode("utf-8", "surrogateescape")
        one = request_of_text(text)
        if one is None or not one.body:
            raise UsageError(
                "expected the JSON body of a request, or a command line of curl with it",
                where=f"--request {file}",
                hint="Write the body that the client sent, with `messages` and `tools`.",
            )
        found = (one,)
    return tuple(Request(each.method, each.uri, each.headers, each.body) for each in found)


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
    cut = len(_cut_events(pasted, found))
    if cut:
        number = pluralize(len(frames) + len(pasted.lost), "event")
        text = f"{cut} of {number} are not JSON: a log may cut its lines"
        click.echo(f"check it: {text}", err=True)
    for n, detected in found.detected:
        text = f"{detected.dialect} ({detected.confidence}: {detected.because})"
        click.echo(f"response {n}: {marked(text)}", err=True)
    for reason in found.skipped:
        click.echo(f"skipped: {marked(reason)}", err=True)


def _print_request(requests: Sequence[Request]) -> None:
    for each in requests:
        address = each.uri.partition("?")[0]  # the query may contain a key
        place = f" to {address}" if address else ""
        size = pluralize(len(each.body), "byte")
        click.echo(f"request: {marked(f'{each.method}{place}, body of {size}')}", err=True)
    if not requests:
        text = "none in the text, so the tools are unknown. Name a file with --request."
        click.echo(f"request: {text}", err=True)


def _print_masked(path: Path, pasted: Pasted, requests: Sequence[Request]) -> None:
    """Print which secrets were replaced: their kind and place, and nothing of their text."""
    held = read(path, pasted.data)
    if held is None:
        return
    cassette = with_requests(held[1].cassette, requests)
    for leak in iter_leaks(cassette):
        place = leak.partition("#")[2] or leak
        click.echo(f"masked: {marked(place)}", err=True)


def _cut_events(pasted: Pasted, found: Imported) -> list[tuple[int, bytes]]:
    """Return the number and the text of each event that is not JSON."""
    bodies = (each.body for cassette in found.cassettes for each in cassette.interactions)
    frames = [frame.data for body in bodies for frame in iter_frames([body])]
    cut = [(n, data) for n, data in enumerate(frames) if data and parse_event(data) is None]
    lost = enumerate(pasted.lost, 0 if pasted.lost_first else len(frames) or 1)
    return [*cut, *lost]


def _refuse_lost_start(path: Path, pasted: Pasted, found: Imported) -> None:
    """Refuse a text that lacks a part of the first event, or of an event that starts a call."""
    for number, data in _cut_events(pasted, found):
        if data.lstrip().startswith(b"{") and (number == 0 or _NAME.search(data)):
            what = "first event" if number == 0 else "event with the name of a call"
            raise UsageError(
                f"the {what} does not close, so the call or the turn would be another one: "
                f"{data[:_MOST_SHOWN].decode('utf-8', 'replace')!r}",
                where=f"--from {path}",
                hint="Paste the complete lines. If the server sent it like this, use "
                "`harness import FILE`.",
            )


def _recognized(
    path: Path, data: bytes, labels: Labels, requests: Sequence[Request]
) -> tuple[Pasted, Imported]:
    """Return the data and the import of the way to read the text that loses the fewest events.

    Of ways that lose equally many, the first one counts, because it changes least.
    """
    reasons: Counter[str] = Counter()
    best: tuple[int, Pasted, Imported] | None = None
    for pasted in ways_to_read(data):
        try:
            found = import_file(path, pasted.data, path.name, labels, requests)
        except UnreadableError as error:
            reasons[error.what] += 1
            continue
        if found.cassettes:
            cut = len(_cut_events(pasted, found))
            best = (cut, pasted, found) if best is None or cut < best[0] else best
            if not cut:
                break
        reasons.update(found.skipped)
    if best is not None:
        _refuse_lost_start(path, *best[1:])
        return best[1:]
    why = f": {reasons.most_common(1)[0][0]}" if reasons else ""
    raise UsageError(f"no stream recognized{why}", where=f"--from {path}", hint=_FORMATS)
