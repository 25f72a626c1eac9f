"""Check the policies that a scenario names, and their values.

With a wrong name, every cell would be `unsupported` without a message, so it is an error.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from harness.conversation.history.storing import HISTORY_POLICIES
from harness.dialects.openai_chat.calls import ReaderPolicy
from harness.errors import UnreadableError
from harness.text_calls import TextPolicy
from harness.wording import did_you_mean


def _choices(policy: type[Any]) -> dict[str, tuple[str, ...]]:
    hints = get_type_hints(policy).items()
    return {name: get_args(hint) for name, hint in hints if get_origin(hint) is Literal}


# Policies of normalizers, each with its values, the default first.
TEXT_POLICIES: Final = _choices(TextPolicy)
READER_POLICIES: Final = _choices(ReaderPolicy)
_OTHER_POLICIES: Final = {
    # Whether calls are handed over as they arrive, or all at the end of the turn.
    "calls": ("at-once", "at-end"),
    # Whether the numbers of tokens are those of the provider, or the client's own.
    "usage": ("sent", "own"),
    # Whether comments and pings of a server count as data for the idle timeout of the client.
    "keep-alive": ("resets", "ignored"),
}
NORMALIZER_POLICIES: Final = READER_POLICIES | TEXT_POLICIES | _OTHER_POLICIES
# Policies of agents. An agent that declares another value than the scenario's is `unsupported` in
# that cell; one that declares none is judged, by the default of a policy of text calls.
AGENT_POLICIES: Final[dict[str, tuple[str, ...]]] = {
    # How turns become messages.
    "history": HISTORY_POLICIES,
    # Whether a dummy tool shows capabilities that are not declared.
    "probe": ("undeclared", "never"),
    # Whether the agent asks again after a reply that cannot be used.
    "retry": ("once", "never"),
    # What one bad call does to the others of its turn: nothing, or none of them is executed.
    "batch": ("per-call", "atomic"),
    # Whether the agent stops at a call that was made too often for one question.
    "identical-calls": ("limited", "unlimited"),
    # Whether older rounds of a long history are left out, or a summary replaces earlier turns.
    "truncation": ("rounds", "never", "summary"),
    # Whether the calls of the last round that the limit allows are answered, or executed.
    "last-round": ("answered", "executed"),
    # Whether tools whose names the API refuses are declared under names that it accepts.
    "tool-names": ("renamed", "as-declared"),
    # Whether a stream that ends without a finish reason failed, or is documented as complete.
    "absent-finish": ("failure", "stop"),
    # Whether a turn with neither text nor calls ends the conversation, or is asked for again.
    "empty-turn": ("ends", "retried"),
    **TEXT_POLICIES,
}


def require_policies(
    policies: Mapping[str, str], known: Mapping[str, tuple[str, ...]], where: str
) -> None:
    """Raise an error if a policy or its value is not in `known`.

    Args:
        policies: policy -> value, as the scenario states them.
        known: policy -> the possible values.
        where: the scenario file, for the error.

    Raises:
        UnreadableError: a name or value is unknown. The hint names the nearest one, or all.
    """
    for name, value in policies.items():
        require_name(name, tuple(known), "policies: there is no policy", where)
        require_name(value, known[name], f"policies.{name}: there is no choice", where)


def require_name(name: str, known: tuple[str, ...], problem: str, where: str) -> None:
    """Raise an error if `name` is not in `known`.

    Args:
        name: the name in the file.
        known: the names that exist.
        problem: the text of the error, after which the name follows.
        where: the file, for the error.

    Raises:
        UnreadableError: the name is unknown.
    """
    if name not in known:
        hint = did_you_mean(name, known, "known") or "known: none"
        raise UnreadableError(f"{problem} {name!r}", where=where, hint=hint)
