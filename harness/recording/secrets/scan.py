"""Find secrets in bytes, also if they are escaped or split over events, and replace them.

Recording replaces what it finds, `harness audit` and `harness doctor` report it. A replaced
body has the same length: each letter and digit of a secret becomes an `x`, in its own encoding,
so that offsets, reads and escapes stay valid. If a secret cannot be replaced, that is an error.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

import msgspec

from harness.errors import StreamError, UnscrubbedError
from harness.recording.secrets.detectors import FILL, Detector, likely_detectors
from harness.recording.secrets.segments import CONTEXT, Source, Window, joined_sources
from harness.recording.secrets.views import JSON_ESCAPE, URL_ESCAPE, View, unescaped_views
from harness.wire.framing import iter_frames

# How much more context a segment gets if a secret is longer than it.
_TIMES: Final = 8


class Secret(msgspec.Struct, frozen=True):
    """The location of a secret, without the secret itself, because this is printed.

    Fields:
        kind: one of `detectors.KINDS`.
        offset: the offset of its first byte in the body.
        size: the number of characters of the secret.
        where: the text in which it was found, such as the body itself or joined events.
    """

    kind: str
    offset: int
    size: int
    where: str


class Match(msgspec.Struct, frozen=True):
    """A secret in one view (a text that a reader can see in a body), with its start and end."""

    view: View
    kind: str
    start: int
    end: int
    fill: str = FILL

    def extent(self) -> tuple[int, int]:
        """Return the offsets of the secret's first and last byte in the body."""
        *_, last = self.view.bytes_of(self.end - 1)
        return next(self.view.bytes_of(self.start)), last


def secrets_in(
    body: bytes, known: Sequence[Detector] = (), escape: re.Pattern[str] = JSON_ESCAPE
) -> tuple[Secret, ...]:
    """Return the secrets in `body`, one for each offset, in order.

    Args:
        body: the body of a request or a response, or any text.
        known: detectors of known secrets.
        escape: pattern of the escapes in the body.
    """
    found: dict[int, Secret] = {}
    for match in chain(Scan(body, escape).matches(known), wrapped_matches(body, known)):
        offset, _ = match.extent()
        size = match.end - match.start
        found.setdefault(offset, Secret(match.kind, offset, size, match.view.name))
    return tuple(found[offset] for offset in sorted(found))


class Scan:
    """Searches one body in all its views: the bytes, decoded escapes, and joined events.

    Args:
        body: the body of a request or a response, or any text.
        escape: pattern of the escapes in the body.
    """

    def __init__(self, body: bytes, escape: re.Pattern[str] = JSON_ESCAPE) -> None:
        self._body = body
        self._escape = escape

    def views(self) -> Iterator[View]:
        """Yield the texts that a reader can see in the body, one segment after the other."""
        for source in self._sources():
            for segment in source.segments():
                yield from self._views_of(segment)

    def matches(self, known: Sequence[Detector] = ()) -> Iterator[Match]:
        """Yield the secrets in each view, without those that are replaced already."""
        for source in self._sources():
            for window in source.windows():
                yield from self._matches_in(source, window, known)

    def _matches_in(
        self, source: Source, window: Window, known: Sequence[Detector]
    ) -> Iterator[Match]:
        """Yield the secrets of a segment; with more context if one is longer than the context."""
        context = CONTEXT
        while True:
            segment = source.segment(window, context)
            found = [m for view in self._views_of(segment) for m in self._matches_of(view, known)]
            is_cut = any(match.end == len(match.view.text) for match in found)
            if not is_cut or source.is_complete(window, context):
                break
            context *= _TIMES
        yield from (match for match in found if self._is_left(match))

    def _matches_of(self, view: View, known: Sequence[Detector]) -> Iterator[Match]:
        for detector in likely_detectors(view.text, known):
            for start, end in detector.find(view.text):
                if view.owns(start):
                    yield Match(view, detector.kind, start, end, detector.fill)

    def _is_left(self, match: Match) -> bool:
        """Whether a secret is not replaced already."""
        return any(match.view.text[index] != match.fill for index in self.replaceable(match))

    def _sources(self) -> Iterator[Source]:
        yield Source.of(self._body)
        yield from joined_sources(self._body)

    def _views_of(self, segment: View) -> Iterator[View]:
        decoded = [*unescaped_views(segment, self._escape)]
        yield from decoded
        if self._escape is not URL_ESCAPE:
            for view in decoded:
                yield from view.unquoted()

    def replaceable(self, match: Match) -> Iterator[int]:
        """Yield the indexes of a secret's letters and digits that are not part of an escape."""
        view = match.view
        for index in range(match.start, match.end):
            char = view.text[index]
            if char.isascii() and not char.isalnum():
                continue
            if view.is_escape(index) or not any(
                map(self._protected.__getitem__, view.bytes_of(index))
            ):
                yield index

    @cached_property
    def _protected(self) -> bytearray:
        """A mark for each byte of an escape, which a parser needs: the `n` of a newline is one."""
        marks = bytearray(len(self._body))
        for source in self._sources():
            for segment in source.segments():
                for view in unescaped_views(segment, self._escape):
                    for index in view.escapes():
                        for offset in view.bytes_of(index):
                            marks[offset] = 1
        return marks


