"""`harness import`: convert recordings of other tools to cassettes in a folder.

The command reports the result of each file: cassettes, conversations without bytes to replay,
skipped streams with the reason, or an unusable file. The name of a cassette is the path of its
recording, so it does not depend on other imported files. No cassette is written outside the folder.
"""

import hashlib
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final, get_args

import click
import msgspec

from harness.cli import EXIT_NOTHING_SELECTED, EXIT_USAGE
from harness.cli.cassette_options import dialect_option
from harness.cli.options import format_option, output_option, safe_name
from harness.cli.run_files import claim, claim_cassette, writing
from harness.conversation.history.jsonl import encode
from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.files.walk import walk_files
from harness.files.write import write_file
from harness.providers import UNKNOWN
from harness.recording.detect import Confidence
from harness.recording.importers import seinfeld, wiremock
from harness.recording.importers.container import damage_text
from harness.recording.importing import Imported, Labels, import_file
from harness.reporting.visible import marked
from harness.wire.cassette_file import save_cassette
from harness.wording import pluralize

_NOT_A_RECORDING: Final = "not a recording in a supported format"
_NO_RESPONSE: Final = "contains no response"
_BODY_FILE: Final = "a body that a recording next to it names"

# File names that recorders give to each of their files; the folder around tells them apart.
_COMMON_NAMES: Final = re.compile(
    r"(?:recording|cassette|response|request|fixture|index|stream|output|data|body|[0-9]+)\..*",
    re.IGNORECASE,
)
_LABELS: Final = ("provider", "model")
_MOST_DOUBTS = 20
_MOST_FILES: Final = 50
_DIGEST_CHARS: Final = 6


class _Doubt(msgspec.Struct, frozen=True):
    """A stream whose detected dialect the user should check, with the reason."""

    stream: str
    dialect: str
    confidence: str
    because: str


class _NotImported(msgspec.Struct, frozen=True):
    """A file, and the reason why its streams (or the file, if it has none) were not imported."""

    file: str
    reason: str
    streams: int = 0
    damaged: bool = False

    def __str__(self) -> str:
        number = f" ({pluralize(self.streams, 'stream')})" if self.streams else ""
        return f"{self.file}: {self.reason}{number}"


class Tally(msgspec.Struct):
    """The results of the files that were imported so far.

    Fields:
        damaged: the number of unused files that are damaged recordings.
    """

    cassettes: int = 0
    conversations: int = 0
    readable: int = 0
    damaged: int = 0
    streams: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    dialects: dict[str, Counter[str]] = msgspec.field(default_factory=dict)
    doubtful: list[_Doubt] = msgspec.field(default_factory=list)
    unlabelled: Counter[str] = msgspec.field(default_factory=Counter)
    not_imported: list[_NotImported] = msgspec.field(default_factory=list)

    def unused(self) -> list[_NotImported]:
        """Return the files from which nothing was imported."""
        return [each for each in self.not_imported if not each.streams]


@click.command("import")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE_OR_DIR...",
)
@output_option("Folder for PROVIDER/MODEL/NAME.yaml.", default="imported")
@click.option("--provider", default="", help="Provider label. Default: from the recording.")
@click.option("--model", default="", help="Model label. Default: from the recording.")
@click.option("--prompt", default="", help="Prompt label. Default: computed from the request.")
@dialect_option("Parse every response as this dialect and skip detection.")
@click.option("--licence", default="", help="SPDX id of the licence of the recordings.")
@format_option("pretty", "json")
def import_command(
    paths: tuple[Path, ...], output: Path, style: str, dialect: str | None, **labels: str
) -> None:
    """Convert recordings to cassettes: vcrpy, go-vcr, nock, HAR, WireMock, curl, raw bodies, ...

    The command searches folders. It removes secrets as `harness record` does, and skips what has a
    secret that cannot be replaced. Check the recordings before you publish them. A damaged
    recording costs no other one, but the exit code is then 2.
    """
    tally = Tally()
    names = Names(output)
    files = list(files_to_import(paths, output))
    hidden = not sys.stderr.isatty()
    with click.progressbar(files, label="import", file=sys.stderr, hidden=hidden) as progress:
        for path, source in progress:
            import_one(path, source, Labels(**labels, dialect=dialect or ""), names, tally)
    click.echo(_as_json(tally) if style == "json" else "\n".join(_as_text(tally, output)))
    if tally.damaged or not tally.readable:
        raise SystemExit(EXIT_USAGE)
    if not (tally.cassettes or tally.conversations):
        raise SystemExit(EXIT_NOTHING_SELECTED)


