"""`harness import`: recordings of other projects -> cassettes in a folder.

Every file is accounted for: it gave cassettes, or conversations without bytes to replay, its
streams were skipped for a reason, or it could not be used. The same files give the same names,
and none outside the folder.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import click
import msgspec

from harness.cli import EXIT_NOTHING_SELECTED, EXIT_USAGE
from harness.cli.options import dialect_option, safe_name
from harness.conversation.history.jsonl import encode
from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.providers import UNKNOWN
from harness.recording.detect import Confidence
from harness.recording.importers.container import damage_text
from harness.recording.importing import Imported, Labels, import_file
from harness.reporting.visible import marked
from harness.wire.cassette_file import save_cassette

_NOT_A_RECORDING = "no recording of a known kind"

_SUFFIX = re.compile(
    r"\.(?:ya?ml|jsonl?|ndjson|txt|sse|httprr|chunks|stream|har|flows?|trace|responses)$",
    re.IGNORECASE,
)
_MOST_DOUBTS = 20


class _Doubt(msgspec.Struct, frozen=True):
    """A stream whose dialect a person should look at."""

    stream: str
    dialect: str
    confidence: str
    because: str


class _Tally(msgspec.Struct):
    """What became of all files, while the import goes on."""

    cassettes: int = 0
    conversations: int = 0
    readable: int = 0
    streams: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    dialects: dict[str, Counter[str]] = msgspec.field(default_factory=dict)
    doubtful: list[_Doubt] = msgspec.field(default_factory=list)
    unusable: dict[str, str] = msgspec.field(default_factory=dict)


@click.command("import")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE_OR_DIR...",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("imported"),
    show_default=True,
    help="The folder for PROVIDER/MODEL/NAME.yaml.",
)
@click.option("--provider", default="", help="Instead of the one that the recording names.")
@click.option("--model", default="", help="Instead of the one that the recording names.")
@click.option("--prompt", default="", help="Instead of an id made from the request.")
@dialect_option("Parse every response as this dialect and skip detection.")
@click.option("--licence", default="", help="SPDX id of the recordings' licence.")
@click.option(
    "--format", "form", type=click.Choice(["pretty", "json"]), default="pretty", show_default=True
)
def import_command(
    paths: tuple[Path, ...], output: Path, form: str, dialect: str | None, **labels: str
) -> None:
    """Turn recordings into cassettes: vcrpy, Ruby's VCR, HAR, mitmproxy, curl, raw bodies, ...

    Folders are searched. Headers that hold credentials are left out, and those in addresses;
    bodies are taken as they are, so look at them before you publish them.
    """
    tally = _Tally()
    names = _Names(output)
    files = list(_files(paths, output))
    hidden = not sys.stderr.isatty()
    with click.progressbar(files, label="import", file=sys.stderr, hidden=hidden) as progress:
        for path, source in progress:
            _import_file(path, source, Labels(**labels, dialect=dialect or ""), names, tally)
    click.echo(_as_json(tally) if form == "json" else "\n".join(_as_text(tally, output)))
    if not (tally.cassettes or tally.conversations):
        raise SystemExit(EXIT_NOTHING_SELECTED if tally.readable else EXIT_USAGE)


class _Names:
    """Hands out files in the output folder, never the same twice."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._taken: set[str] = set()

    def path(self, provider: str, model: str, name: str, suffix: str) -> Path:
        """Return the path for what a file named `name` gave, numbered where it is taken."""
        base = f"{safe_name(provider)}/{safe_name(model)}/{safe_name(_stem(name))}"
        free, number = base, 1
        while free.lower() in self._taken:  # some file systems do not tell case apart
            number += 1
            free = f"{base}-{number}"
        self._taken.add(free.lower())
        path = self._output / f"{free}{suffix}"
        if not path.parent.resolve().is_relative_to(self._output.resolve()):
            raise UsageError(
                f"the folder leads out of {self._output}: {path.parent.resolve()}",
                where=str(path.parent),
                hint="Remove the symbolic link, or choose another folder with -o.",
            )
        return path


def _stem(name: str) -> str:
    while (shorter := _SUFFIX.sub("", name)) != name and shorter:
        name = shorter
    return name


