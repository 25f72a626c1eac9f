"""The duties that rules check: `duties.toml` -> for each rule a level, a source and a reason.

The duties of a client depend on its kind. So the level of a rule can differ by the
kind of the client, and by the content of the stream at the place of the violation.
"""

from functools import cache
from importlib import resources
from typing import Annotated, Final, Literal

import msgspec

from harness.files.typed import File, Text, convert
from harness.project import ClientKind
from harness.results.finding import Came, Level

About = Literal["turns", "conversation", "cost"]
KINDS: Final[dict[About, tuple[ClientKind, ...]]] = {
    "turns": ("sdk", "gateway"),
    "conversation": ("agent",),
    "cost": ("sdk", "gateway"),
}

_Sources = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


# What lowers the level of every rule from MUST to SHOULD, and why.
_LOWERED: Final[dict[Came, str]] = {
    "undocumented": "The stream has a form that the API does not document. The client says so, and "
    "hands over no wrong call.",
    "unsent": "No server is known to send this form.",
}


class Ruling(File, frozen=True):
    """How a rule applies to a client.

    Fields:
        level: MUST findings decide the outcome, SHOULD findings are shown and counted, and MAY
            findings are not failures.
        source: URLs of specifications, API references and issues, and ids of quirks.
        kind: the kind of the client; "" for each.
        came: what the stream contained; "" for anything.
        because: why the level differs; "" for the default of the rule.
    """

    level: Level
    source: _Sources
    kind: ClientKind | Literal[""] = ""
    came: Came = ""
    because: str = ""

    def fits(self, kind: ClientKind, came: Came) -> bool:
        """Return whether it applies to a client of `kind` if the stream contained `came`."""
        return self.kind in ("", kind) and self.came in ("", came)


class Duty(File, frozen=True):
    """The requirement behind a rule.

    Fields:
        duty: what the client must do, in one sentence.
        why: what happens to an agent otherwise, in one sentence.
        source, level: as in `Ruling`, unless an exception fits.
        exceptions: the first that fits applies.
    """

    about: About
    title: Text
    duty: Text
    why: Text
    source: _Sources
    level: Level = "MUST"
    quirks: tuple[Text, ...] = ()
    exceptions: tuple[Ruling, ...] = ()

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """The default, and the exceptions."""
        return (Ruling(self.level, self.source), *self.exceptions)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of all rulings, each once."""
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
        UnreadableError: an unknown or missing key, or a value of a wrong type.
    """
    file = resources.files(__package__).joinpath("duties.toml")
    data = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, dict[str, Duty], file.name)


class QuirksOfForm(File, frozen=True):
    """Quirks that lower the level of every rule.

    Fields:
        undocumented: servers show them, and they violate the documented form of the API.
        unsent: a specification permits them, and no server is known to send them.
    """

    undocumented: frozenset[Text]
    unsent: frozenset[Text]


@cache
def quirks_of_form() -> QuirksOfForm:
    """Return the quirks of `undocumented.toml`."""
    file = resources.files(__package__).joinpath("undocumented.toml")
    data = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, QuirksOfForm, file.name)


def level_of(rule: str, kind: ClientKind, came: Came = "") -> Level:
    """Return the level of the rule with the id `rule`."""
    return load_duties()[rule].ruling(kind, came).level


def rulings_of(rule: str) -> tuple[Ruling, ...]:
    """Return the rulings of a rule for each kind of client: any stream, then special ones."""
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
