"""Load the tables of the wire contract: what the streams of each API have, and who says so.

A table has a part by hand (documents, clients, order) and the members of the API's official
recordings, which `python -m scripts.contract_tables` counts. The level of a member follows from
both, so no level is written down.
"""

import re
from functools import cache, cached_property
from importlib import resources
from typing import Final, Literal, TypeAlias

import msgspec

from harness.errors import UsageError
from harness.files.typed import File, Text, convert
from harness.judging.contract.shape import Grammar, MemberCount
from harness.results.catalogue import Severity
from harness.results.finding import Level

# A MUST of a member rests on at least so many official streams, or on a client that was run.
ENOUGH_STREAMS: Final = 20
FOLDER: Final = "tables"
# The kind of the members that are headers of the response.
HEADERS: Final = "headers"
_TIMES: Final = re.compile(rb'"created(?:_at)?": ?(\d{10})')

Strength: TypeAlias = Literal["required", "shown", "profile"]
OrderRule: TypeAlias = Literal[
    "blocks",
    "numbered",
    "lifecycle",
    "filled",
    "agrees",
    "constant",
    "sum",
    "bare",
    "named",
    "from_zero",
    "paired",
    "listed",
]


class Document(File, frozen=True):
    """A published document that says which members an object has.

    Fields:
        url: its address.
        version: the version or date that was read.
        schema: the file of the OpenAPI document whose schemas were read; "" if read by hand.
        root: the schema of an event.
        needs: kind -> the members that the document requires, if it was read by hand.
        strength: `shown` if the document lists the members and requires none; `profile` if it
            counts only for those who judge by it.
    """

    url: Text
    version: Text
    schema: str = ""
    root: str = ""
    needs: dict[Text, tuple[Text, ...]] = {}  # noqa: RUF012 - a default of msgspec, which copies it
    strength: Strength = "required"


class Failure(File, frozen=True):
    """What a client does with a stream that lacks a member.

    Fields:
        client: the id that `--for` takes.
        version: the version that was run, or that the report names.
        members: the members, each as `KIND.MEMBER`.
        effect: what happens.
        source: the address of a public report; "" if the client was run.
    """

    client: Text
    version: Text
    members: tuple[Text, ...]
    effect: Text
    source: str = ""

    @property
    def name(self) -> str:
        """Client, version and effect, for a finding."""
        return f"{self.client} {self.version}: {self.effect}"


class Order(File, frozen=True):
    """A duty about the order of events, and about values that must agree.

    Fields:
        id: the id of the deviation: a quirk of the catalogue that the oracle may note, too, or an
            id of the table in lower case.
        rule: the check; `harness.judging.contract.order` describes each.
        title: the deviation, in a few words.
        send: what the server must send.
        level: the level of the duty.
        severity: what happens in a client that does not expect the deviation.
        opens, deltas, closes: the events of the rule.
        key: the member that names the block or has the number.
        also: further events that may come, or members that a rule needs.
        same: the quirks of the oracle that describe the same deviation.
        exclusive: blocks come one after the other.
        optional: a block may begin with a delta, and a stream with another event.
        clients: the clients that were run and fail, each with its version and what happens.
        by: the documents that require the order.
        sources: the addresses of public reports about clients that fail.
    """

    id: Text
    rule: OrderRule
    title: Text
    send: Text
    level: Level
    severity: Severity
    opens: tuple[Text, ...] = ()
    deltas: tuple[Text, ...] = ()
    closes: tuple[Text, ...] = ()
    key: str = ""
    also: tuple[Text, ...] = ()
    same: tuple[Text, ...] = ()
    exclusive: bool = False
    optional: bool = False
    clients: tuple[Text, ...] = ()
    by: tuple[Text, ...] = ()
    sources: tuple[Text, ...] = ()


