"""Load the duties that rules check: a level, a source and a reason for each rule.

A duty is what a client must do. It depends on the kind of the client and on the stream, so the
level of a rule can differ by both. The duties are in `duties.toml`.
"""

from functools import cache
from importlib import resources
from typing import Annotated, Final, Literal

import msgspec

from harness.files.typed import File, Text, convert
from harness.project import ClientKind
from harness.results.finding import Came, Level

About = Literal["turns", "conversation", "cost", "time"]
KINDS: Final[dict[About, tuple[ClientKind, ...]]] = {
    "turns": ("sdk", "gateway"),
    "conversation": ("agent",),
    "cost": ("sdk", "gateway"),
    "time": ("sdk", "gateway"),
}

_Sources = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


# What lowers the level of every rule from MUST to SHOULD, and why.
_LOWERED: Final[dict[Came, str]] = {
    "undocumented": "The stream has a form that the API does not document. The client says so, and "
    "hands over no wrong call.",
    "unsent": "No server is known to send this form.",
}


class Ruling(File, frozen=True):
    """How a rule applies to one kind of client and one kind of stream.

    Fields:
        level: MUST findings decide the outcome, SHOULD findings are shown and counted, and MAY
            findings are not failures.
        source: URLs of specifications, API references and issues, and ids of quirks.
        kind: the kind of client to which this applies; "" for every kind.
        came: what the stream must have contained, a value of `Came`; "" for anything.
        because: why the level differs from the default of the rule; "" for the default.
    """

    level: Level
    source: _Sources
    kind: ClientKind | Literal[""] = ""
    came: Came = ""
    because: str = ""

    def fits(self, kind: ClientKind, came: Came) -> bool:
        """Return whether this applies to a client of `kind` if the stream contained `came`."""
        return self.kind in ("", kind) and self.came in ("", came)


class Duty(File, frozen=True):
    """What a rule requires of a client, with its reason, sources and levels.

    Fields:
        duty: what the client must do, in one sentence.
        why: what happens to an agent otherwise, in one sentence.
        about: what the rule judges: turns, a conversation, cost, or time.
        fault: what a client does that violates the rule, as the end of a sentence.
        source, level: as in `Ruling`, for clients and streams without an exception.
        quirks: ids of quirks that the rule is about.
        exceptions: other levels for kinds of clients or streams. The first that fits applies.
    """

    about: About
    title: Text
    duty: Text
    why: Text
    source: _Sources
    level: Level = "MUST"
    fault: str = ""
    quirks: tuple[Text, ...] = ()
    exceptions: tuple[Ruling, ...] = ()

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """The ruling with the default level, and then the exceptions."""
        return (Ruling(self.level, self.source), *self.exceptions)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the default and of all exceptions, each once."""
        return tuple(dict.fromkeys(name for each in self.rulings for name in each.source))

    def ruling(self, kind: ClientKind, came: Came = "") -> Ruling:
        """Return how the rule applies to a client of `kind` if the stream contained `came`."""
        fitting = (each for each in self.exceptions if each.fits(kind, came))
        found = next(fitting, self.rulings[0])
        if came not in _LOWERED or found.level != "MUST":
            return found
        return msgspec.structs.replace(found, level="SHOULD", came=came, because=_LOWERED[came])


@cache
def load_duties() -> dict[str, Duty]:
    """Return the duty of each rule, by the rule's id.

    Raises:
        UnreadableError: `duties.toml` has an unknown or missing key, or a value of a wrong type.
    """
    file = resources.files(__package__).joinpath("duties.toml")
    data = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, dict[str, Duty], file.name)


@cache
def undocumented_quirks() -> frozenset[str]:
    """Return the ids of quirks of servers that violate the documented format of their API.

    If the client reports that, the level of every rule is at most SHOULD.
    """
    file = resources.files(__package__).joinpath("undocumented.toml")
    data = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, dict[Literal["undocumented"], frozenset[Text]], file.name)["undocumented"]


def level_of(rule: str, kind: ClientKind, came: Came = "") -> Level:
    """Return the level of the rule with the id `rule` for a client of `kind`.

    Args:
        rule: the id.
        kind: the kind of the client.
        came: what the stream contained; "" for nothing that changes a level.
    """
    return load_duties()[rule].ruling(kind, came).level


def rulings_of(rule: str) -> tuple[Ruling, ...]:
    """Return how the rule with the id `rule` applies to each kind of client that it judges.

    For each kind, the first ruling is for any stream. The others are for special streams.
    """
    duty = load_duties()[rule]
    return tuple(
        msgspec.structs.replace(each, kind=kind)
        for kind in KINDS[duty.about]
        for each in (duty.ruling(kind), *(it for it in duty.exceptions if _is_special(it, kind)))
    )


def _is_special(ruling: Ruling, kind: ClientKind) -> bool:
    return bool(ruling.came) and ruling.fits(kind, ruling.came)


def levels_text(rule: str) -> str:
    """Return the levels of a rule as text, such as `sdk MUST (as-sent MAY), gateway MUST`."""
    texts: dict[str, str] = {}
    for each in rulings_of(rule):
        before = texts.get(each.kind, "")
        texts[each.kind] = f"{before} ({each.came} {each.level})" if before else each.level
    return ", ".join(f"{kind} {text}" for kind, text in texts.items())
