"""Record while a client streams: play a cassette, record into it, or both.

    with Recorder("cassettes/a.yaml", mode="once") as recorder:
        client = httpx.Client(transport=recorder.transport(httpx))

A transport or a proxy calls `play` first, and `record` if the cassette has no answer. Each read is
passed to the client at once. The file is written when the block ends, completely or not at all, and
without secrets. An exchange of OAuth tokens is not written.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final, Self

import msgspec

from harness.errors import BlockedRequestError, RecordingError, UsageError
from harness.playback.matching import matchers
from harness.playback.transports import Answer, with_bases
from harness.providers import UNKNOWN
from harness.recording.detect import token_exchange_reason
from harness.recording.identify import identify
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.recorder.transports import RecordingTransport
from harness.recording.recorder.vcrpy_filters import Filters
from harness.recording.secrets.credentials import scrub_address
from harness.recording.secrets.scrubber import Scrubber, check_labels
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette, save_cassette
from harness.wire.cuts import split
from harness.wire.interaction import Due, Interaction, Request


class RecordMode(Enum):
    """The record modes of vcrpy.

    `none` is the default. In CI no other mode is allowed unless the user allows it, because a test
    that records there would connect to a live server unnoticed.

    Attributes:
        NONE: play only; a request without a recorded answer is an error.
        ONCE: record all requests if there is no cassette yet, else as `none`.
        NEW_EPISODES: play recorded answers, and record all other requests.
        ANY: the same as `new_episodes`, as in vcrpy.
        ALL: play nothing and record all requests; a recorded interaction is replaced if it
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
        UsageError: the mode is unknown, or CI is set and the mode may record.
    """
    try:
        mode = RecordMode(name)
    except ValueError:
        raise UsageError(
            f"unknown record mode {name!r}", hint=f"Choose one of: {', '.join(MODES)}."
        ) from None
    if mode is not RecordMode.NONE and in_ci() and not allow_in_ci:
        raise UsageError(
            f"CI is set, and the record mode {mode.value!r} may connect to a live server",
            hint="Use the mode none in CI, or allow recording in CI explicitly.",
        )
    return mode


def in_ci() -> bool:
    """Whether the environment variable CI is set."""
    return os.environ.get("CI", "").lower() not in _FALSE_VALUES


DEFAULT_MATCH: Final = ("method", "path", "body")

# Labels that both the user and a cassette may set.
_LABELS: Final = ("provider", "model", "prompt", "dialect", "tools", "due")


class RecordingLabels(msgspec.Struct, frozen=True):
    """The user's labels for a recording.

    An empty label is taken from the cassette if some of its interactions are kept, and otherwise
    detected from the traffic.

    Fields:
        source: the server and its version, for `origin.source`; by default its address.
        tools: tools that the prompt describes, as `Interaction.tools`.
        due: the expected kind of answer, as `Interaction.due`.
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
        scrubber: removes secrets and headers; by default `Scrubber()`.
        labels: of the recording.
        filters: options of vcrpy for requests and responses, such as `filter_headers`,
            `before_record_request`; needs vcrpy.
        allow_in_ci: record even if CI is set.

    Raises:
        UsageError: an unknown mode, matcher or filter, or a mode that is not allowed in CI.
        UnreadableError: the cassette exists and is damaged.
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
    ) -> None:
        self.path = Path(path)
        self.mode = record_mode(mode, allow_in_ci=allow_in_ci)
        self._scrubber = scrubber or Scrubber()
        self._labels = labels or RecordingLabels()
        self._filters = Filters(filters or {})
        self._matchers = matchers(tuple(match_on))
        self._old = load_cassette(self.path) if self.path.exists() else None
        self._left = list(self._old.interactions if self._old else ())
        self._responses: list[ResponseRecorder] = []
        self._lock = Lock()
        self.skipped = 0  # exchanges of OAuth tokens, known once the cassette is made

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
        if self.mode is RecordMode.NONE or (self.mode is RecordMode.ONCE and self._old):
            shown = f"{request.method} {scrub_address(request.uri)}"
            raise BlockedRequestError(
                f"no unplayed interaction answers {shown}, and the record "
                f"mode {self.mode.value!r} sends no requests",
                where=str(self.path),
                hint="Record it: mode 'new_episodes', or 'all' to record everything again.",
            )
        return None

    def record(self, request: Request) -> ResponseRecorder:
        """Return a new recorder for the response to a request that is sent now."""
        recorder = ResponseRecorder(request)
        with self._lock:
            self._responses.append(recorder)
        return recorder

    @property
    def count(self) -> int:
        """The number of responses recorded so far."""
        return sum(each.answered for each in self._responses)

    def cassette(self) -> Cassette:
        """Return the cassette as it would be written now, without secrets, in request order.

        Raises:
            RecordingError: a response is too large.
            UnscrubbedError: a secret cannot be replaced.
        """
        recorded = self._recorded()
        kept = self._kept(recorded)
        labels = _with_labels(self._labels, self._old) if self._old and kept else self._labels
        named = labels.source or (recorded[0].request.uri if recorded else "")
        source = self._scrubber.text(named, f"{self.path}: source")
        today = datetime.now(UTC).date().isoformat()
        origin = Origin("recorded", labels.by, today, source, labels.licence)
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

    def save(self) -> None:
        """Write the cassette if a response was recorded; else leave the file unchanged.

        Raises:
            RecordingError: as `cassette`.
        """
        if any(each.answered for each in self._responses):
            cassette = self.cassette()
            check_labels(cassette, str(self.path))
            if cassette.interactions:  # filters may leave out all of them
                save_cassette(cassette, self.path)

    def _recorded(self) -> list[Interaction]:
        with self._lock:
            found = [each for each in self._responses if each.answered]
        if any(each.overflowed for each in found):
            raise RecordingError(
                "a response is too large, so no file was written", where=str(self.path)
            )
        filtered = [self._filters.interaction(each.interaction()) for each in found]
        kept = [each for each in filtered if each and not token_exchange_reason(each)]
        self.skipped = sum(1 for each in filtered if each) - len(kept)
        return self._scrubber.cleaned(kept, str(self.path))

    def _kept(self, recorded: Sequence[Interaction]) -> Sequence[Interaction]:
        """Return the old interactions to keep: in mode `all`, those not recorded again."""
        old = self._old.interactions if self._old else ()
        if self.mode is not RecordMode.ALL:
            return old
        return [each for each in old if self._matching(each.request, recorded) is None]

    def _matching(self, request: Request, among: Sequence[Interaction]) -> int | None:
        """Return the index of the first match of the requests as they would be written."""
        cleaned = self._filters.request(request)
        if cleaned is None:
            return None
        sent = self._scrubber.request(cleaned)
        for index, each in enumerate(among):
            if not any(differs(sent, each.request) for differs in self._matchers.values()):
                return index
        return None


def _with_labels(labels: RecordingLabels, old: Cassette) -> RecordingLabels:
    """Return the labels, and those of `old` for empty ones."""
    missing = {name: getattr(old, name) for name in _LABELS if not getattr(labels, name)}
    return msgspec.structs.replace(labels, **missing)


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def recorder_for_test(file: Path, test: str, mode: str, *, allow_in_ci: bool) -> Recorder:
    """Return the recorder of a test.

    Args:
        file: the test's file; the folder of its cassettes is next to it.
        test: its name, with its parameters.
        mode: a record mode.
        allow_in_ci: record even if CI is set.

    Raises:
        UsageError: the mode is unknown or not allowed in CI.
    """
    name = _UNSAFE.sub("-", test).strip(".-") or "test"
    path = file.parent / "cassettes" / file.stem / f"{name}.yaml"
    return Recorder(path, mode=mode, allow_in_ci=allow_in_ci)