class ValueRule(File, frozen=True):
    """What the value of a member may be, whatever the type; null is never judged here.

    Fields:
        members: the members, each as `KIND.MEMBER`.
        level: the level of the duty.
        send: what the server must send.
        one_of: the values that the API has; () for any.
        least, below: the range of a whole number, if `below` is not 0.
        filled: a text is not empty.
        pattern: the regular expression that a complete text matches; "" for any.
        absent: the value is null.
        unless: members that excuse the object that has them.
        clients, by, sources: what the duty rests on, as in `Order`.
    """

    members: tuple[Text, ...]
    level: Level
    send: Text
    one_of: tuple[str, ...] = ()
    least: int = 0
    below: int = 0
    filled: bool = False
    pattern: str = ""
    absent: bool = False
    unless: tuple[str, ...] = ()
    clients: tuple[Text, ...] = ()
    by: tuple[Text, ...] = ()
    sources: tuple[Text, ...] = ()

    def allows(self, value: object) -> bool:
        """Return whether a member may have this value."""
        if self.absent:
            return value is None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return True  # another type is another deviation
        if isinstance(value, str):
            is_one = value in self.one_of or not self.one_of
            fits = not self.pattern or re.fullmatch(self.pattern, value)
            return bool(value or not self.filled) and is_one and bool(fits)
        return not self.below or (value == int(value) and self.least <= value < self.below)