def wrapped_matches(body: bytes, known: Sequence[Detector]) -> list[Match]:
    """Return the secrets that are in base64, or in messages with checksums, such as AWS messages.

    Their indexes refer to the joined events, and they cannot be replaced.
    """
    if not body.startswith(b"\0"):
        return []
    inner = b"\n".join(_payloads(body))
    return list(Scan(inner).matches(known))


def _payloads(body: bytes) -> Iterator[bytes]:
    try:
        for frame in iter_frames([body]):
            yield frame.data
    except StreamError:
        return


_LOGPROBS: Final = re.compile(rb'" *l *o *g *p *r *o *b *s *" *: *\{')

# A replacement may reveal another secret, such as an address next to a key.
_MOST_ROUNDS: Final = 3


def without_secrets(
    body: bytes,
    where: str,
    known: Sequence[Detector] = (),
    escape: re.Pattern[str] = JSON_ESCAPE,
) -> bytes:
    """Return `body` with each secret replaced, with the same length.

    Args:
        body: the body of a request or a response, or any text.
        where: the location, for error messages.
        known: detectors of known secrets.
        escape: pattern of the escapes in the body.

    Raises:
        UnscrubbedError: a secret cannot be replaced.
    """
    wrapped = wrapped_matches(body, known)
    if wrapped:
        raise _refused(wrapped, where, "it is inside an encoded message")
    clean = body
    for _ in range(_MOST_ROUNDS):
        replaced = _with_replacements(clean, where, known, escape)
        if replaced is None:
            return clean
        clean = replaced
    left = list(Scan(clean, escape).matches(known))
    if left:
        raise _refused(left, where, "its replacement is found again")
    return clean


def _with_replacements(
    body: bytes, where: str, known: Sequence[Detector], escape: re.Pattern[str]
) -> bytes | None:
    """Return `body` with the secrets replaced that are found in it; None if none is found."""
    scan = Scan(body, escape)
    # Token data next to the text repeats a secret that is split over events.
    repeats_tokens = _LOGPROBS.search(body) is not None
    split: list[Match] = []
    changed = bytearray()
    for match in scan.matches(known):
        changed = changed or bytearray(body)
        if repeats_tokens and b"\n" in body[slice(*match.extent())]:
            split.append(match)
        for index in scan.replaceable(match):
            match.view.put(changed, index, match.fill)
    if split:
        raise _refused(split, where, "it is split over events that repeat it as tokens")
    return bytes(changed) or None


def _refused(found: Sequence[Match], where: str, why: str) -> UnscrubbedError:
    match = found[0]
    return UnscrubbedError(
        f"expected no secrets, found {len(found)}, the first of kind {match.kind!r} in "
        f"{match.view.name}: {why}",
        where=where,
        hint="It was not written. Send a request without it, or leave the interaction out.",
    )
