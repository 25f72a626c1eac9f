"""Find where one stream of a server or a gateway violates the contract of its API.

The oracle notes what deviates in meaning, and the table of the API lists the members and orders.
What the request or the status explains is not a deviation. If a gateway passes on a deviation of
its upstream, the deviation is inherited, and any other is its own.
"""

from collections.abc import Iterator
from typing import Final

from harness.dialects.table import known_tools, oracle_reading
from harness.judging.contract.judge import ContractFinding, judge_stream
from harness.judging.turn_duties import turn_deviations
from harness.judging.unusable import argument_deviations
from harness.results.finding import Level
from harness.results.server_duties import load_server_duties
from harness.turns.oracle_reading import Deviation
from harness.wire.interaction import SWITCHING_PROTOCOLS, Interaction

_NO_STREAM: Final = "JSON-FOR-STREAM"
# What one document does not have, whatever was requested.
_OF_STREAMS: Final = frozenset(("NDJSON-NO-FINAL-NEWLINE", "SSE-DONE-MISSING"))
_FIRST_ERROR_STATUS: Final = 400
# The one deviation of a response with an error status, whose body is not a stream.
_OF_ERRORS: Final = "HTTP-HTML-BODY"


def contract_deviations(
    interaction: Interaction,
    asked_for_stream: bool | None,  # noqa: FBT001 - what the request says
) -> Iterator[ContractFinding]:
    """Yield the duties that a stream does not keep: first of its meaning, then of the table.

    A duty of the catalogue has no title; its quirk has one.

    Args:
        interaction: the stream.
        asked_for_stream: whether the request asked for a stream; None if that is not known.
    """
    deviations = _of_meaning(interaction, asked_for_stream=asked_for_stream)
    is_stream = not no_stream_reason(interaction, asked_for_stream)
    by_table = judge_stream(interaction) if is_stream else ()
    clients = {each.duty: each.clients for each in by_table}
    for each in deviations:
        duty = load_server_duties()[each.quirk]
        yield ContractFinding(
            each.quirk,
            duty.level_in(interaction.dialect, ambiguous=each.ambiguous),
            duty.title,
            duty.severity,
            duty.send,
            each.offset,
            clients.get(each.quirk, ()),
            duty.sources,
            ambiguous=each.ambiguous,
        )
    noted = {each.quirk for each in deviations}
    yield from (it for it in by_table if noted.isdisjoint((it.duty, *it.same)))


def no_stream_reason(
    interaction: Interaction,
    asked_for_stream: bool | None,  # noqa: FBT001 - as above
) -> str:
    """Return why the table of its API does not describe a response; "" if it is a stream."""
    if interaction.status >= _FIRST_ERROR_STATUS:
        return f"the status is {interaction.status}"
    if asked_for_stream is False and interaction.status != SWITCHING_PROTOCOLS:
        return "the request does not ask for a stream"
    is_document = _NO_STREAM in oracle_reading(interaction).quirks
    return "the response is one JSON document" if is_document else ""


def _of_meaning(interaction: Interaction, *, asked_for_stream: bool | None) -> list[Deviation]:
    """Return the deviations from the meaning that neither request nor status explains."""
    reading = oracle_reading(interaction)
    if interaction.status >= _FIRST_ERROR_STATUS:
        return [each for each in reading.deviations if each.quirk == _OF_ERRORS]
    allowed = set(_OF_STREAMS) if _NO_STREAM in reading.quirks else set()
    if asked_for_stream is False:
        allowed.add(_NO_STREAM)
    found = [*reading.deviations, *argument_deviations(reading, known_tools(interaction))]
    noted = {each.quirk for each in found}
    for each in turn_deviations(interaction, reading):
        if each.quirk not in noted:
            noted.add(each.quirk)
            found.append(each)
    duties = load_server_duties()
    return [
        each
        for each in found
        if each.quirk not in allowed and not duties[each.quirk].is_explained(interaction)
    ]


def own_deviations(
    answer: Interaction, upstream: Interaction, level: Level
) -> tuple[ContractFinding, ...]:
    """Return each deviation of `level` in the answer of a gateway that its upstream does not have.

    It is () if the stream of the upstream itself violates a MUST: what becomes of that is not the
    gateway's own.

    Args:
        answer: the answer of the gateway to a request for a stream.
        upstream: the response that the gateway got.
        level: the level of the server's duty.
    """
    came = tuple(contract_deviations(upstream, asked_for_stream=None))
    if any(each.level == "MUST" for each in came):
        return ()
    inherited = {each.duty for each in came}
    inherited |= {each.quirk for each in oracle_reading(upstream).deviations}
    found: dict[str, ContractFinding] = {}
    for each in contract_deviations(answer, asked_for_stream=True):
        if each.level == level and each.duty not in inherited:
            found.setdefault(each.duty, each)
    return tuple(found.values())
