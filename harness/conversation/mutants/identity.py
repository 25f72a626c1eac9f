"""Miniatures that get ids and names of calls wrong."""

from collections.abc import Sequence

from harness.conversation.channel import Channel
from harness.conversation.history.identifiers import fit_ids
from harness.conversation.mutants.edit import mutant, with_calls
from harness.conversation.tool_loop import ToolLoop
from harness.turns.messages import Message

_OWN = "call_[a-f0-9]{24}"


class _Reusing(Channel):
    """Sends ids as they came, and so the same one for calls of several turns."""

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        first, *rest = super().sent(history)
        pattern = self.task.capabilities.tool_id_pattern
        return (first, *(rest if pattern else history))


class _AnyPattern(Channel):
    """Makes ids unique, and looks at no pattern."""

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return (super().sent(())[0], *fit_ids(history).messages)


class _OwnIds(Channel):
    """Gives every call an id of its own making, where the provider takes any."""

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        first, *rest = super().sent(history)
        pattern = self.task.capabilities.tool_id_pattern
        return (first, *(rest if pattern else fit_ids(history, _OWN).messages))


class _NoIds(Channel):
    """Drops the ids of calls, and keeps those of results."""

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(with_calls(it, lambda call: call | {"id": ""}) for it in super().sent(history))


class _OwnNames(Channel):
    """Sends the names of the application back, whether the provider takes them or not."""

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(with_calls(it, self._named) for it in super().sent(history))

    def _named(self, call: Message) -> Message:
        name = self.names.declared(call["function"]["name"])
        return call | {"function": call["function"] | {"name": name}}


class _WithReusing(ToolLoop):
    channel_type = _Reusing


class _WithAnyPattern(ToolLoop):
    channel_type = _AnyPattern


class _WithOwnIds(ToolLoop):
    channel_type = _OwnIds


class _WithNoIds(ToolLoop):
    channel_type = _NoIds


class _WithOwnNames(ToolLoop):
    channel_type = _OwnNames


MINIATURES = (
    mutant(
        "ids-reused",
        "HIST-ID-REUSED",
        "sends the id that a provider uses in each turn as it is",
        _WithReusing,
    ),
    mutant(
        "id-pattern-ignored",
        "HIST-ID-PATTERN",
        "sends ids that the provider refuses",
        _WithAnyPattern,
    ),
    mutant(
        "ids-rewritten",
        "HIST-ID-CHANGED",
        "sends other ids than came, though the provider takes its own",
        _WithOwnIds,
    ),
    mutant(
        "ids-dropped",
        "HIST-ID-MISSING",
        "sends calls back without their ids, so that no result answers any",
        _WithNoIds,
    ),
    mutant(
        "names-not-mapped",
        "HIST-NAME",
        "sends names with signs that providers refuse",
        _WithOwnNames,
    ),
)
