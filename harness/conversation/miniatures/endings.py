"""Miniatures that end too early, or never."""

from msgspec.structs import replace

from harness.conversation.budget import CallBudget
from harness.conversation.calling import Ran, run_calls
from harness.conversation.conversation import Conversation, Ending
from harness.conversation.dialogue import Dialogue
from harness.conversation.history.storing import broke_off
from harness.conversation.miniatures.edit import ancestor, miniature
from harness.conversation.refusals import ask_again, reports
from harness.turns.turn import Turn


class _Fatal(Dialogue):
    """Ends with an error where arguments cannot be parsed."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        if turn.parse_errors:
            self.keep(replace(turn, tool_calls=()), Ran())
            return "error"
        return super().take(turn, left)


class _Endless(Dialogue):
    """Asks again for every reply that it cannot use, and counts nothing."""

    def answered(self) -> Ending:
        while True:
            turn = self.request()
            unusable = broke_off(turn) or (turn.parse_errors and not turn.tool_calls)
            if unusable:
                self.keep(turn, Ran())
                self.say(ask_again(self.way.prompt, reports(turn.parse_errors), 0))
                continue
            ending = self.take(turn, 1)
            if ending is not None:
                return ending


class _Raising(Dialogue):
    """Raises where arguments cannot be parsed."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        for error in turn.parse_errors:
            raise ValueError(error.error)
        return super().take(turn, left)


class _FirstKept(Dialogue):
    """Gives the user the first text of the model, and not the last."""

    def have(self) -> Conversation:
        conversation = super().have()
        texts = (record.turn.text for record in self.turns)
        return replace(conversation, answer=next(filter(str.strip, texts), ""))


class _OnceMore(Dialogue):
    """Asks once more after an answer, and does nothing with the reply."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        if ending == "done":
            self.request()
        return ending


class _RoundTooMany(Dialogue):
    """Asks once more than it may, and does nothing with the reply."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        if ending == "limit" and not left:
            self.request()
        return ending


class _Narrated(Dialogue):
    """Takes the text beside calls for the answer, once the calls ran."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        ending = super().take(turn, left)
        return "done" if ending is None and turn.text.strip() else ending


class _OneTooMany(Dialogue):
    """Runs a call that was made too often once more before it stops."""

    def run(self, turn: Turn) -> Ran:
        ran = super().run(turn)
        if not self.budget.exhausted:
            return ran
        return run_calls(self.task, turn.tool_calls, CallBudget(1), self.way.prompt.language)


MINIATURES = (
    miniature(
        "broken-arguments-raised",
        "CONV-NO-CRASH",
        "raises where arguments cannot be parsed",
        _Raising,
    ),
    miniature(
        "first-text-answered",
        "CONV-ANSWER",
        "gives the user the text that came before the calls",
        _FirstKept,
    ),
    miniature(
        "asks-once-more",
        "CONV-SURPLUS-REQUEST",
        "sends another request after the answer",
        _OnceMore,
    ),
    miniature(
        "narration-answered",
        "CONV-UNPLAYED",
        "takes the text beside calls for the answer",
        _Narrated,
    ),
    miniature(
        "one-round-too-many",
        "CONV-LIMITS",
        "asks once more when the rounds are used up",
        _RoundTooMany,
    ),
    miniature(
        "one-call-too-many",
        "CONV-LIMITS CONV-CALL-UNWANTED",
        "runs a call once more than it may",
        _OneTooMany,
    ),
    ancestor(
        miniature(
            "parse-error-fatal",
            "CONV-ENDING",
            "ends the conversation where arguments cannot be parsed",
            _Fatal,
        )
    ),
    ancestor(
        miniature(
            "retry-without-end",
            "CONV-NO-HANG",
            "asks again for a reply that it cannot use, for ever",
            _Endless,
        )
    ),
)
