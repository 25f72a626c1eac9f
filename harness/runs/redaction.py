"""Remove secrets from results and cases, because runs and their reports are published.

A client under test may print its key in an error, and a recording of another tool may contain
secrets. The harness judges the original bytes, and removes secrets only from what it stores.
"""

import os
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from harness.errors import UnscrubbedError
from harness.judging.judge import LoadedSubject
from harness.recording.secrets.credentials import is_secret_name
from harness.recording.secrets.known import KnownSecrets, known_secrets
from harness.recording.secrets.scan import without_secrets
from harness.recording.secrets.scrubber import Scrubber
from harness.recording.secrets.values import is_mixed, is_placeholder
from harness.results.case import Case
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.results.store import encode_line
from harness.wire.cassette import Cassette
from harness.wire.frames import Frame
from harness.wire.interaction import Request

_SHORTEST: Final = 8
_Row = TypeVar("_Row", bound=msgspec.Struct)


def clean_rows(
    result: Result, case: AnyCase | None, requests: Iterable[Request] = ()
) -> tuple[Result, AnyCase | None]:
    """Return a result and its case without secrets; None for a case that must contain a secret.

    Args:
        result: the result of the cell.
        case: the case of the cell; None if it has none.
        requests: the requests of a recording, whose credentials are removed, too.

    Raises:
        UnscrubbedError: a secret in the result cannot be replaced, such as one in its id.
    """
    known = (*known_secrets(requests), *_of_environment())
    clean = _clean(result, result.cell, known)
    try:
        return clean, None if case is None else _clean_case(case, known)
    except UnscrubbedError:
        return clean, None


def clean_output(text: str) -> str:
    """Return the output of a client without secrets, or a note if a secret cannot be replaced."""
    if not text:
        return ""
    try:
        clean = without_secrets(text.encode(), "output of the client", _of_environment())
    except UnscrubbedError as error:
        return f"[left out: {error.what}]"
    return clean.decode("utf-8", "replace")


def loaded_without_secrets(loaded: LoadedSubject) -> LoadedSubject:
    """Return a subject with a cassette without secrets, which can be written to a file.

    Raises:
        UnscrubbedError: a secret of a recording cannot be replaced.
    """
    return replace(loaded, cassette=_clean_cassette(loaded.cassette))


def clean_if_possible(cassette: Cassette) -> Cassette:
    """Return the cassette without secrets, or unchanged if a secret cannot be replaced."""
    try:
        return _clean_cassette(cassette)
    except UnscrubbedError:
        return cassette


def _clean_cassette(cassette: Cassette) -> Cassette:
    """Return a recording without secrets. An emulated cassette is returned unchanged."""
    if cassette.origin.kind == "emulated":
        return cassette
    interactions = cassette.interactions
    headers = [name for each in interactions for name, _ in (*each.headers, *each.request.headers)]
    clean = Scrubber(headers).cleaned(interactions, cassette.id)
    return replace(cassette, interactions=tuple(clean))


def _clean_case(case: AnyCase, known: KnownSecrets) -> AnyCase:
    if not isinstance(case, Case):
        return _clean(case, case.cell, known)
    texts = _clean(replace(case, body=b"", frames=()), case.cell, known)
    body = without_secrets(case.body, case.cell, known)
    return replace(texts, body=body, frames=_clean_frames(case.frames, case.cell, known))


def _clean_frames(frames: tuple[Frame, ...], where: str, known: KnownSecrets) -> tuple[Frame, ...]:
    """Return the frames without secrets, including secrets that are split over several frames."""
    data = b"\n".join(frame.data for frame in frames)
    clean = without_secrets(data, where, known)
    if clean == data:
        return frames
    starts = accumulate((len(frame.data) + 1 for frame in frames), initial=0)
    return tuple(
        replace(frame, data=clean[start : start + len(frame.data)])
        for start, frame in zip(starts, frames, strict=False)
    )


def _clean(row: _Row, where: str, known: KnownSecrets) -> _Row:
    data = encode_line(row)  # type: ignore[arg-type]  # the rows of a run
    clean = without_secrets(data, where, known)
    return row if clean == data else msgspec.json.decode(clean, type=type(row))


@cache
def _of_environment() -> KnownSecrets:
    """Return the API keys in the environment as secrets, because clients may print them."""
    values = (value for name, value in os.environ.items() if is_secret_name(name))
    return known_secrets([], {value for value in values if _is_key(value)})


def _is_key(value: str) -> bool:
    is_path = value.startswith(("/", "~", "."))
    return len(value) >= _SHORTEST and is_mixed(value) and not (is_path or is_placeholder(value))
