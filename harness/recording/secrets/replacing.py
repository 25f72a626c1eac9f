"""Bytes with secrets -> bytes of the same length without them, or an error: it fails closed.

Each letter and digit of a secret becomes an `x`, in its own spelling, so that every offset,
read and escape stays true. Escapes that are no letters stay as they are.
"""

import re
from collections.abc import Sequence
from typing import Final

from harness.errors import UnscrubbedError
from harness.recording.secrets.detectors import Detector
from harness.recording.secrets.finding import FILL, Match, Scan, wrapped_matches
from harness.recording.secrets.views import JSON_ESCAPE

# What is replaced may show what it hid, such as an address that touched a key.
_MOST_ROUNDS: Final = 3


def without_secrets(
    body: bytes,
    where: str,
    known: Sequence[Detector] = (),
    escape: re.Pattern[str] = JSON_ESCAPE,
) -> bytes:
    """Return `body` with each secret replaced, in its length.

    Args:
        body: of a request or a response, or any text.
        where: for messages.
        known: detectors of values that are known to be secret.
        escape: how it spells characters that it may not hold.

    Raises:
        UnscrubbedError: one of them cannot be replaced.
    """
    wrapped = wrapped_matches(body, known)
    if wrapped:
        raise _refused(wrapped, where, "it stands inside an encoded message")
    changed = bytearray(body)
    for _ in range(_MOST_ROUNDS):
        scan = Scan(bytes(changed), escape)
        found = list(scan.matches(known))
        if not found:
            return bytes(changed)
        _check_copies(found, body, where)
        for match in found:
            for place in scan.replaceable(match):
                match.view.put(changed, place, FILL)
    left = list(Scan(bytes(changed), escape).matches(known))
    if left:
        raise _refused(left, where, "it comes back when it is replaced")
    return bytes(changed)


def _check_copies(found: Sequence[Match], body: bytes, where: str) -> None:
    """Refuse a split secret that stands a second time, token by token, beside its text."""
    split = [match for match in found if b"\n" in body[slice(*match.extent())]]
    if split and b'"logprobs":{' in body.replace(b" ", b""):
        raise _refused(split, where, "it is split over events that repeat it as tokens")


def _refused(found: Sequence[Match], where: str, why: str) -> UnscrubbedError:
    match = found[0]
    return UnscrubbedError(
        f"expected nothing secret, found {len(found)}, the first of kind {match.kind!r} in "
        f"{match.view.name}: {why}",
        where=where,
        hint="Nothing is written. Ask for something without it, or leave the interaction out.",
    )
