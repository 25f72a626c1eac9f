"""`harness record --refresh`: the requests of a cassette asked again, and what changed.

Nothing is replaced without --write. Exit code 1 where the meaning differs.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import click
import msgspec

from harness.cli.cassette_argument import load_cassette
from harness.cli.exits import EXIT_GATE_FAILED
from harness.errors import UsageError
from harness.recording.identify import identify
from harness.recording.transport import About, Recorder
from harness.recording.transport.modes import RecordMode
from harness.recording.upstream import asking, check_address
from harness.reporting.visible import marked
from harness.runs.refresh import differences
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import dump, save
from harness.wire.interaction import Headers, Request


def refresh(path: Path, upstream: str, headers: Headers, *, write: bool, allow_in_ci: bool) -> int:
    """Ask again what `path` was asked, print what differs, and replace it where told.

    Args:
        path: a cassette.
        upstream: scheme and host to ask instead of the recorded ones; "" for those.
        headers: sent beside the recorded ones, such as credentials.
        write: replace the cassette.
        allow_in_ci: ask even where CI is set.
    """
    old = identify(load_cassette(path))
    if not path.is_file():
        raise UsageError("expected the file of a cassette", where=str(path))
    new = _again(old, path, upstream, headers, allow_in_ci=allow_in_ci)
    meant = [
        f"interaction {place}: {line}"
        for place, (was, now) in enumerate(zip(old.interactions, new.interactions, strict=True))
        for line in differences(was, now)
    ]
    for line in _told(old, new, meant):
        click.echo(marked(line))
    if write:
        save(new, path)
    click.echo("written" if write else "not written: --write replaces the cassette", err=True)
    return EXIT_GATE_FAILED if meant else 0


def _again(
    old: Cassette, path: Path, upstream: str, headers: Headers, *, allow_in_ci: bool
) -> Cassette:
    """Return the cassette of the same requests, asked now."""
    about = About(old.provider, old.model, old.prompt, old.dialect, tools=old.tools, due=old.due)
    recorder = Recorder(
        path.with_name(f"{path.stem}.refreshed{path.suffix}"),
        mode=RecordMode.ALL,
        about=about,
        allow_in_ci=allow_in_ci,
    )
    for each in old.interactions:
        request = _request(each.request, upstream, headers)
        click.echo(f"asking {marked(request.uri)}", err=True)
        with asking(recorder, request) as answer:
            for _ in answer.reads():
                pass
    return msgspec.structs.replace(recorder.cassette(), id=old.id)


def _request(recorded: Request, upstream: str, headers: Headers) -> Request:
    """Return what is sent: no encoding that the recording would have to take off."""
    uri = _moved(recorded.uri, upstream) if upstream else recorded.uri
    check_address(uri)
    given = {name.lower() for name, _ in headers} | {"accept-encoding", "content-length", "host"}
    kept = tuple(pair for pair in recorded.headers if pair[0].lower() not in given)
    sent = (*kept, ("accept-encoding", "identity"), *headers)
    return msgspec.structs.replace(recorded, uri=uri, headers=sent)


def _moved(uri: str, upstream: str) -> str:
    check_address(upstream)
    to = urlsplit(upstream)
    return urlunsplit(urlsplit(uri)._replace(scheme=to.scheme, netloc=to.netloc))


def _told(old: Cassette, new: Cassette, meant: list[str]) -> Iterator[str]:
    yield f"in meaning: {len(meant)} differences" if meant else "in meaning: no difference"
    yield from (f"  {line}" for line in meant)
    yield "in text:"
    lines = difflib.unified_diff(
        dump(old).splitlines(), dump(new).splitlines(), "recorded", "now", n=1, lineterm=""
    )
    yield from (f"  {line}" for line in lines)
