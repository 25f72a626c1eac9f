"""A cassette that is played, recorded, or both, as the record mode says.

Whoever carries requests (a transport, a proxy) asks `play` first and `record` where that has
no answer. The file is written when the block ends, whole or not at all, and only scrubbed.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from threading import Lock
from types import ModuleType, TracebackType
from typing import Any, Final, Self

import msgspec

from harness.errors import BlockedRequestError, RecordingError, UsageError
from harness.playback.matching import matchers
from harness.playback.transports import Answer, with_bases
from harness.providers import UNKNOWN
from harness.recording.identify import identify
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.recorder.transports import RecordingTransport
from harness.recording.recorder.vcrpy_filters import Filters
from harness.recording.secrets.scrubber import Scrubber, check_labels
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.cuts import split
from harness.wire.interaction import Due, Interaction, Request


class RecordMode(Enum):
    """What a recorder does with a request; the values are vcrpy's.

    Attributes:
        NONE: play only; a request that nothing recorded answers is an error.
        ONCE: record all where there is no cassette yet, else as `none`.
        NEW_EPISODES: play what is recorded, and record the rest.
        ANY: as `new_episodes`, as it is in vcrpy.
        ALL: play nothing and record all; what was recorded before is replaced where it
            matches, else kept.
    """

    NONE = "none"
    ONCE = "once"
    NEW_EPISODES = "new_episodes"
    ANY = "any"
    ALL = "all"


MODES: Final = tuple(mode.value for mode in RecordMode)

_FALSE_VALUES: Final = frozenset({"", "0", "false", "no"})


def record_mode(name: "str | RecordMode", *, allow_in_ci: bool = False) -> RecordMode:
    """Return the mode called `name`.

    Raises:
        UsageError: there is none of that name, or CI is set and the mode may record.
    """
    try:
        mode = RecordMode(name)
    except ValueError:
        raise UsageError(
            f"there is no record mode {name!r}", hint=f"Known: {', '.join(MODES)}."
        ) from None
    if mode is not RecordMode.NONE and in_ci() and not allow_in_ci:
        raise UsageError(
            f"CI is set, and the record mode {mode.value!r} may ask a live server",
            hint="Use the mode none there, or allow recording in CI explicitly.",
        )
    return mode


def in_ci() -> bool:
    """Whether the environment says that this is a CI job."""
    return os.environ.get("CI", "").lower() not in _FALSE_VALUES


DEFAULT_MATCH: Final = ("method", "path", "body")

# What both the user and a cassette say of interactions.
_LABELS: Final = ("provider", "model", "prompt", "dialect", "tools", "due")


class RecordingLabels(msgspec.Struct, frozen=True):
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
        scrub: Scrubber | None = None,
        about: RecordingLabels | None = None,
        filters: Mapping[str, object] | None = None,
        allow_in_ci: bool = False,
    ) -> None:
        self.path = Path(path)
        self.mode = record_mode(mode, allow_in_ci=allow_in_ci)
        self._hygiene = scrub or Scrubber()
        self._about = about or RecordingLabels()
        self._filters = Filters(filters or {})
        self._matchers = matchers(tuple(match_on))
        self._old = load_cassette(self.path) if self.path.exists() else None
        self._left = list(self._old.interactions if self._old else ())
        self._tapes: list[ResponseRecorder] = []
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

        def play(request: Request) -> Answer | None:
            answer = self.play(request)
            return (answer, split(answer.body, answer.recorded_cuts())) if answer else None

        kind = with_bases(library, RecordingTransport, "BaseTransport")
        return kind(library, play, self.record, inner)

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

    def record(self, request: Request) -> ResponseRecorder:
        """Return the tape for the answer to a request that is sent now."""
        tape = ResponseRecorder(request)
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
                save_cassette(cassette, self.path)

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


def _with_labels(said: RecordingLabels, old: Cassette) -> RecordingLabels:
    """Return what is said, and what `old` says of its interactions where nothing is."""
    open_ones = {name: getattr(old, name) for name in _LABELS if not getattr(said, name)}
    return msgspec.structs.replace(said, **open_ones)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def recorder_for_test(file: Path, test: str, mode: str, *, allow_in_ci: bool) -> Recorder:
    """Return the recorder of a test.

    Args:
        file: the test's file; its cassettes lie beside it.
        test: its name, with its parameters.
        mode: a record mode.
        allow_in_ci: record even where CI is set.

    Raises:
        UsageError: the mode is unknown or not allowed here.
    """
    name = _UNSAFE.sub("-", test).strip(".-") or "test"
    path = file.parent / "cassettes" / file.stem / f"{name}.yaml"
    return Recorder(path, mode=mode, allow_in_ci=allow_in_ci)