class Member(File, frozen=True):
    """A member of one kind of object, as the official recordings have it.

    Fields:
        type: the types of its values, such as `text|null`.
        seen: the streams in which each object has it, and the streams with such an object.
        by: the documents that list it.
    """

    type: Text
    seen: tuple[int, int] = (0, 0)
    by: tuple[Text, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The types of its values."""
        return tuple(self.type.split("|"))


class ContractTable(File, frozen=True, dict=True):
    """The wire contract of one API, of one date.

    Fields:
        dialect: the dialect of the API.
        date: the date of the count.
        official: the providers whose recordings were counted.
        older: the seconds since 1970 between which an earlier version of the API was in use. The
            members of a stream with such a time are not judged.
        types, opaque, events: the grammar of its events.
        starts: the events with which a stream may begin.
        content_types: the content types of its streams.
        other_versions: members that only events of another version of the API have.
        documents: id -> the document.
        failures: the clients that fail without a member.
        meaning: `KIND.MEMBER` -> what is unknown without it.
        quirks: `KIND.MEMBER` -> the quirk of the catalogue that describes its absence.
        orders: the duties about the order of events.
        values: the duties about values.
        headers: header -> its count in the recordings that have headers.
        members: kind -> member -> its count.
    """

    dialect: Text
    date: Text
    official: tuple[Text, ...]
    starts: tuple[Text, ...]
    content_types: tuple[Text, ...]
    documents: dict[Text, Document]
    older: tuple[int, int] = (0, 0)
    types: tuple[Text, ...] = ("type",)
    opaque: tuple[Text, ...] = ()
    other_versions: frozenset[str] = frozenset()
    events: tuple[Text, ...] = ()
    failures: tuple[Failure, ...] = ()
    meaning: dict[Text, Text] = {}  # noqa: RUF012 - a default of msgspec, which copies it
    quirks: dict[Text, Text] = {}  # noqa: RUF012 - as above
    orders: tuple[Order, ...] = ()
    values: tuple[ValueRule, ...] = ()
    headers: dict[Text, Member] = {}  # noqa: RUF012 - as above
    members: dict[Text, dict[Text, Member]] = {}  # noqa: RUF012 - as above

    @cached_property
    def grammar(self) -> Grammar:
        """How the events of the API name themselves and their objects."""
        return Grammar(self.types, frozenset(self.opaque), frozenset(self.events))

    @cached_property
    def _failures(self) -> dict[str, tuple[Failure, ...]]:
        found: dict[str, tuple[Failure, ...]] = {}
        for each in self.failures:
            for member in each.members:
                found[member] = (*found.get(member, ()), each)
        return found

    @cached_property
    def value_rules(self) -> dict[str, ValueRule]:
        """`KIND.MEMBER` -> the duty about its value."""
        return {member: each for each in self.values for member in each.members}

    def failures_without(self, kind: str, name: str) -> tuple[Failure, ...]:
        """Return the failures of clients in a stream whose objects of `kind` lack `name`."""
        return self._failures.get(f"{kind}.{name}", ())

    def level(self, kind: str, name: str) -> Level | None:
        """Return how strictly each object of `kind` must have the member; None if it may lack it.

        MUST: a document requires it or the meaning is lost without it, and each of at least 20
        official streams has it; or a client was run and fails. SHOULD: the same with fewer streams,
        or a public report. MAY: a document only shows it, or official streams lack it.
        """
        member = self.headers[name] if kind == HEADERS else self.members[kind][name]
        have, streams = member.seen
        strengths = {self.documents[each].strength for each in member.by} - {"profile"}
        required = "required" in strengths
        failures = self.failures_without(kind, name)
        if have < streams:
            return "MAY" if required and streams else None
        needed = required or f"{kind}.{name}" in self.meaning
        if (needed and streams >= ENOUGH_STREAMS) or any(not each.source for each in failures):
            return "MUST"
        if needed or failures:
            return "SHOULD"
        return "MAY" if strengths else None

    def is_older(self, body: bytes) -> bool:
        """Return whether a stream is of an earlier version of the API, by the times in it."""
        times = [int(each) for each in _TIMES.findall(body)]
        return bool(times) and self.older[0] <= max(times) < self.older[1]

    @cached_property
    def duties(self) -> dict[str, dict[str, Level]]:
        """Kind -> member -> its level, for each member that has one.

        An object without the member that names its type is not of the kind with the type.
        """
        return {
            kind: {
                name: level
                for name in row
                if not (":" in kind and name in self.types) and (level := self.level(kind, name))
            }
            for kind, row in self.members.items()
        }

    def urls(self, row: Order | ValueRule) -> tuple[str, ...]:
        """Return the addresses that a duty about order or values rests on."""
        return (*(self.documents[each].url for each in row.by), *row.sources)

    def counts(self) -> dict[str, dict[str, MemberCount]]:
        """Return the members as `count_members` returns those of recordings."""
        return {
            kind: {
                name: MemberCount(it.seen[1], it.seen[0], it.types)
                for name, it in row.items()
                if it.seen[1]
            }
            for kind, row in self.members.items()
        }


@cache
def load_tables() -> dict[str, ContractTable]:
    """Return the table of each API that has one, by dialect.

    Raises:
        UnreadableError: a table has an unknown or missing key, or a wrong value.
    """
    folder = resources.files(__package__).joinpath(FOLDER)
    files = sorted(folder.iterdir(), key=lambda it: it.name)
    tables = [parse_table(it.read_text(encoding="utf-8"), it.name) for it in files]
    return {table.dialect: table for table in tables}


def chosen_clients(given: str) -> tuple[str, ...]:
    """Return the clients in a list with commas.

    Raises:
        UsageError: no table says what breaks a client with this name.
    """
    tables = load_tables().values()
    named = [row.clients for each in tables for row in each.orders]
    named += [row.clients for each in tables for row in each.values]
    run = {it.partition(" ")[0] for clients in named for it in clients}
    known = sorted(run | {each.client for it in tables for each in it.failures})
    chosen = tuple(filter(None, (name.strip() for name in given.split(","))))
    for name in chosen:
        if name not in known:
            hint = f"Choose from: {', '.join(known)}."
            raise UsageError(f"no table lists client {name!r}", where="--for", hint=hint)
    return chosen


def parse_table(text: str, name: str) -> ContractTable:
    """Return the table in a TOML text.

    Raises:
        UnreadableError: the text has an unknown or missing key, or a wrong value.
    """
    return convert(msgspec.toml.decode(text), ContractTable, name)
