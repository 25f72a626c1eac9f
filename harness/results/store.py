"""Write a run as JSON Lines while it is in progress, and read a run file.

The header comes first, and the footer last. The writer passes each line to the operating system
before the next cell, so that a killed run loses no finished result. A finished file is sorted by
cell, so that equal runs are equal bytes. The reader raises an UnreadableError for a file that is
not a run, is damaged or comes from a newer harness.
"""

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from harness.errors import UnreadableError, UsageError
from harness.files.load import refuse_bom, refuse_special
from harness.files.write import LineFile, partial_path
from harness.results.case import Case
from harness.results.conversation_case import ConversationCase
from harness.results.result import Result
from harness.results.run import SCHEMA, AnyCase, Footer, Header, Output, Run, UnreadableFile
from harness.turns.exact_json import encodable
from harness.wording import pluralize

MAX_RUN_BYTES = 4 * 1024**3
MAX_LINE_BYTES = 256 * 1024**2

_MAKE_A_RUN = "Make a run with `harness run`."
_SEALING = ".sealing"
_STARTED = ".started"

_Row = Header | Result | Case | ConversationCase | Output | Footer


class RunWriter:
    """Appends the lines of a run to `<path>.partial`; `finish` sorts them into the file `path`.

    An older run at `path` stays until a new one with at least one result is finished. If `finish`
    is not called, the partial file stays, and `read_run` can read it.
    Use as a context manager: `header`, any number of `add`, then `finish`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = partial_path(path)
        self._file: LineFile | None = None
        self._lines: list[tuple[str, int, int, int]] = []  # cell, rank, offset, length
        self._header = b""
        self._results = 0
        self._replays = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._file is not None:
            self._file.close()

    def header(self, header: Header) -> None:
        """Start the run by writing its header.

        Raises:
            UsageError: the path is not writable, or another run is being written.
        """
        try:
            self._file = LineFile(self._partial)  # closed in `__exit__`
            self._start(encode_line(header))
        except BlockingIOError as error:
            raise UsageError(
                "another run is being written here",
                where=str(self._path),
                hint="Wait until it ends, or choose another folder.",
            ) from error
        except OSError as error:
            raise self._unwritable(error, "Choose a folder that can be written to.") from error

    def _start(self, header: bytes) -> None:
        file, self._header = self._opened(), header
        try:
            file.clear()  # the lines of a killed run
            file.append(header)
        except OSError:
            file.remove()
            raise

    def _unwritable(self, error: OSError, hint: str) -> UsageError:
        where = str(self._path)
        return UsageError(f"cannot write the run: {error.strerror}", where=where, hint=hint)

    def add(self, result: Result, case: AnyCase | None = None, output: str = "") -> None:
        """Append one cell; after this returns, killing the process cannot lose the cell.

        Args:
            result: the result of the cell.
            case: the detail page of the cell; None if it has none.
            output: what the client wrote; stored only if the cell fails.

        Raises:
            UsageError: the file cannot be written, for example on a full disk. Earlier cells stay.
        """
        self._append(result.cell, 0, encode_line(result))
        self._results += 1
        self._replays += result.replays
        if case is not None:
            self._append(case.cell, 1, encode_line(case))
        if output and result.outcome.fails:
            self._append(result.cell, 2, encode_line(Output(result.cell, output)))

    def finish(
        self,
        *,
        interrupted: bool = False,
        not_run: int = 0,
        unreadable: tuple[UnreadableFile, ...] = (),
    ) -> Footer:
        """Sort the lines, add the footer and move the file to its final path.

        Args:
            interrupted: whether the user stopped the run.
            not_run: number of planned cells that did not run.
            unreadable: selected files that the harness cannot use.

        Returns:
            The footer. A run without a result never replaces an older run.

        Raises:
            UsageError: the file cannot be written, such as on a full disk; the partial file stays.
        """
        footer = Footer(
            self._results, self._replays, interrupted, not_run, unreadable or msgspec.UNSET
        )
        try:
            if self._results or not self._path.exists():
                self._seal(footer)
        except OSError as error:
            raise self._unwritable(error, self._hint_of_partial()) from error
        self._opened().remove()
        return footer

    def _hint_of_partial(self) -> str:
        return (
            f"Free disk space, or choose another folder with -o. {self._partial} has the "
            f"{pluralize(self._results, 'result')} so far: `harness report` shows it."
        )

    def _append(self, cell: str, rank: int, line: bytes) -> None:
        try:
            offset = self._opened().append(line)
        except OSError as error:
            raise self._unwritable(error, self._hint_of_partial()) from error
        self._lines.append((cell, rank, offset, len(line)))

    def _seal(self, footer: Footer) -> None:
        sealed = self._path.with_name(self._path.name + _SEALING)
        try:
            with sealed.open("wb") as out, self._partial.open("rb") as lines:
                out.write(self._header)
                for _, _, offset, length in sorted(self._lines):
                    lines.seek(offset)
                    out.write(lines.read(length))
                out.write(encode_line(footer))
            sealed.replace(self._path)
            start_mark(self._path).unlink(missing_ok=True)
        finally:
            sealed.unlink(missing_ok=True)

    def _opened(self) -> LineFile:
        if self._file is None:
            raise ValueError("header() comes first")
        return self._file


def files_of_run(path: Path) -> tuple[str, ...]:
    """Return the names of the files that a RunWriter for `path` writes or removes."""
    return (path.name, partial_path(path).name, path.name + _SEALING, start_mark(path).name)


def start_mark(path: Path) -> Path:
    """Return the path of the mark that a run for `path` has started and has not finished."""
    return path.with_name(path.name + _STARTED)


def encode_line(row: _Row) -> bytes:
    """Return `row` as one line of JSON.

    A lone surrogate cannot be encoded and becomes U+FFFD: streams are hostile input, and must
    not stop a run.
    """
    try:
        return msgspec.json.encode(row) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(encodable(msgspec.to_builtins(row))) + b"\n"


def read_run(path: Path) -> Run:
    """Read the run at `path`, finished or not.

    Raises:
        UnreadableError: the file does not exist, is not a run, is damaged, or comes from a newer
            harness.
    """
    refuse_special(path)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_RUN_BYTES:
                raise UnreadableError(f"larger than {MAX_RUN_BYTES} bytes", where=str(path))
            if path.suffix == ".gz":
                with gzip.open(file) as unpacked:
                    return _Reader(path).read(unpacked)
            return _Reader(path).read(file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableError("damaged: not a complete gzip file", where=str(path)) from error
    except FileNotFoundError as error:
        raise UnreadableError("no such run", where=str(path), hint=_hint(path)) from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _hint(path: Path) -> str:
    partial = partial_path(path)
    return f"A killed run left {partial.name}; name that." if partial.exists() else _MAKE_A_RUN


class _SchemaOnly(msgspec.Struct, tag_field="type", tag="header"):
    """The member that the first line of a run file has in every version of the format."""

    schema: int


class _Reader:
    """Collects the rows of one run file; its errors name the line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0
        self._decode = msgspec.json.Decoder(_Row).decode
        self._results: dict[str, Result] = {}
        self._cases: dict[str, Case] = {}
        self._conversations: dict[str, ConversationCase] = {}
        self._outputs: dict[str, str] = {}
        self._footer: Footer | None = None
        self._torn = 0

    def read(self, file: BinaryIO | gzip.GzipFile) -> Run:
        lines = self._lines(file)
        header = self._read_header(next(lines, b""))
        for line in lines:
            self._take(line)
        self._check_footer()
        results = tuple(self._results[cell] for cell in sorted(self._results))
        kept = (self._conversations, self._outputs)
        return Run(header, results, self._cases, self._footer, self._torn, *kept)

    def _lines(self, file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
        size = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            self._line += 1
            size += len(line)
            if size > MAX_RUN_BYTES:  # of a small file that unpacks to a large one
                raise self._error(f"larger than {MAX_RUN_BYTES} bytes")
            if len(line) > MAX_LINE_BYTES:
                raise self._error(f"a line longer than {MAX_LINE_BYTES} bytes")
            yield line

    def _read_header(self, line: bytes) -> Header:
        refuse_bom(line, str(self._path))
        try:
            schema = msgspec.json.decode(line, type=_SchemaOnly).schema
        except (ValueError, RecursionError) as error:
            raise self._error("not a run: the first line is not a header", _MAKE_A_RUN) from error
        if schema > SCHEMA:
            raise self._error(
                f"written by a newer harness: schema {schema}, this one reads {SCHEMA}",
                "Upgrade the harness, or make the run again with this one.",
            )
        row = self._parse(line)
        if not isinstance(row, Header):
            raise self._error("the first line is truncated", _MAKE_A_RUN)
        return row

    def _take(self, line: bytes) -> None:
        if self._footer is not None:
            raise self._error("a line after the footer")
        row = self._parse(line)
        match row:
            case Result():
                self._once(row.cell, self._results)
                # Schema 1 has no causes, and does not say where an exception was raised.
                unknown = row.outcome.fails and not row.cause
                self._results[row.cell] = row.with_cause() if unknown else row
            case Case():
                self._once(row.cell, self._cases)
                self._cases[row.cell] = row
            case ConversationCase():
                self._once(row.cell, self._conversations)
                self._conversations[row.cell] = row
            case Output():
                self._once(row.cell, self._outputs)
                self._outputs[row.cell] = row.text
            case Footer():
                self._footer = row
            case Header():
                raise self._error("a second header")
            case None:
                self._torn += 1

    def _parse(self, line: bytes) -> _Row | None:
        """Return the row in `line`; None if the writer was killed before the end of the line."""
        if not line.endswith(b"\n"):
            return None
        try:
            row: _Row = self._decode(line)
        except (ValueError, RecursionError) as error:
            raise self._error(f"damaged line: {error}", _MAKE_A_RUN) from error
        return row

    def _once(self, cell: str, seen: Mapping[str, object]) -> None:
        if cell in seen:
            raise self._error(f"cell {cell!r} is in the file twice")

    def _check_footer(self) -> None:
        if self._footer is not None and self._footer.results != len(self._results):
            raise self._error(
                f"the footer counts {self._footer.results} results, found {len(self._results)}",
                _MAKE_A_RUN,
            )

    def _error(self, what: str, hint: str = "") -> UnreadableError:
        return UnreadableError(what, where=f"{self._path}:{self._line}", hint=hint)
