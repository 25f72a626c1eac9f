"""Mutants that send a history that a provider rejects or misreads."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.channel import Channel
from harness.conversation.history.identifiers import fit_ids
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.mutants.edit import channel_mutant, loop_mutant, with_calls
from harness.conversation.plain_loop import grouped
from harness.conversation.task import Reply, Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.results.conversation import Ending, Probe
from harness.turns.exact_json import encode_json
from harness.turns.messages import SEALED, Message, assistant, sealed_of, system
from harness.turns.turn import Turn
from harness.wire.interaction import Request

_GENERATED: Final = "call_[a-f0-9]{24}"
_SEVERAL: Final = 2
# How Anthropic, Converse and Gemini mark a block with a result.
_RESULTS: Final = frozenset(("tool_result", "toolResult", "functionResponse"))


def _must_be_edited(task: Task) -> bool:
    """Return whether the provider refuses some ids, or a limit shortens the history."""
    return bool(task.capabilities.tool_id_pattern) or task.limits.messages is not None


@channel_mutant("ids-reused", "HIST-ID-REUSED")
class _Reusing(Channel):
    """Sends ids unchanged that a provider repeats in each turn."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        first, *rest = super().request_messages(history)
        return (first, *(rest if _must_be_edited(self.task) else history))


@channel_mutant("id-pattern-ignored", "HIST-ID-PATTERN")
class _AnyPattern(Channel):
    """Sends ids that do not match the provider's pattern."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        first, *rest = super().request_messages(history)
        if not self.task.capabilities.tool_id_pattern:
            return (first, *rest)
        return (first, *fit_ids(history, "").messages)


@channel_mutant("ids-rewritten", "HIST-ID-CHANGED")
class _OwnIds(Channel):
    """Sends generated ids although the provider accepts the ids that it sent."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        first, *rest = super().request_messages(history)
        edited = _must_be_edited(self.task)
        return (first, *(rest if edited else fit_ids(history, _GENERATED).messages))


@channel_mutant("ids-dropped", "HIST-ID-MISSING")
class _NoIds(Channel):
    """Sends calls without their ids, so that no result answers any."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        messages = super().request_messages(history)
        return tuple(with_calls(it, lambda call: call | {"id": ""}) for it in messages)


@channel_mutant("namespaces-dropped", "HIST-NAMESPACE")
class _NoNamespaces(Channel):
    """Sends calls back without the namespace of their tool."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        messages = super().request_messages(history)
        return tuple(with_calls(it, self._plain) for it in messages)

    def _plain(self, call: Message) -> Message:
        function = {key: it for key, it in call["function"].items() if key != "namespace"}
        return call | {"function": function}


@channel_mutant("names-not-mapped", "HIST-NAME")
class _OwnNames(Channel):
    """Sends names with characters that providers reject."""

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(with_calls(it, self._named) for it in super().request_messages(history))

    def _named(self, call: Message) -> Message:
        name = self.names.declared(call["function"]["name"])
        return call | {"function": call["function"] | {"name": name}}


class Edited(ToolLoop):
    """Stores a turn, and changes its messages."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        """Return the messages that are stored instead of `messages`."""
        raise NotImplementedError

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        """Store the turn, and replace the messages that this added."""
        before = len(self.history)
        super().store_turn(turn, found)
        self.history[before:] = self.edited(turn, self.history[before:])


@loop_mutant("last-result-lost", "HIST-MISSING-RESULT")
class _LastLost(ToolLoop):
    """Loses the result of the last of several calls."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        super().store_turn(turn, found)
        if len(found.results) > 1 and self.history[-1]["role"] == "tool":
            self.history.pop()


@loop_mutant("calls-split", "HIST-SPLIT-PARALLEL")
class _Split(Edited):
    """Stores each call of a turn in its own message, before all results."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        calls = messages[0].get("tool_calls", ()) if messages else ()
        if len(calls) < _SEVERAL:
            return messages
        return [*({**messages[0], "tool_calls": [call]} for call in calls), *messages[1:]]


@loop_mutant("content-swapped", "HIST-CONTENT-BESIDE-CALLS")
class _Swapped(Edited):
    """Sends null instead of '' and '' instead of null next to calls."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [
            it | {"content": "" if it["content"] is None else None}
            if "tool_calls" in it and not it["content"]
            else it
            for it in messages
        ]


