"""A cassette that is played, recorded, or both, as the record mode says.

Whoever carries requests (a transport, a proxy) asks `play` first and `record` where that has
no answer. The file is written when the block ends, whole or not at all, and only scrubbed.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import ModuleType, TracebackType
from typing import Any, Final, Self

import msgspec

from harness.errors import BlockedRequestError, RecordingError
from harness.playback.matching import matchers
from harness.recording.hygiene import Hygiene, check_labels
from harness.recording.identify import identify
from harness.recording.transport.clients import transport
from harness.recording.transport.modes import RecordMode, record_mode
from harness.recording.transport.tape import Tape
from harness.recording.transport.vcrpy_filters import Filters
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load, save
from harness.wire.hosts import UNKNOWN
from harness.wire.interaction import Due, Interaction, Request

DEFAULT_MATCH: Final = ("method", "path", "body")

# What both the user and a cassette say of interactions.
_LABELS: Final = ("provider", "model", "prompt", "dialect", "tools", "due")


class About(msgspec.Struct, frozen=True):
    """What the user says of a recording.

    What is left open stays as the cassette has it, where interactions of it are kept; else it
    is told from the traffic.

    Fields:
        source: the server and its version, for `origin.source`; by default its address.
        tools: tools that the prompt teaches in words, as `Interaction.tools`.
        due: what each question needs, as `Interaction.due`.
    """

    provider: str = ""
    model: str = ""
    prompt: str = ""
    dialect: str = ""
    source: str = ""
    licence: str = ""
    by: str = "toolcall-harness"
    tools: tuple[dict[str, Any], ...] = ()
    due: Due = ""


class Recorder:
    """Plays and records one cassette while its `with` block runs.

    Args:
        path: the cassette.
        mode: a record mode; `none` records nothing.
        match_on: what a request and a recorded one must have in common, by names of
            `playback.matching`.
        scrub: what is kept and what is removed; by default what `Hygiene()` does.
        about: what is known of the recording.
        filters: vcrpy's own options for requests and responses, such as
            `filter_headers`, `before_record_request`; needs vcrpy.
        allow_in_ci: record even where CI is set.

    Raises:
        UsageError: an unknown mode, matcher or filter, or a mode that CI does not allow.
        UnreadableError: the cassette is there and damaged.
    """

    def __init__(  # noqa: PLR0913 - options of a context manager, all but one by name
        self,
        path: str | Path,
        *,
        mode: str | RecordMode = RecordMode.NONE,
        match_on: Sequence[str] = DEFAULT_MATCH,
        scrub: Hygiene | None = None,
        about: About | None = None,
        filters: Mapping[str, object] | None = None,
        allow_in_ci: bool = False,
    ) -> None:
        self.path = Path(path)
        self.mode = record_mode(mode, allow_in_ci=allow_in_ci)
        self._hygiene = scrub or Hygiene()
        self._about = about or About()
        self._filters = Filters(filters or {})
        self._matchers = matchers(tuple(match_on))
        self._old = load(self.path) if self.path.exists() else None
        self._left = list(self._old.interactions if self._old else ())
        self._tapes: list[Tape] = []
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.save()

    def transport(self, library: ModuleType, inner: object = None) -> Any:  # noqa: ANN401 - a transport of the library that is given
        """Return a transport for clients of `library`, which is httpx or httpx2.

        Args:
            library: the module; its `Client` and `AsyncClient` both take the transport.
            inner: the transport that asks the server; by default the library's own.
        """
        return transport(self, library, inner)

    def play(self, request: Request) -> Interaction | None:
        """Return what answers `request` from the cassette, or None where it may be asked.

        What a filter leaves out is none of ours: it is asked in every mode, as with vcrpy.

        Raises:
            BlockedRequestError: nothing recorded answers, and the mode lets nothing out.
        """
        if self.mode is RecordMode.ALL or self._filters.request(request) is None:
            return None
        with self._lock:
            found = self._matching(request, self._left)
            if found is not None:
                return self._left.pop(found)
        if self.mode is RecordMode.NONE or (self.mode is RecordMode.ONCE and self._old):
            raise BlockedRequestError(
                f"nothing left in the cassette answers {request.method} {request.uri}, and the "
                f"record mode {self.mode.value!r} asks no server",
                where=str(self.path),
                hint="Record it: mode 'new_episodes', or 'all' to record everything again.",
            )
        return None

    def record(self, request: Request) -> Tape:
        """Return the tape for the answer to a request that is sent now."""
        tape = Tape(request)
        with self._lock:
            self._tapes.append(tape)
        return tape

    @property
    def count(self) -> int:
        """How many responses were recorded so far."""
        return sum(tape.answered for tape in self._tapes)

    def cassette(self) -> Cassette:
        """Return what would be written now: scrubbed, identified, in the order of the requests.

        Raises:
            RecordingError: a response was too large to keep.
            UnscrubbedError: something secret cannot be replaced.
        """
        recorded = self._recorded()
        kept = self._kept(recorded)
        said = _with_labels(self._about, self._old) if self._old and kept else self._about
        source = self._hygiene.text(self._source(recorded), f"{self.path}: source")
        origin = Origin("recorded", said.by, _today(), source, said.licence)
        whole = Cassette(
            self.path.stem,
            (*kept, *recorded),
            origin,
            provider=said.provider or UNKNOWN,
            model=said.model or UNKNOWN,
            prompt=said.prompt or UNKNOWN,
        )
        told = whole.with_tools(said.tools).with_due(said.due)
        return identify(told.in_dialect(said.dialect or UNKNOWN))

    def save(self) -> None:
        """Write the cassette where anything was recorded; else leave the file as it is.

        Raises:
            RecordingError: as `cassette`.
        """
        if any(tape.answered for tape in self._tapes):
            cassette = self.cassette()
            check_labels(cassette, str(self.path))
            if cassette.interactions:  # filters may have left all of them out
                save(cassette, self.path)

    def _recorded(self) -> list[Interaction]:
        with self._lock:
            tapes = [tape for tape in self._tapes if tape.answered]
        if any(tape.overflowed for tape in tapes):
            raise RecordingError(
                "a response was too large to keep, so nothing is written", where=str(self.path)
            )
        filtered = (self._filters.interaction(tape.interaction()) for tape in tapes)
        return self._hygiene.cleaned([each for each in filtered if each], str(self.path))

    def _kept(self, recorded: Sequence[Interaction]) -> Sequence[Interaction]:
        """Return what stays of the old cassette: in mode `all` what was not recorded again."""
        old = self._old.interactions if self._old else ()
        if self.mode is not RecordMode.ALL:
            return old
        return [each for each in old if self._matching(each.request, recorded) is None]

    def _matching(self, request: Request, among: Sequence[Interaction]) -> int | None:
        """Return the place of the first that matches, both as they would be written."""
        cleaned = self._filters.request(request)
        if cleaned is None:
            return None
        sent = self._hygiene.request(cleaned)
        for place, each in enumerate(among):
            if not any(differs(sent, each.request) for differs in self._matchers.values()):
                return place
        return None

    def _source(self, recorded: Sequence[Interaction]) -> str:
        return self._about.source or (recorded[0].request.uri if recorded else "")


def _with_labels(said: About, old: Cassette) -> About:
    """Return what is said, and what `old` says of its interactions where nothing is."""
    open_ones = {name: getattr(old, name) for name in _LABELS if not getattr(said, name)}
    return msgspec.structs.replace(said, **open_ones)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
