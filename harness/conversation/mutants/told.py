"""Mutants that change or leave out what an agent tells the model and the user."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.gateway import gateway
from harness.conversation.mutants.edit import loop_mutant
from harness.conversation.mutants.history import Edited
from harness.conversation.tool_loop import ToolLoop
from harness.results.conversation import Ending
from harness.turns.messages import Message
from harness.turns.turn import Turn

_SHORT_LIST = 3
_CUT_AT = 7_000


class _Shown(ToolLoop):
    """Stores another value than the tool returned."""

    shown: Callable[[Any], Any]

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        results = tuple(replace(it, value=self.shown(it.value)) for it in found.results)
        super().store_turn(turn, replace(found, results=results))


@loop_mutant("question-squeezed", "CONV-QUESTION-LOST")
class _QuestionSqueezed(ToolLoop):
    """Joins the lines of each question."""

    def add_user_text(self, text: str) -> None:
        super().add_user_text(" ".join(text.split()) if text in self.task.questions else text)


@loop_mutant("earlier-turns-forgotten", "CONV-EARLIER-LOST")
class _Forgetful(ToolLoop):
    """Begins a new history with each question."""

    def answer_question(self) -> Ending:
        if self.task.limits.messages is None:
            self.history[:-1] = []
        return super().answer_question()


@loop_mutant("text-results-squeezed", "CONV-RESULT-CUT")
class _ResultsSqueezed(_Shown):
    """Joins the lines of a text that a tool returned."""

    def shown(self, value: object) -> object:
        return " ".join(value.split()) if isinstance(value, str) else value


@loop_mutant("cut-without-notice", "CONV-RESULT-CUT")
class _Unnoticed(_Shown):
    """Shortens a long text without saying so."""

    def shown(self, value: object) -> object:
        return value[:_CUT_AT] if isinstance(value, str) else value


@loop_mutant("lists-shortened", "CONV-RESULT-VALUE-LOST")
class _Shortened(_Shown):
    """Shows only the first items of each list."""

    def shown(self, value: Any) -> object:  # noqa: ANN401 - any value of JSON
        if isinstance(value, list):
            return [self.shown(item) for item in value[:_SHORT_LIST]]
        if isinstance(value, dict):
            return {key: self.shown(item) for key, item in value.items()}
        return value


@loop_mutant("flags-dropped", "CONV-RESULT-VALUE-LOST")
class _FlagsDropped(_Shown):
    """Shows no members that are false or zero."""

    def shown(self, value: Any) -> object:  # noqa: ANN401 - any value of JSON
        if isinstance(value, list):
            return [self.shown(item) for item in value]
        if isinstance(value, dict):
            # False and 0 are equal, and no text, list or null is equal to them.
            return {key: self.shown(item) for key, item in value.items() if item != 0}
        return value


@loop_mutant("refusals-without-words", "CONV-NOT-RUN-TOLD")
class _Wordless(ToolLoop):
    """Answers a call that did not run with a dash."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        before = len(self.history)
        super().store_turn(turn, found)
        silent = {it.call_id for it in found.results if it.error} - set(found.executed)
        self.history[before:] = [
            it | {"content": "-"} if it.get("tool_call_id") in silent else it
            for it in self.history[before:]
        ]


@loop_mutant("gives-up-silently", "CONV-USER-TOLD", of=gateway)
class _Silent(ToolLoop):
    """Answers with the model's text alone if no retry is left."""

    def retry_or_stop(self, turn: Turn, reason: str, left: int) -> Ending | None:
        ending = super().retry_or_stop(turn, reason, left)
        self.answer = turn.text if ending is not None else self.answer
        return ending


@loop_mutant("calls-untyped", "HIST-FORM")
class _Untyped(Edited):
    """Stores calls without the member `type` for OpenAI's chat API, which requires it."""

    def edited(self, _turn: Turn, messages: list[Message]) -> list[Message]:
        if self.task.dialect != "openai-chat":
            return messages
        return [
            it | {"tool_calls": [_untyped(call) for call in it["tool_calls"]]}
            if "tool_calls" in it
            else it
            for it in messages
        ]


def _untyped(call: Message) -> Message:
    return {key: call[key] for key in call if key != "type"}