@loop_mutant("text-beside-calls-lost", "HIST-TEXT-LOST")
class _TextLost(Edited):
    """Stores no text next to calls."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        silent = self.task.capabilities.silent_content
        return [it | {"content": silent} if "tool_calls" in it else it for it in messages]


@loop_mutant("reasoning-in-content", "HIST-REASONING-VISIBLE")
class _ReasoningInContent(Edited):
    """Stores the reasoning before the text, in tags."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        thought = turn.reasoning.strip() and f"<think>{turn.reasoning}</think>"
        return [
            it | {"content": f"{thought}{it['content'] or ''}"}
            if thought and it["role"] == "assistant"
            else it
            for it in messages
        ]


class _Resealed(Edited):
    """Stores what only the provider can read in another form."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [it | {SEALED: self.resealed(it)} if SEALED in it else it for it in messages]

    def resealed(self, message: Message) -> list[Message]:
        raise NotImplementedError


@loop_mutant("sealed-dropped", "HIST-SEALED-LOST")
class _SealedDropped(_Resealed):
    """Stores nothing that only the provider can read."""

    def resealed(self, _message: Message) -> list[Message]:
        return []


@loop_mutant("sealed-changed", "HIST-SEALED-LOST")
class _SealedChanged(_Resealed):
    """Stores signatures without their padding and their last character."""

    def resealed(self, message: Message) -> list[Message]:
        return [it | {"value": it["value"].rstrip("=")[:-1]} for it in sealed_of(message)]


@loop_mutant("sealed-moved", "HIST-SEALED-LOST")
class _SealedMoved(_Resealed):
    """Stores a signature with the last call of the turn, whatever it belongs to."""

    def resealed(self, message: Message) -> list[Message]:
        last = len(message.get("tool_calls", ())) - 1
        return [
            it | {"call": last if it.get("of") == "call" else last + 1} for it in sealed_of(message)
        ]


@loop_mutant("request-after-limit-stored", "CONV-HISTORY")
class _RequestStored(ToolLoop):
    """Stores a request to go on although a limit has ended the conversation."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        if ending == "limit" and not self.budget.exhausted:
            self.add_user_text("Go on.")
        return ending


@loop_mutant("iterations-unnamed", "HIST-GROUP-NAME", of=grouped)
class _Unnamed(Edited):
    """Stores text and calls apart, and names only the text."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [
            {key: it[key] for key in it if key != "name"} if "tool_calls" in it else it
            for it in messages
        ]


@loop_mutant("iterations-named-alike", "HIST-GROUP-NAME", of=grouped)
class _NamedAlike(Edited):
    """Gives the messages of each turn the same name."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [it | {"name": "iteration_1"} if "name" in it else it for it in messages]


@loop_mutant("arguments-emptied", "HIST-CALL-CHANGED")
class _ArgumentsEmptied(Edited):
    """Stores calls without their arguments."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        def emptied(call: Message) -> Message:
            return call | {"function": call["function"] | {"arguments": "{}"}}

        return [with_calls(it, emptied) for it in messages]


@loop_mutant("results-swapped", "HIST-RESULT-SWAPPED")
class _ResultsSwapped(Edited):
    """Stores the results of the calls of a turn in reverse order."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        texts = [it["content"] for it in messages if it["role"] == "tool"]
        return [it | {"content": texts.pop()} if it["role"] == "tool" else it for it in messages]


