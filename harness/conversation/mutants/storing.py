"""Miniatures that store turns wrong, so that the next request is refused or misread."""

from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.mutants.edit import known_bad, mutant, with_calls
from harness.conversation.tool_loop import ToolLoop
from harness.turns.messages import Message, assistant, system
from harness.turns.turn import Turn


class _Pushed(ToolLoop):
    """Adds a message for the result outside the branch in which there is one."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        super().keep(turn, ran)
        if not ran.results and turn.text:
            # What JSON makes of a result that was never defined: no content at all.
            self.history.append({"role": "user"})

    def say(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})


class _Edited(ToolLoop):
    """Keeps a turn, and changes its messages."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        raise NotImplementedError

    def keep(self, turn: Turn, ran: CallResults) -> None:
        before = len(self.history)
        super().keep(turn, ran)
        self.history[before:] = self.edited(turn, self.history[before:])


class _Orphaned(_Edited):
    """Drops the assistant's message of a turn with calls, and keeps their results."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        del turn
        return [it for it in messages if "tool_calls" not in it]


class _Instructing(ToolLoop):
    """Tells the model what to do with results in a message of the system behind them."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        super().keep(turn, ran)
        if ran.results:
            self.history.append(system("Answer from the results above."))


class _RawKept(_Edited):
    """Stores arguments as they came, whether they can be parsed or not."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        raw = {error.id: error.snippet for error in turn.parse_errors}

        def as_it_came(call: Message) -> Message:
            function = call["function"]
            arguments = raw.get(call["id"], function["arguments"])
            return call | {"function": function | {"arguments": arguments}}

        return [with_calls(it, as_it_came) for it in messages]


class _Objects(ToolLoop):
    """Stores what a tool returned as it is, and no text of it."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        before = len(self.history)
        super().keep(turn, ran)
        values = {result.call_id: result for result in ran.results}
        for message in self.history[before:]:
            result = values.get(message.get("tool_call_id", ""))
            if result is not None and not result.error:
                message["content"] = {"result": result.value}


class _LastLost(ToolLoop):
    """Loses the result of the last of several calls."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        super().keep(turn, ran)
        if len(ran.results) > 1 and self.history[-1]["role"] == "tool":
            self.history.pop()


class _Split(_Edited):
    """Stores each call of a turn in a message of its own, before all results."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        del turn
        calls = messages[0].get("tool_calls", ()) if messages else ()
        if len(calls) < _SEVERAL:
            return messages
        return [*({**messages[0], "tool_calls": [call]} for call in calls), *messages[1:]]


class _Swapped(_Edited):
    """Sends null where '' is wanted beside calls, and '' where null is."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        del turn
        return [
            it | {"content": "" if it["content"] is None else None}
            if "tool_calls" in it and not it["content"]
            else it
            for it in messages
        ]


class _EmptyList(_Edited):
    """Stores an empty list of calls where there were none."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        del turn
        return [{"tool_calls": [], **it} if it["role"] == "assistant" else it for it in messages]


class _Unreasoned(_Edited):
    """Drops the reasoning that a provider wants back."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        del turn
        field = self.task.capabilities.reasoning_field
        return [{key: it[key] for key in it if key != field} for it in messages]


class _EmptyStored(_Edited):
    """Stores a turn that says nothing."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        return messages if messages or incomplete_reason(turn) else [assistant("")]


class _PartKept(_Edited):
    """Stores what a turn said before it broke off as if it were an answer."""

    def edited(self, turn: Turn, messages: list[Message]) -> list[Message]:
        return [assistant(turn.text)] if incomplete_reason(turn) and turn.text.strip() else messages


class _ErrorsEmptied(ToolLoop):
    """Stores an empty object for a tool that failed."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        results = (replace(it, value={}, error="") if it.error else it for it in ran.results)
        super().keep(turn, replace(ran, results=tuple(results)))


_SEVERAL = 2
MINIATURES = (
    mutant(
        "last-result-lost",
        "HIST-MISSING-RESULT",
        "loses the result of the last of several calls",
        _LastLost,
    ),
    mutant(
        "calls-split",
        "HIST-SPLIT-PARALLEL",
        "stores each call of a turn in a message of its own",
        _Split,
    ),
    mutant(
        "content-swapped",
        "HIST-CONTENT-BESIDE-CALLS",
        "sends null for '' and '' for null beside calls",
        _Swapped,
    ),
    mutant(
        "calls-empty",
        "HIST-TOOLCALLS-EMPTY",
        "stores an empty list of calls with every answer",
        _EmptyList,
    ),
    mutant(
        "reasoning-not-sent-back",
        "HIST-REASONING-REQUIRED",
        "drops the reasoning that the provider wants back",
        _Unreasoned,
    ),
    mutant("empty-turn-stored", "HIST-EMPTY-TURN", "stores a turn that says nothing", _EmptyStored),
    mutant(
        "part-stored",
        "HIST-PARTIAL-STORED",
        "stores the text of a broken turn as an answer",
        _PartKept,
    ),
    mutant(
        "errors-emptied",
        "HIST-RESULT-ERROR-LOST",
        "stores an empty result for a tool that failed",
        _ErrorsEmptied,
    ),
    known_bad(
        mutant(
            "result-outside-branch",
            "HIST-FORM",
            "adds the message for a result although there was no call, and so without content",
            _Pushed,
        )
    ),
    known_bad(
        mutant(
            "results-orphaned",
            "HIST-ORPHAN-RESULT",
            "keeps results and drops the turn that asked for them",
            _Orphaned,
        )
    ),
    known_bad(
        mutant(
            "system-midturn",
            "HIST-SYSTEM-MID",
            "puts an instruction of the system behind the results",
            _Instructing,
        )
    ),
    mutant(
        "broken-arguments-stored",
        "HIST-ARGS-INVALID",
        "sends arguments that cannot be parsed back as the model wrote them",
        _RawKept,
    ),
    known_bad(
        mutant(
            "result-object",
            "HIST-RESULT-NON-STRING",
            "sends the value that a tool returned, where the API wants text",
            _Objects,
        )
    ),
)