def _files(paths: Iterable[Path], output: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with what its origin calls it; hidden ones and our own output not."""
    own = output.resolve()
    for given in paths:
        if not given.is_dir():
            yield given, given.name
        elif given.resolve() != own:
            for path in _walk(given, own):
                yield path, path.relative_to(given).as_posix()


def _walk(top: Path, own: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(top):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and (here / name).resolve() != own
        )
        for name in sorted(names):
            if not name.startswith(".") and (here / name).is_file():
                yield here / name


def _import_file(path: Path, source: str, labels: Labels, names: _Names, tally: _Tally) -> None:
    try:
        data = read_file(path, problem="expected a file that can be read")
        imported = import_file(path, data, source, labels)
    except UnreadableError as error:
        tally.unusable[source] = damage_text(error, path)
        return
    if not imported.container:
        tally.unusable[source] = _NOT_A_RECORDING
        return
    _write(imported, names)
    _write_conversations(imported, path.name, names)
    tally.readable += 1
    tally.cassettes += len(imported.cassettes)
    tally.conversations += len(imported.conversations)
    tally.streams[imported.container] += sum(len(c.interactions) for c in imported.cassettes)
    tally.skipped.update(imported.skipped)
    for n, detected in imported.detected:
        tally.dialects.setdefault(detected.dialect, Counter())[detected.confidence] += 1
        if detected.doubtful:
            tally.doubtful.append(
                _Doubt(f"{source}#{n}", detected.dialect, detected.confidence, detected.because)
            )


def _write(imported: Imported, names: _Names) -> None:
    for cassette in imported.cassettes:
        path = names.path(cassette.provider, cassette.model, cassette.id, ".yaml")
        try:
            save_cassette(cassette, path)
        except OSError as error:
            raise _write_error("cassette", path, error) from None


def _write_conversations(imported: Imported, name: str, names: _Names) -> None:
    for logged in imported.conversations:
        about = logged.about
        path = names.path(about.provider or UNKNOWN, about.model or UNKNOWN, name, ".jsonl")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode(logged))
        except OSError as error:
            raise _write_error("conversation", path, error) from None


def _write_error(what: str, path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write the {what}: {error.strerror}",
        where=str(path),
        hint="Choose another folder with -o.",
    )


def _as_text(tally: _Tally, output: Path) -> Iterator[str]:
    streams = _count_text(tally.streams.total(), "stream")
    yield f"{_count_text(tally.cassettes, 'cassette')} with {streams} in {marked(str(output))}"
    yield from _counts(tally.streams)
    if tally.conversations:
        number = _count_text(tally.conversations, "conversation")
        yield f"{number} without the bytes of responses: `harness run` counts, and replays nothing"
    if tally.dialects:
        yield "dialects, and how sure each is"
        yield from _dialect_counts(tally.dialects)
    if tally.doubtful:
        yield f"{_count_text(len(tally.doubtful), 'stream')} to look at; --dialect NAME overrules"
        yield from (f"  {marked(_doubt_text(doubt))}" for doubt in tally.doubtful[:_MOST_DOUBTS])
    if tally.skipped:
        yield f"{_count_text(tally.skipped.total(), 'stream')} skipped"
        yield from _counts(tally.skipped)
    if tally.unusable:
        yield f"{_count_text(len(tally.unusable), 'file')} not used"
        yield from (f"  {marked(f'{file}: {why}')}" for file, why in tally.unusable.items())


def _count_text(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _counts(counter: Counter[str]) -> Iterator[str]:
    for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0])):
        if count:
            yield f"{count:>8}  {marked(name)}"


def _dialect_counts(dialects: dict[str, Counter[str]]) -> Iterator[str]:
    for name, sure in sorted(dialects.items(), key=lambda item: (-item[1].total(), item[0])):
        told = ", ".join(f"{sure[each]} {each}" for each in get_args(Confidence) if sure[each])
        yield f"{sure.total():>8}  {marked(name)} ({told})"


def _doubt_text(doubt: _Doubt) -> str:
    return f"{doubt.stream}: {doubt.dialect} ({doubt.confidence}: {doubt.because})"


def _as_json(tally: _Tally) -> str:
    return json.dumps(
        {
            "cassettes": tally.cassettes,
            "conversations": tally.conversations,
            "streams": tally.streams.total(),
            "containers": dict(sorted(tally.streams.items())),
            "dialects": {name: dict(sure) for name, sure in sorted(tally.dialects.items())},
            "doubtful": [msgspec.structs.asdict(doubt) for doubt in tally.doubtful],
            "skipped": dict(sorted(tally.skipped.items())),
            "unusable": [{"file": file, "reason": why} for file, why in tally.unusable.items()],
        },
        indent=2,
    )
