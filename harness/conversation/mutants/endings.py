"""Miniatures that end too early, or never."""

from msgspec.structs import replace

from harness.conversation.calling import CallBudget, CallResults, run_calls
from harness.conversation.conversation import Conversation, Ending
from harness.conversation.feedback import parse_error_reports, retry_text
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.mutants.edit import known_bad, mutant
from harness.conversation.tool_loop import ToolLoop
from harness.turns.turn import Turn


class _Fatal(ToolLoop):
    """Ends with an error where arguments cannot be parsed."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        if turn.parse_errors:
            self.keep(replace(turn, tool_calls=()), CallResults())
            return "error"
        return super().take(turn, left)


class _Endless(ToolLoop):
    """Asks again for every reply that it cannot use, and counts nothing."""

    def answered(self) -> Ending:
        while True:
            turn = self.request()
            unusable = incomplete_reason(turn) or (turn.parse_errors and not turn.tool_calls)
            if unusable:
                self.keep(turn, CallResults())
                self.say(retry_text(self.way.prompt, parse_error_reports(turn.parse_errors), 0))
                continue
            ending = self.take(turn, 1)
            if ending is not None:
                return ending


class _Raising(ToolLoop):
    """Raises where arguments cannot be parsed."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        for error in turn.parse_errors:
            raise ValueError(error.error)
        return super().take(turn, left)


class _FirstKept(ToolLoop):
    """Gives the user the first text of the model, and not the last."""

    def have(self) -> Conversation:
        conversation = super().have()
        texts = (record.turn.text for record in self.turns)
        return replace(conversation, answer=next(filter(str.strip, texts), ""))


class _OnceMore(ToolLoop):
    """Asks once more after an answer, and does nothing with the reply."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        if ending == "done":
            self.request()
        return ending


class _RoundTooMany(ToolLoop):
    """Asks once more than it may, and does nothing with the reply."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        if ending == "limit" and not left:
            self.request()
        return ending


class _Narrated(ToolLoop):
    """Takes the text beside calls for the answer, once the calls ran."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        return "done" if ending is None and turn.text.strip() else ending


class _OneTooMany(ToolLoop):
    """Runs a call that was made too often once more before it stops."""

    def run(self, turn: Turn) -> CallResults:
        ran = super().run(turn)
        if not self.budget.exhausted:
            return ran
        return run_calls(self.task, turn.tool_calls, CallBudget(1), self.way.prompt.language)


MINIATURES = (
    mutant(
        "broken-arguments-raised",
        "CONV-NO-CRASH",
        "raises where arguments cannot be parsed",
        _Raising,
    ),
    mutant(
        "first-text-answered",
        "CONV-ANSWER",
        "gives the user the text that came before the calls",
        _FirstKept,
    ),
    mutant(
        "asks-once-more",
        "CONV-SURPLUS-REQUEST",
        "sends another request after the answer",
        _OnceMore,
    ),
    mutant(
        "narration-answered",
        "CONV-UNPLAYED",
        "takes the text beside calls for the answer",
        _Narrated,
    ),
    mutant(
        "one-round-too-many",
        "CONV-LIMITS",
        "asks once more when the rounds are used up",
        _RoundTooMany,
    ),
    mutant(
        "one-call-too-many",
        "CONV-LIMITS CONV-CALL-UNWANTED",
        "runs a call once more than it may",
        _OneTooMany,
    ),
    known_bad(
        mutant(
            "parse-error-fatal",
            "CONV-ENDING",
            "ends the conversation where arguments cannot be parsed",
            _Fatal,
        )
    ),
    known_bad(
        mutant(
            "retry-without-end",
            "CONV-NO-HANG",
            "asks again for a reply that it cannot use, for ever",
            _Endless,
        )
    ),
)