class Names:
    """Chooses the file names of results in the output folder, and never uses a name twice."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self._taken: set[str] = set()

    def path(self, provider: str, model: str, name: str, suffix: str) -> Path:
        """Return a new path in the output folder for the results called `name`.

        If two names are equal or differ only in case, a number makes them different.
        """
        base = f"{safe_name(provider)}/{safe_name(model)}/{name}"
        free, number = base, 1
        while free.lower() in self._taken:  # some file systems ignore case
            number += 1
            free = f"{base}-{number}"
        self._taken.add(free.lower())
        path = self.output / f"{free}{suffix}"
        if not path.parent.resolve().is_relative_to(self.output.resolve()):
            raise UsageError(
                f"the folder is outside {self.output}: {path.parent.resolve()}",
                where=str(path.parent),
                hint="Remove the symbolic link, or choose another folder with -o.",
            )
        return path


def _output_name(source: str, suffix: str) -> str:
    """Return the name for the results of the file `source`, a path relative to the user's folder.

    Two files never get the same name, unless they differ in case only. A part that is not safe on
    every file system gets a hash. Only the suffix of the output format is removed.
    """
    return "/".join(map(_distinct_name, PurePosixPath(source.removesuffix(suffix)).parts))


def _distinct_name(part: str) -> str:
    safe = safe_name(part)
    if safe == part:
        return part
    digest = hashlib.sha256(part.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{safe}-{digest[:_DIGEST_CHARS]}"


def files_to_import(paths: Iterable[Path], output: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file at `paths` and its path relative to the given one; skip hidden files.

    Files in the output folder are skipped, too.
    """
    excluded = output.resolve()
    stat = excluded.stat() if excluded.exists() else None
    for given in paths:
        if not given.is_dir():
            yield given, _own_name(given)
        elif given.resolve() != excluded:
            seen = {(stat.st_dev, stat.st_ino)} if stat else set()
            for path in map(Path, walk_files(str(given), lambda _: True, seen)):
                yield path, path.relative_to(given).as_posix()


def _own_name(path: Path) -> str:
    """Return the name for a file that the user named, with its folder for a common file name."""
    folder = path.absolute().parent.name
    is_common = _COMMON_NAMES.fullmatch(path.name) and folder not in ("", "..")
    return f"{folder}/{path.name}" if is_common else path.name


def import_one(path: Path, source: str, labels: Labels, names: Names, tally: Tally) -> None:
    """Import the file at `path`, write its results, and count them.

    Args:
        path: the file.
        source: its path relative to the folder of the user, for names and messages.
        labels: the labels of the user.
        names: chooses the names of the results.
        tally: the counts, which the function changes.
    """
    is_body = wiremock.is_body_file(path) or seinfeld.is_body_file(path)
    if is_body and not labels.dialect:
        tally.not_imported.append(_NotImported(source, _BODY_FILE))
        return
    try:
        # No name keeps the bytes of the file, which may be large, until the results are written.
        imported = import_file(
            path, read_file(path, problem="expected a file that can be read"), source, labels
        )
    except UnreadableError as error:
        tally.not_imported.append(_NotImported(source, damage_text(error, path), damaged=True))
        tally.damaged += 1
        return
    if not imported.container:
        tally.not_imported.append(_NotImported(source, _NOT_A_RECORDING))
        return
    _write(imported, source, names)
    tally.readable += 1
    _count(imported, source, tally)


def _count(imported: Imported, source: str, tally: Tally) -> None:
    tally.cassettes += len(imported.cassettes)
    tally.conversations += len(imported.conversations)
    tally.streams[imported.container] += sum(len(c.interactions) for c in imported.cassettes)
    for each in imported.cassettes:
        tally.unlabelled.update(name for name in _LABELS if getattr(each, name) == UNKNOWN)
    reasons = Counter(imported.skipped)
    tally.skipped.update(reasons)
    tally.not_imported += [_NotImported(source, why, count) for why, count in reasons.items()]
    if not (imported.cassettes or imported.conversations or reasons):
        tally.not_imported.append(_NotImported(source, _NO_RESPONSE))
    for n, detected in imported.detected:
        tally.dialects.setdefault(detected.dialect, Counter())[detected.confidence] += 1
        if detected.doubtful:
            tally.doubtful.append(
                _Doubt(f"{source}#{n}", detected.dialect, detected.confidence, detected.because)
            )


