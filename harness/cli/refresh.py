"""Send the requests of a cassette again, print the differences, and replace the cassette."""

import difflib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import click
import msgspec

from harness.cli import EXIT_GATE_FAILED
from harness.cli.cassette_options import resolve_cassette
from harness.errors import UsageError
from harness.recording.detect import token_exchange_reason
from harness.recording.identify import identify
from harness.recording.importing import only_answers
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import RecordingLabels, RecordMode
from harness.recording.refresh import differences
from harness.recording.secrets.credentials import scrub_address
from harness.recording.upstream import check_address, upstream_response
from harness.reporting.visible import marked
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.cassette_text import format_cassette
from harness.wire.interaction import Headers, Request
from harness.wording import pluralize


def with_recovered(recorder: Recorder) -> Recorder:
    """Print which exchanges `recorder` recovered from a killed recorder, and return `recorder`."""
    if recorder.recovered:
        text = pluralize(recorder.recovered, "interaction")
        click.echo(marked(f"{recorder.path}: {text} of a killed recording added"), err=True)
    if recorder.damaged:
        click.echo(marked(f"{recorder.path}: {recorder.damaged}"), err=True)
    return recorder


def refresh(path: Path, upstream: str, headers: Headers, *, write: bool, allow_in_ci: bool) -> int:
    """Send the requests of a cassette again, print the differences, and replace it if `write`.

    Args:
        path: a cassette.
        upstream: scheme and host to use instead of the recorded ones; "" for the recorded ones.
        headers: headers to send in addition to the recorded ones, such as credentials.
        write: replace the cassette.
        allow_in_ci: connect even if CI is set.

    Returns:
        The exit code: 1 if the meaning of a response changed.
    """
    old = identify(only_answers(resolve_cassette(path)))
    if not path.is_file():
        raise UsageError(
            "expected the file of a cassette", where=str(path), hint="Pass a path, not an id."
        )
    if any(map(token_exchange_reason, old.interactions)):
        raise UsageError(
            "expected responses of a model, found only exchanges of OAuth tokens",
            where=str(path),
            hint="Record the requests to the model: exchanges of tokens are never recorded.",
        )
    new = _record_again(old, path, upstream, headers, write=write, allow_in_ci=allow_in_ci)
    changes = [
        f"interaction {place}: {line}"
        for place, (was, now) in enumerate(zip(old.interactions, new.interactions, strict=True))
        for line in differences(was, now)
    ]
    for line in _difference_lines(old, new, changes):
        click.echo(marked(line))
    if write:
        save_cassette(new, path)
        _refreshed_path(path).unlink(missing_ok=True)
    click.echo("written" if write else "not written: add --write to replace the cassette", err=True)
    return EXIT_GATE_FAILED if changes else 0


def _record_again(  # noqa: PLR0913 - as `refresh`
    old: Cassette, path: Path, upstream: str, headers: Headers, *, write: bool, allow_in_ci: bool
) -> Cassette:
    """Return a new recording of the same requests.

    With `write`, it continues a recording that was killed.
    """
    labels = RecordingLabels(
        old.provider, old.model, old.prompt, old.dialect, tools=old.tools, due=old.due
    )
    file = _refreshed_path(path)
    to_file = partial(Recorder, file, labels=labels, allow_in_ci=allow_in_ci)
    if not write:
        recorder = to_file(mode=RecordMode.ALL, journal=False)
        for each in old.interactions:
            _send(recorder, _refreshed_request(each.request, upstream, headers))
        return msgspec.structs.replace(recorder.cassette(), id=old.id)
    with_recovered(to_file(mode=RecordMode.NEW_EPISODES))
    _remove_aborted(file)
    with to_file(mode=RecordMode.NEW_EPISODES) as recorder:
        for each in old.interactions:
            request = _refreshed_request(each.request, upstream, headers)
            if recorder.play(request) is None:
                _send(recorder, request)
        return msgspec.structs.replace(recorder.cassette(), id=old.id)


def _remove_aborted(file: Path) -> None:
    """Remove the interactions that were cut off when an earlier command ended."""
    if not file.exists():
        return
    found = load_cassette(file)
    kept = tuple(each for each in found.interactions if each.ended != "aborted")
    if kept:
        save_cassette(msgspec.structs.replace(found, interactions=kept), file)
    else:
        file.unlink()


def _refreshed_path(path: Path) -> Path:
    """Return the path of the file that contains the new interactions until all are recorded."""
    return path.with_name(f"{path.name}.refreshed")


def _send(recorder: Recorder, request: Request) -> None:
    click.echo(f"connecting to {marked(scrub_address(request.uri))}", err=True)
    with upstream_response(recorder, request) as answer:
        for _ in answer.reads():
            pass


def _refreshed_request(recorded: Request, upstream: str, headers: Headers) -> Request:
    """Return the request to send, which accepts no encoding that the recorder cannot store."""
    uri = _at_upstream(recorded.uri, upstream) if upstream else recorded.uri
    check_address(uri)
    replaced = {name.lower() for name, _ in headers} | {"accept-encoding", "content-length", "host"}
    kept = tuple(pair for pair in recorded.headers if pair[0].lower() not in replaced)
    sent = (*kept, ("accept-encoding", "identity"), *headers)
    return msgspec.structs.replace(recorded, uri=uri, headers=sent)


def _at_upstream(uri: str, upstream: str) -> str:
    check_address(upstream)
    to = urlsplit(upstream)
    return urlunsplit(urlsplit(uri)._replace(scheme=to.scheme, netloc=to.netloc))


def _difference_lines(old: Cassette, new: Cassette, changes: list[str]) -> Iterator[str]:
    count = pluralize(len(changes), "difference") if changes else "no difference"
    yield f"in meaning: {count}"
    yield from (f"  {line}" for line in changes)
    yield "in text:"
    was, now = (format_cassette(each).splitlines() for each in (old, new))
    lines = difflib.unified_diff(was, now, "recorded", "now", n=1, lineterm="")
    yield from (f"  {line}" for line in lines)
