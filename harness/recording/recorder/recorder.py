"""Record while a client streams: play a cassette, record into it, or both.

    with Recorder("cassettes/a.yaml", mode="once") as recorder:
        client = httpx.Client(transport=recorder.transport(httpx))

A transport or a proxy calls `play` first, and `record` if the cassette has no answer. Each read is
passed to the client at once. An exchange is in the journal before the client learns that it ended.
The cassette is written when the block ends, completely or not at all. Both are without secrets, and
without exchanges of OAuth tokens.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock
from types import ModuleType
from typing import Any, Final, Self

import msgspec

from harness.errors import BlockedRequestError, RecordingError, UsageError
from harness.files.write import write_file
from harness.playback.matching import matchers
from harness.playback.transports import Answer, with_bases
from harness.providers import UNKNOWN
from harness.recording.identify import identify
from harness.recording.recorder.exchange import Exchange
from harness.recording.recorder.journal import Journal
from harness.recording.recorder.options import RecordingLabels, RecordMode, record_mode
from harness.recording.recorder.parts import Parts
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.recorder.transports import RecordingTransport
from harness.recording.recorder.vcrpy_filters import Filters
from harness.recording.secrets.credentials import scrub_address
from harness.recording.secrets.scrubber import Scrubber, check_labels
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette
from harness.wire.cassette_text import cassette_lines
from harness.wire.cuts import split
from harness.wire.interaction import Interaction, Request
from harness.wording import pluralize

DEFAULT_MATCH: Final = ("method", "path", "body")

# Labels that both the user and a cassette may set.
_LABELS: Final = ("provider", "model", "prompt", "dialect", "tools", "due")


class Recorder:
    """Plays and records one cassette while its `with` block runs.

    The exchanges of a recorder that was killed are added to the cassette first.

    Args:
        path: the cassette.
        mode: a record mode; `none` records nothing.
        match_on: names of the matchers of `playback.matching` that compare a request with a
            recorded one.
        scrubber: removes secrets and headers; by default `Scrubber()`.
        labels: the user's labels for the recording.
        filters: options of vcrpy for requests and responses, such as `filter_headers`,
            `before_record_request`; needs vcrpy.
        allow_in_ci: record even if CI is set.
        journal: write each exchange to the disk when it ends.

    Attributes:
        recovered: the number of exchanges from the journal of a killed recorder.
        scrubber: removes secrets from what the recorder writes.

    Raises:
        UsageError: an unknown mode, matcher or filter, a mode that is not allowed in CI, or another
            recorder of the same cassette.
        UnreadableError: the cassette exists and is damaged.
        UnscrubbedError: a label contains a secret.
    """

    def __init__(  # noqa: PLR0913 - options of a context manager, all but one by name
        self,
        path: str | Path,
        *,
        mode: str | RecordMode = RecordMode.NONE,
        match_on: Sequence[str] = DEFAULT_MATCH,
        scrubber: Scrubber | None = None,
        labels: RecordingLabels | None = None,
        filters: Mapping[str, object] | None = None,
        allow_in_ci: bool = False,
        journal: bool = True,
    ) -> None:
        self.path = Path(path)
        self.mode = record_mode(mode, allow_in_ci=allow_in_ci)
        self.scrubber = scrubber or Scrubber()
        self._labels = labels or RecordingLabels()
        self._filters = Filters(filters or {})
        self._matchers = matchers(tuple(match_on))
        check_labels(self._assemble((), self._labels, (), None), str(self.path))
        self._journal = Journal(self.path)
        self._parts = Parts(self.path)
        self._journals = journal and self.mode is not RecordMode.NONE
        self.damaged = ""
        self.recovered = self._recover() if self._journals else 0
        self._old = load_cassette(self.path) if self.path.exists() else None
        self._on_disk = self._old
        self._left = list(self._old.interactions if self._old else ())
        self._exchanges: list[Exchange] = []
        self._known = 0
        self._lock = Lock()  # of what is played and recorded
        self._writing = RLock()  # of the journal and what is written
        self._cassette = Lock()  # of its files; taken before `_writing`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.save()

    def transport(self, library: ModuleType, inner: object = None) -> Any:  # noqa: ANN401 - a transport of the library that is given
        """Return a transport for clients of `library`, which is httpx or httpx2.

        Args:
            library: the module; its `Client` and `AsyncClient` both take the transport.
            inner: the transport that sends requests; by default the library's own.
        """

        def play(request: Request) -> Answer | None:
            answer = self.play(request)
            return (answer, split(answer.body, answer.recorded_cuts())) if answer else None

        kind = with_bases(library, RecordingTransport, "BaseTransport")
        return kind(library, play, self.record, inner)

    def play(self, request: Request) -> Interaction | None:
        """Return the recorded answer to `request`, or None if the request may be sent.

        A request that a filter leaves out is sent in every mode, as in vcrpy.

        Raises:
            BlockedRequestError: there is no recorded answer, and the mode sends no requests.
        """
        if self.mode is RecordMode.ALL or self._filters.request(request) is None:
            return None
        with self._lock:
            found = self._matching(request, self._left)
            if found is not None:
                return self._left.pop(found)
        done = self._old and not self.recovered
        if self.mode is RecordMode.NONE or (self.mode is RecordMode.ONCE and done):
            shown = f"{request.method} {scrub_address(request.uri)}"
            raise BlockedRequestError(
                f"no unplayed interaction answers {shown}, and the record "
                f"mode {self.mode.value!r} sends no requests",
                where=str(self.path),
                hint="Record it: mode 'new_episodes', or 'all' to record everything again.",
            )
        return None

    def open(self) -> None:
        """Begin the journal, which shows whether the folder can be written to.

        Raises:
            UsageError: the journal cannot be written, or another recorder writes the same cassette.
        """
        with self._writing:
            self._journal.open(msgspec.to_builtins(self._labels), self._on_disk)

    def record(self, request: Request) -> ResponseRecorder:
        """Return a new recorder for the response to a request that is sent now.

        Raises:
            UsageError: the response could not be written, so do not send the request.
        """
        if self._journals:
            self.open()
        with self._lock:
            self._known = self.scrubber.learn(request)
            number = len(self._exchanges)
            response = ResponseRecorder(request, on_end=lambda: self._end(exchange))
            exchange = Exchange(number, response)
            self._exchanges.append(exchange)
        return response

    def _end(self, exchange: Exchange) -> None:
        """Write an exchange that ended to the journal; hide errors from the client."""
        if not self._journals or not exchange.ended:
            return
        self._clean(exchange)
        if exchange.interaction is None:
            return
        # If it fails, `save` writes the exchange, or raises the reason.
        with self._writing, suppress(OSError, UsageError):
            self.open()
            self._journal.add(exchange.number, exchange.interaction)
            exchange.journaled = True

    @property
    def count(self) -> int:
        """The number of responses recorded so far."""
        return sum(each.response.answered for each in self._snapshot())

    @property
    def recorded(self) -> list[Interaction]:
        """The exchanges on the disk so far, in the order of their requests."""
        every = self._snapshot()
        return [each.interaction for each in every if each.interaction and not each.left_out]

    @property
    def unsaved(self) -> bool:
        """Whether an exchange ended that the cassette does not contain."""
        return any(each.ended and not each.saved for each in self._snapshot())

    def left_out(self) -> Counter[str]:
        """Return reason -> number of exchanges that the recorder does not write for this reason."""
        return Counter(filter(None, (each.left_out for each in self._snapshot())))

    def cassette(self) -> Cassette:
        """Return the cassette as it would be written now, without secrets, in request order.

        Raises:
            RecordingError: a response is too large.
            UnscrubbedError: a secret cannot be replaced.
        """
        with self._writing:
            every = self._cleaned(self._snapshot())
        _raise_first_error(every)
        return self._with_kept(every)

    def checkpoint(self) -> None:
        """Write the cassette with all exchanges that ended so far, and continue to record.

        Raises:
            OSError: the cassette cannot be written.
            UnscrubbedError: a label contains a secret.
        """
        with self._cassette:
            self._journal.sync()
            every = [each for each in self._snapshot() if each.ended]
            changed = [self._clean(each) for each in every]
            with self._writing:
                if any(changed):
                    # The journal contains what is known to be a secret by now.
                    self._write(every)
                    self._journal.restart(msgspec.to_builtins(self._labels), self._on_disk)
            if not any(changed):
                self._write(every)

    def save(self) -> None:
        """Write the cassette if a response was recorded; else leave the file unchanged.

        An exchange that cannot be written does not prevent the others.

        Raises:
            RecordingError: a response is too large, or the file cannot be written.
        """
        for each in self._snapshot():
            if each.response.answered:
                each.response.end("aborted")
        with self._cassette, self._writing:
            every = self._cleaned(self._snapshot())
            try:
                self._write(every, durable=True)
            except OSError as error:
                self._journal.close()
                raise self._unwritten(error) from error
            self._journal.remove()
        _raise_first_error(every)

    def _snapshot(self) -> list[Exchange]:
        with self._lock:
            return list(self._exchanges)

    def _clean(self, exchange: Exchange) -> bool:
        """Remove the secrets of an exchange.

        Returns:
            Whether the exchange was already written with a secret that is known only now.
        """

        def clean(interaction: Interaction) -> Interaction:
            number, where = exchange.number, str(self.path)
            return self.scrubber.cleaned([interaction], where, first=number)[0]

        return exchange.clean(self._filters.interaction, clean, self._known)

    def _cleaned(self, every: list[Exchange]) -> list[Exchange]:
        answered = [each for each in every if each.response.answered]
        for each in answered:
            self._clean(each)
        return answered

    def _with_kept(self, every: Sequence[Exchange]) -> Cassette:
        recorded = [each.interaction for each in every if each.interaction is not None]
        old = self._old.interactions if self._old else ()
        return self._assemble(self._kept(old, recorded), self._labels, recorded, self._old)

    def _write(self, every: Sequence[Exchange], *, durable: bool = False) -> None:
        recorded = [each.interaction for each in every if each.interaction is not None]
        if recorded:  # filters may leave out all of them
            old = self._old.interactions if self._old else ()
            kept = self._kept(old, recorded)
            self._write_parts(kept, self._labels, recorded, self._old, durable=durable)
        for each in every:
            each.saved = True

    def _write_parts(
        self,
        kept: Sequence[Interaction],
        labels: RecordingLabels,
        recorded: Sequence[Interaction],
        old: Cassette | None,
        *,
        durable: bool,
    ) -> None:
        """Write the cassette, and further ones if one would be too large to be read."""
        for path, earlier, new in self._parts.divide(kept, recorded):
            is_first = path == self.path
            cassette = self._assemble(earlier, labels, new, old if is_first else None)
            cassette = msgspec.structs.replace(cassette, id=path.stem)
            check_labels(cassette, str(path))
            write_file(path, (line.encode() for line in cassette_lines(cassette)), durable=durable)
            if is_first:
                self._on_disk = cassette

    def _recover(self) -> int:
        """Write the exchanges of a killed recorder, and return their number."""
        try:
            found = self._journal.take()
            if found and found.interactions:
                old = load_cassette(self.path) if self.path.exists() else None
                kept = self._kept(found.kept_of(old), found.interactions)
                labels = msgspec.convert(found.labels, RecordingLabels)
                self._write_parts(kept, labels, found.interactions, old, durable=True)
            if found and found.dropped:
                kept_at = self._journal.set_aside()
                self.damaged = f"{pluralize(found.dropped, 'damaged line')} kept in {kept_at}"
        except OSError as error:
            raise self._unwritten(error) from error
        self._journal.remove()
        return len(found.interactions) if found else 0

    def _unwritten(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"cannot write the cassette: {error.strerror}",
            where=str(self.path),
            hint="Free disk space, or make the folder writable. Then start the same command "
            f"again: it takes the finished exchanges from {self._journal.path}.",
        )

    def _assemble(
        self,
        kept: Sequence[Interaction],
        labels: RecordingLabels,
        recorded: Sequence[Interaction],
        old: Cassette | None,
    ) -> Cassette:
        labels = _with_labels(labels, old) if old and kept else labels
        named = labels.source or (recorded[0].request.uri if recorded else "")
        source, today = self.scrubber.text(named, f"{self.path}: source"), datetime.now(UTC).date()
        origin = Origin("recorded", labels.by, today.isoformat(), source, labels.licence)
        whole = Cassette(
            self.path.stem,
            (*kept, *recorded),
            origin,
            provider=labels.provider or UNKNOWN,
            model=labels.model or UNKNOWN,
            prompt=labels.prompt or UNKNOWN,
        )
        dialect = labels.dialect or UNKNOWN
        return identify(whole.with_each(dialect=dialect, tools=labels.tools, due=labels.due))

    def _kept(
        self, old: Sequence[Interaction], recorded: Sequence[Interaction]
    ) -> Sequence[Interaction]:
        """Return the old interactions to keep; in mode `all`, those not recorded again."""
        if self.mode is not RecordMode.ALL:
            return old
        return [each for each in old if self._matching(each.request, recorded) is None]

    def _matching(self, request: Request, among: Sequence[Interaction]) -> int | None:
        """Return the index of the first interaction in `among` that matches `request`, or None."""
        cleaned = self._filters.request(request)
        if cleaned is None:
            return None
        sent = self.scrubber.request(cleaned)
        for index, each in enumerate(among):
            if not any(differs(sent, each.request) for differs in self._matchers.values()):
                return index
        return None


def _raise_first_error(every: Sequence[Exchange]) -> None:
    for each in every:
        if each.error is not None:
            raise each.error


def _with_labels(labels: RecordingLabels, old: Cassette) -> RecordingLabels:
    """Return the labels; an empty label gets the value of the cassette `old`."""
    missing = {name: getattr(old, name) for name in _LABELS if not getattr(labels, name)}
    return msgspec.structs.replace(labels, **missing)