def _write(imported: Imported, source: str, names: Names) -> None:
    name = _output_name(source, ".yaml")
    labels = Counter((each.provider, each.model) for each in imported.cassettes)
    for cassette in imported.cassettes:
        is_one = labels[cassette.provider, cassette.model] == 1
        own = name if is_one else f"{name}.{safe_name(cassette.dialect)}"
        path = names.path(cassette.provider, cassette.model, own, ".yaml")
        claim_cassette(names.output, path, "imported")
        with writing(path):
            save_cassette(cassette, path)
    name = _output_name(source, ".jsonl")
    for number, logged in enumerate(imported.conversations, start=1):
        about = logged.about
        own = name if len(imported.conversations) == 1 else f"{name}.{number}"
        path = names.path(about.provider or UNKNOWN, about.model or UNKNOWN, own, ".jsonl")
        claim(names.output, path.relative_to(names.output).as_posix())
        with writing(path):
            write_file(path, encode(logged))


def _as_text(tally: Tally, output: Path) -> Iterator[str]:
    streams = pluralize(tally.streams.total(), "stream")
    yield f"{pluralize(tally.cassettes, 'cassette')} with {streams} in {marked(str(output))}"
    yield from count_lines(tally.streams)
    if tally.conversations:
        number = pluralize(tally.conversations, "conversation")
        yield f"{number} without response bytes: `harness run` counts them and replays nothing"
    if tally.dialects:
        yield "dialects, with the confidence of the detection"
        by_count = sorted(tally.dialects.items(), key=lambda item: (-item[1].total(), item[0]))
        for name, found in by_count:
            levels = (f"{found[each]} {each}" for each in get_args(Confidence) if found[each])
            yield f"{found.total():>8}  {marked(name)} ({', '.join(levels)})"
    if tally.doubtful:
        yield f"{pluralize(len(tally.doubtful), 'stream')} to check. Use --dialect to set one."
        for doubt in tally.doubtful[:_MOST_DOUBTS]:
            reason = f"{doubt.dialect} ({doubt.confidence}: {doubt.because})"
            yield f"  {marked(f'{doubt.stream}: {reason}')}"
    yield from _not_imported_lines(tally)
    yield from _unlabelled_lines(tally)
    if tally.cassettes:
        yield f"judge them: harness run {marked(shlex.quote(str(output)))}"


def _unlabelled_lines(tally: Tally) -> Iterator[str]:
    """Yield lines that name the unknown labels, because rankings cannot show such recordings."""
    for label, count in tally.unlabelled.items():
        number = pluralize(count, "cassette")
        yield f"the {label} of {number} is unknown. Import again with --{label} to name it."


def _not_imported_lines(tally: Tally) -> Iterator[str]:
    if tally.skipped:
        yield f"{pluralize(tally.skipped.total(), 'stream')} skipped"
        yield from count_lines(tally.skipped)
    if tally.unused():
        yield f"{pluralize(len(tally.unused()), 'file')} not used"
    if tally.not_imported:
        yield "not imported, by file"
    for each in tally.not_imported[:_MOST_FILES]:
        yield f"  {marked(str(each))}"
    if len(tally.not_imported) > _MOST_FILES:
        yield f"  and {len(tally.not_imported) - _MOST_FILES} more: --format json lists all"


def count_lines(counter: Counter[str]) -> Iterator[str]:
    """Yield a line for each name in `counter` with its count, the most frequent first."""
    for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0])):
        if count:
            yield f"{count:>8}  {marked(name)}"


def _as_json(tally: Tally) -> str:
    return json.dumps(
        {
            "cassettes": tally.cassettes,
            "conversations": tally.conversations,
            "streams": tally.streams.total(),
            "containers": dict(sorted(tally.streams.items())),
            "dialects": {name: dict(sure) for name, sure in sorted(tally.dialects.items())},
            "doubtful": [msgspec.structs.asdict(doubt) for doubt in tally.doubtful],
            "skipped": dict(sorted(tally.skipped.items())),
            "unusable": [{"file": it.file, "reason": it.reason} for it in tally.unused()],
            "unlabelled": dict(tally.unlabelled),
            "not_imported": [
                {"file": it.file, "reason": it.reason, "streams": it.streams}
                for it in tally.not_imported
            ],
        },
        indent=2,
    )
