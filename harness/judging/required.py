"""Find the capabilities that a subject requires of a normalizer in addition to its dialects.

A scenario names them. For a recording without a scenario, they come from its bytes: servers send
some streams only on request, and a client that never requests them is not judged on them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness.dialects.table import DIALECTS
from harness.turns.oracle_reading import OracleReading
from harness.wire.aws import AWS_CONTENT_TYPE, AWS_FIRST_BYTE
from harness.wire.interaction import Interaction

# Quirk that the bytes show -> the capability of clients that send such a request.
_REQUESTED: Final[Mapping[str, str]] = {
    "BED-EVENT-NAMES-AS-KEYS": "other-encodings",
    "BED-NOVA-INVOKE": "other-encodings",
    "GEM-FINISH-NUMBER": "other-encodings",
    "GEM-JSON-ARRAY": "other-encodings",
    "GEM-PARTIAL-ARGS": "partial-arguments",
    "GEM-SNAKE-CASE": "other-encodings",
    "GEM-WRAPPED": "other-encodings",
    "GINT-FIRST-VERSION": "other-encodings",
    "LEGACY-FUNCTION-CALL": "legacy-functions",
    "N-CHOICES": "several-choices",
    "RESP-CLIENT-ITEM": "client-actions",
    "RESP-CUSTOM-TOOL-CALL": "custom-tools",
    "RESP-NAMESPACE": "tool-namespaces",
    "RESP-REALTIME-EVENTS": "realtime-events",
}
# A server may send an error in its own form, whatever the request asked for.
_FIRST_ERROR_STATUS: Final = 400


def shown_capabilities(
    interactions: Iterable[Interaction], readings: Iterable[OracleReading]
) -> frozenset[str]:
    """Return the capabilities that the bytes of a recording require.

    Args:
        interactions: the interactions of a cassette.
        readings: the oracle's reading of each.
    """
    return frozenset(
        capability
        for interaction, reading in zip(interactions, readings, strict=True)
        for capability in _shown(interaction, reading)
    )


def _shown(interaction: Interaction, reading: OracleReading) -> Iterator[str]:
    if interaction.status < _FIRST_ERROR_STATUS:
        yield from (_REQUESTED[quirk] for quirk in reading.quirks if quirk in _REQUESTED)
        if reading.resumed:
            yield "resumed-streams"


def transport_capabilities(interactions: Iterable[Interaction]) -> frozenset[str]:
    """Return the capabilities that the transport of the interactions requires."""
    found = set()
    for interaction in interactions:
        found |= {"aws-framing"} if is_reframed(interaction) else set()
        found |= {"sessions"} if interaction.in_session else set()
    return frozenset(found)


def is_reframed(interaction: Interaction) -> bool:
    """Return whether AWS's binary framing replaces the framing of the API."""
    row = DIALECTS.get(interaction.dialect)
    is_own = row is not None and row.content_type == AWS_CONTENT_TYPE
    return interaction.body.startswith(AWS_FIRST_BYTE) and not is_own
