"""The text dialects and policies that a scenario may name, with their values.

An unknown name would make every cell `unsupported` without a message, so it is an error.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args, get_origin, get_type_hints

from harness.errors import UnreadableError
from harness.files.names import did_you_mean
from harness.text_calls import TEXT_DIALECTS, TextPolicy

# Policies that a scenario may rest on, each with its values, the default first.
POLICIES: Final[dict[str, tuple[str, ...]]] = {
    name: get_args(hint)
    for name, hint in get_type_hints(TextPolicy).items()
    if get_origin(hint) is Literal
}


def require_known(text_dialect: str, policies: Mapping[str, str], where: str) -> None:
    """Refuse a text dialect, a policy or a value of one that does not exist.

    Raises:
        UnreadableError: with the nearest name that exists, or all of them.
    """
    if text_dialect:
        known = tuple(TEXT_DIALECTS)
        require_name(text_dialect, known, "text_dialect: there is no text dialect", where)
    for name, value in policies.items():
        require_name(name, tuple(POLICIES), "policies: there is no policy", where)
        require_name(value, POLICIES[name], f"policies.{name}: there is no choice", where)


def require_name(name: str, known: tuple[str, ...], problem: str, where: str) -> None:
    """Refuse a name that is none of `known`; `problem` is the error up to that name."""
    if name not in known:
        hint = did_you_mean(name, known, "known") or "known: none"
        raise UnreadableError(f"{problem} {name!r}", where=where, hint=hint)


# Each with its values, the default first.
AGENT_POLICIES: Final[dict[str, tuple[str, ...]]] = {
    # How turns become messages.
    "history": ("merged", "direct", "grouped"),
    # Whether a dummy tool shows what nobody declared.
    "probe": ("undeclared", "never"),
    # Whether a reply that cannot be used is asked for once more.
    "retry": ("once", "never"),
    # What one bad call does to the others of its turn: nothing, or none of them runs.
    "batch": ("per-call", "atomic"),
    **POLICIES,
}


def require_known_policies(policies: Mapping[str, str], where: str) -> None:
    """Refuse a policy, or a value of one, that does not exist.

    Raises:
        UnreadableError: with the nearest name that exists, or all of them.
    """
    for name, value in policies.items():
        require_name(name, tuple(AGENT_POLICIES), "policies: there is no policy", where)
        require_name(value, AGENT_POLICIES[name], f"policies.{name}: there is no choice", where)