@loop_mutant("results-apart", "HIST-RESULTS-GROUPED")
class _ResultsApart(ToolLoop):
    """Sends each result in a separate message to an API whose messages have blocks."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        def send(request: Request) -> Reply:
            body = json.loads(request.body)
            for member, blocks in (("messages", "content"), ("contents", "parts")):
                if member in body:
                    body[member] = [part for it in body[member] for part in _apart(it, blocks)]
            return task.send(replace(request, body=encode_json(body)))

        super().__init__(replace(task, send=send), config, probe)


def _apart(message: Message, blocks: str) -> Iterator[Message]:
    """Yield a message for each result in `message`, and one for its other blocks."""
    listed = message.get(blocks)
    is_result = [bool(_RESULTS & _tags(it)) for it in listed] if isinstance(listed, list) else []
    if not any(is_result):
        yield message
        return
    pairs = list(zip(message[blocks], is_result, strict=True))
    yield from (message | {blocks: [it]} for it, found in pairs if found)
    rest = [it for it, found in pairs if not found]
    yield from [message | {blocks: rest}] if rest else []


def _tags(block: Message) -> set[str]:
    return {*block, str(block.get("type"))}


@loop_mutant("calls-empty", "HIST-TOOLCALLS-EMPTY")
class _EmptyList(Edited):
    """Stores an empty list of calls with every answer."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [{"tool_calls": [], **it} if it["role"] == "assistant" else it for it in messages]


@loop_mutant("reasoning-not-sent-back", "HIST-REASONING-REQUIRED")
class _Unreasoned(Edited):
    """Drops the reasoning that the provider requires in the next request."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        field = self.task.capabilities.reasoning_field
        return [{key: it[key] for key in it if key != field} for it in messages]


@loop_mutant("empty-turn-stored", "HIST-EMPTY-TURN")
class _EmptyStored(Edited):
    """Stores an empty turn."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        return messages if messages or incomplete_reason(turn) else [assistant("")]


@loop_mutant("part-stored", "HIST-PARTIAL-STORED")
class _PartKept(Edited):
    """Stores the text of an incomplete turn as an answer."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        partial = incomplete_reason(turn) and turn.text.strip()
        return [assistant(turn.text)] if partial else messages


@loop_mutant("errors-emptied", "HIST-RESULT-ERROR-LOST")
class _ErrorsEmptied(ToolLoop):
    """Stores an empty result for a tool that failed."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        results = (
            replace(it, value={}, error="") if it.error and it.call_id in found.executed else it
            for it in found.results
        )
        super().store_turn(turn, replace(found, results=tuple(results)))


@loop_mutant("result-outside-branch", "HIST-FORM", role="known-bad")
class _Pushed(ToolLoop):
    """Adds the message for a result although there was no call, and so without content.

    JSON drops the content, because the result was never defined.
    """

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        super().store_turn(turn, found)
        if not found.results and turn.text:
            self.history.append({"role": "user"})

    def add_user_text(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})


@loop_mutant("results-orphaned", "HIST-ORPHAN-RESULT", role="known-bad")
class _Orphaned(Edited):
    """Keeps results, and drops the turn with their calls."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        return [it for it in messages if "tool_calls" not in it]


@loop_mutant("system-midturn", "HIST-SYSTEM-MID", role="known-bad")
class _Instructing(ToolLoop):
    """Adds a system instruction after the results."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        super().store_turn(turn, found)
        if found.results:
            self.history.append(system("Answer from the results above."))


@loop_mutant("broken-arguments-stored", "HIST-ARGS-INVALID")
class _RawKept(Edited):
    """Sends arguments that cannot be parsed back unchanged."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        raw = {error.id: error.snippet for error in turn.parse_errors}

        def unchanged(call: Message) -> Message:
            function = call["function"]
            arguments = raw.get(call["id"], function["arguments"])
            return call | {"function": function | {"arguments": arguments}}

        return [with_calls(it, unchanged) for it in messages]


@loop_mutant("result-object", "HIST-RESULT-NON-STRING", role="known-bad")
class _Objects(ToolLoop):
    """Sends the value that a tool returned, although the API requires text."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        before = len(self.history)
        super().store_turn(turn, found)
        values = {result.call_id: result for result in found.results}
        for message in self.history[before:]:
            result = values.get(message.get("tool_call_id", ""))
            if result is not None and not result.error:
                message["content"] = {"result": result.value}
