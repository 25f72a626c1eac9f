"""Load what one API cannot say in another: what a gateway between the two is not judged on.

Each entry of `translation.toml` names a feature of a stream, the APIs in which a gateway cannot
hand it over, and what it hands over instead. An entry only leaves fields unjudged, or accepts a
failure; it never makes a wrong call right.
"""

from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

import msgspec

from harness.errors import UnreadableError
from harness.files.typed import File, Text, convert
from harness.results.expectation import Field
from harness.wording import did_you_mean

# What a stream of A is or contains; `harness.judging.translation` decides which.
Feature = Literal[
    "anything",
    "call-at-limit",
    "error-status",
    "failure",
    "no-usage",
    "private-usage",
    "refusal",
    "second-message",
    "server-tools",
    "unusable-arguments",
]


class Unsaid(File, frozen=True):
    """A feature that an API cannot say, or says in another way.

    Fields:
        title: what is different, in one sentence.
        feature: the feature of the stream.
        front: globs of the dialects in which the gateway answers; () for all.
        of: globs of the dialects of the stream; () for all.
        same: whether it holds also if both dialects are the same.
        say: what the gateway sends instead; "" if the API cannot say it.
        hides: fields of the turn that are not judged; `ids` for the ids of calls.
        any_failure: whether any code and message of the failure is right.
        may_fail: whether the turn may fail instead.
        policy: a policy such as `usage=estimated` that a gateway must declare; "" for none.
        source: URLs of specifications, API references and issues.
    """

    title: Text
    feature: Feature
    source: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    front: tuple[Text, ...] = ()
    of: tuple[Text, ...] = ()
    same: bool = False
    say: str = ""
    hides: tuple[Field | Literal["ids"], ...] = ()
    any_failure: bool = False
    may_fail: bool = False
    policy: str = ""

    def holds(self, dialect: str, front: str, policies: dict[str, str]) -> bool:
        """Return whether the entry holds for streams of `dialect` that are answered in `front`."""
        name, _, value = self.policy.partition("=")
        return (
            (self.same or dialect != front)
            and (not self.policy or policies.get(name) == value)
            and _matches(self.front, front)
            and _matches(self.of, dialect)
        )


def _matches(globs: tuple[str, ...], name: str) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


@cache
def load_translation() -> dict[str, Unsaid]:
    """Return the entries by their names.

    Raises:
        UnreadableError: `translation.toml` has an unknown or missing key, or a wrong value.
    """
    file = resources.files(__package__).joinpath("translation.toml")
    data: Any = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, dict[str, Unsaid], file.name)


@cache
def gateway_policies() -> dict[str, frozenset[str]]:
    """Return each policy that a gateway may declare -> its values."""
    found: dict[str, set[str]] = {}
    for each in load_translation().values():
        if each.policy:
            name, _, value = each.policy.partition("=")
            found.setdefault(name, set()).add(value)
    return {name: frozenset(values) for name, values in found.items()}


def require_gateway_policies(policies: dict[str, str], where: str) -> None:
    """Refuse a policy or value that no entry has, because it would change nothing.

    Raises:
        UnreadableError: a name or value is unknown.
    """
    known = gateway_policies()
    for name, value in policies.items():
        if name not in known or value not in known[name]:
            every = sorted(f"{each}={it}" for each, values in known.items() for it in values)
            hint = did_you_mean(f"{name}={value}", every, "known")
            raise UnreadableError(f"policies: unknown {name}={value}", where=where, hint=hint)
