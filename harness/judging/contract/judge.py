"""Judge one stream by the table of its API: members, order, status and content type."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from harness.judging.contract.order import order_offset
from harness.judging.contract.shape import (
    CHUNK,
    Part,
    is_invoked,
    iter_events,
    iter_parts,
    type_name,
)
from harness.judging.contract.table import (
    ENOUGH_STREAMS,
    HEADERS,
    ContractTable,
    Failure,
    load_tables,
)
from harness.results.catalogue import Severity
from harness.results.finding import Level
from harness.turns.exact_json import write_exactly
from harness.wire.interaction import SWITCHING_PROTOCOLS, Interaction

_OK: Final = 200
_SHOWN: Final = 40
_CONTENT_TYPE: Final = "content-type"


class ContractFinding(msgspec.Struct, frozen=True):
    """One duty of a table that a stream does not keep.

    Fields:
        duty: the id of the duty: a quirk, an order of the table, or `KIND.MEMBER`.
        title: the deviation, in a few words.
        send: what the server must send instead, and what the duty rests on.
        offset: the offset of the first event that deviates.
        clients: the clients that are known to fail, each with its version and what happens.
        sources: the addresses of the documents and reports.
        same: the quirks that describe the same deviation, if an oracle noted one of them.
        ambiguous: whether it is unclear what the calls are or how the turn ended.
    """

    duty: str
    level: Level
    title: str
    severity: Severity
    send: str
    offset: int
    clients: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    ambiguous: bool = False


def judge_stream(interaction: Interaction) -> tuple[ContractFinding, ...]:
    """Return the duties that a stream does not keep, in the order of its bytes.

    The result is () if the API has no table. The stream must be a response with status 200.
    """
    table = load_tables().get(interaction.dialect)
    if table is None:
        return ()
    events, unjudged = _judged_events(interaction, table)
    if not events:
        return ()
    members = () if unjudged else _members(events, table)
    found: dict[str, ContractFinding] = {}
    values = () if unjudged else _values(events, table)
    heads = (*_orders(events, interaction, table), *_head(interaction, table))
    for each in (*heads, *members, *values):
        found.setdefault(each.duty, each)
    return tuple(sorted(found.values(), key=lambda it: it.offset))


def members_unjudged(interaction: Interaction) -> str:
    """Return why the table of the API does not judge the members of a stream; "" if it does.

    An API without a table is not asked here.
    """
    table = load_tables().get(interaction.dialect)
    return _judged_events(interaction, table)[1] if table else ""


def _judged_events(interaction: Interaction, table: ContractTable) -> tuple[list[Part], str]:
    """Return the events that the table judges, and why it does not judge their members, or ""."""
    events = [each for each in iter_events(interaction, table.grammar) if not _is_error(each)]
    if {event.kind for event in events}.isdisjoint((*table.members, CHUNK)):
        return [], "no event is in the table"  # another API, such as Realtime, or only errors
    if any(not table.other_versions.isdisjoint(event.value) for event in events):
        return [], "the events are of another version of the API"
    if table.events and is_invoked(interaction):
        return events, "the API is `InvokeModelWithResponseStream`"
    older = "the times are of an earlier version of the API"
    return events, older if table.is_older(interaction.body) else ""


def _is_error(event: Part) -> bool:
    """Return whether a chunk is the error of a gateway, which has the members of no chunk."""
    return event.kind == CHUNK and bool(event.value.get("error"))


def _orders(
    events: list[Part], interaction: Interaction, table: ContractTable
) -> Iterator[ContractFinding]:
    for order in table.orders:
        offset = order_offset(order, events, interaction, table.grammar)
        if offset is not None:
            yield ContractFinding(
                order.id, order.level, order.title, order.severity, order.send, offset,
                clients=order.clients, sources=table.urls(order), same=order.same,
            )  # fmt: skip


def _head(interaction: Interaction, table: ContractTable) -> Iterator[ContractFinding]:
    given = [value for name, value in interaction.headers if name.lower() == _CONTENT_TYPE]
    level = table.level(HEADERS, _CONTENT_TYPE)
    kind = given[0].partition(";")[0].strip().lower() if given else ""
    if interaction.headers and level and kind not in table.content_types:
        title = "The stream has no content type"
        if given:
            title = f"The content type of the stream is `{given[0]}`"
        kinds = " or ".join(f"`{each}`" for each in table.content_types)
        member = table.headers[_CONTENT_TYPE]
        have, streams = member.seen
        yield ContractFinding(
            "content-type", level, title, "lost call",
            f"Send the header `content-type: {kinds}`: {have} of {streams} official streams have "
            "it. Clients choose the decoder by it, or refuse others.",
            0,
            tuple(each.name for each in table.failures_without(HEADERS, _CONTENT_TYPE)),
            tuple(table.documents[each].url for each in member.by),
        )  # fmt: skip
    if interaction.status not in (_OK, SWITCHING_PROTOCOLS):
        failures = table.failures_without(HEADERS, "status")
        title = f"The status of the stream is {interaction.status}"
        yield ContractFinding(
            "status", "MUST" if failures else "SHOULD", title, "crash", "Send the status 200.", 0,
            tuple(each.name for each in failures), tuple(it.url for it in table.documents.values()),
        )  # fmt: skip


def _members(events: Iterable[Part], table: ContractTable) -> Iterator[ContractFinding]:
    """Yield a finding for each kind of object and member, the first time that it is missing."""
    reported: set[tuple[str, str]] = set()
    for event in events:
        if event.kind not in table.members and _names_events(table):
            yield from _untyped(event, table)
        for part in iter_parts(event, table.grammar):
            for name, level in table.duties.get(part.kind, {}).items():
                if (part.kind, name) in reported or _is_of_base(part.kind, name, table):
                    continue
                title = _member_title(part, name, table)
                if title:
                    reported.add((part.kind, name))
                    is_absent = part.value.get(name) is None
                    least = level if level != "MAY" or is_absent else "SHOULD"
                    yield _member_finding(part, name, least, title, table)
            for name, title in _optional_types(part, table):
                if (part.kind, name) not in reported:
                    reported.add((part.kind, name))
                    yield _member_finding(part, name, "SHOULD", title, table)


def _optional_types(part: Part, table: ContractTable) -> Iterator[tuple[str, str]]:
    """Yield each member that may be absent and has a type that no official stream has.

    Null is not judged, because servers write it for an absent member.
    """
    row, duties = table.members.get(part.kind, {}), table.duties.get(part.kind, {})
    for name in row.keys() & part.value.keys() - duties.keys():
        is_counted = row[name].seen[1] >= ENOUGH_STREAMS and not _is_of_base(part.kind, name, table)
        is_judged = is_counted and part.value[name] is not None
        if is_judged and (title := _member_title(part, name, table)):
            yield name, title


def _values(events: Iterable[Part], table: ContractTable) -> Iterator[ContractFinding]:
    """Yield a finding for each value that its member cannot have in the API."""
    for event in events if table.values else ():
        for part in iter_parts(event, table.grammar):
            for name, value in part.value.items():
                rule = table.value_rules.get(f"{part.kind}.{name}")
                if rule is None or not part.value.keys().isdisjoint(rule.unless):
                    continue
                if not rule.allows(value):
                    title = f"`{name}` of `{part.kind}` is {write_exactly(value)[:_SHOWN]}"
                    yield ContractFinding(
                        f"{part.kind}.{name}", rule.level, title, "crash", rule.send, part.offset,
                        rule.clients, table.urls(rule),
                    )  # fmt: skip


def _names_events(table: ContractTable) -> bool:
    """Return whether each event of the API has a member with its type."""
    return bool(table.types) and not table.events and CHUNK not in table.starts


def _untyped(event: Part, table: ContractTable) -> Iterator[ContractFinding]:
    if event.kind == CHUNK or not any(name in event.value for name in table.types):
        name = table.types[-1]
        title = f"An event has no `{name}`"
        send = f"Send `{name}` in each event. It says what the event is."
        sources = tuple(it.url for it in table.documents.values())
        yield ContractFinding(
            f"event.{name}", "MUST", title, "lost call", send, event.offset, sources=sources,
            same=("SSE-TYPE-IN-NAME-ONLY",),
        )  # fmt: skip


def _is_of_base(kind: str, name: str, table: ContractTable) -> bool:
    """Return whether the kind without its type already has the duty."""
    base = kind.rpartition(":")[0]
    return bool(base) and name in table.duties.get(base, {})


def _member_title(part: Part, name: str, table: ContractTable) -> str:
    """Return what is wrong with a member of an object; "" if nothing is."""
    types = table.members[part.kind][name].types
    if name not in part.value:
        return f"`{name}` is missing in `{part.kind}`"
    given = type_name(part.value[name])
    return (
        "" if given in types else f"`{name}` of `{part.kind}` is {given}, not {' or '.join(types)}"
    )


def _member_finding(
    part: Part, name: str, level: Level, title: str, table: ContractTable
) -> ContractFinding:
    member = table.members[part.kind][name]
    path = f"{part.kind}.{name}"
    failures = table.failures_without(part.kind, name)
    lost = table.meaning.get(path)
    have, streams = member.seen
    reasons = [f"{have} of {streams} official streams have it"]
    reasons += [_citation(each, table) for each in member.by]
    reasons += [f"without it, {lost} is unknown"] if lost else []
    send = (
        f"Send `{name}` ({' or '.join(member.types)}) in each `{part.kind}`: {', '.join(reasons)}."
    )
    reports = (each.source for each in failures if each.source)
    return ContractFinding(
        table.quirks.get(path, path),
        level,
        title,
        _severity(failures, lost),
        send,
        part.offset,
        tuple(each.name for each in failures),
        (*(table.documents[each].url for each in member.by), *reports),
    )


def _citation(document: str, table: ContractTable) -> str:
    verb = "shows" if table.documents[document].strength == "shown" else "requires"
    return f"{document} {verb} it"


def _severity(failures: tuple[Failure, ...], lost: str | None) -> Severity:
    if lost:
        return "lost call"
    return "crash" if failures else "cosmetic"
