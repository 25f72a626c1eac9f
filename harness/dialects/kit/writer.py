"""Write deltas as the events of a response; shared by the writers of all dialects.

A writer is the inverse of a reader. Emulated cassettes, round-trip tests and the fuzzer use it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from harness.dialects.kit.options import Options
from harness.turns.deltas import (
    SILENT_FAILURES,
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import decode_exactly
from harness.wire.payload import NotJson, decode_json

Json: TypeAlias = dict[str, Any]
CallEnd: TypeAlias = ToolCallEnd | ToolCallRejected
OptionsT = TypeVar("OptionsT", bound=Options)
OptionsT_contra = TypeVar("OptionsT_contra", bound=Options, contravariant=True)

# What may only follow the start of its call.
_OF_CALL: Final = ArgumentsDelta | CallEnd
# `created` of the objects of OpenAI's APIs: any time, but always the same.
CREATED: Final = 1_760_000_000


class Writer(ABC, Generic[OptionsT]):
    """Writes one response; make a new one for each.

    Fields:
        FINISH_WORDS: the API's word for each reason; by default OpenAI's, which many APIs use.
        USAGE_AFTER_FINISH: the API sends the numbers of tokens in an event after the finish.
        deltas: all deltas to write.
        options: how to write them.
        starts: the start of each call, by its index.
        arguments: the complete arguments of each call, by its index.
        usage: the last numbers of tokens; None if there are none.
        total: the same, with None for each number if there are none.
        values: the JSON value of each event so far.
        reason: why the turn ended; None before the end.
        word: the API's word for `reason`, if the dialect writes it later; None before.
        failed: a failure was written, or shows only in the events that are missing.
        has_sealed: `deltas` contain data that only the provider can read, so options add none.
    """

    FINISH_WORDS: ClassVar[Mapping[FinishReason, str]] = {it: it.value for it in FinishReason}
    USAGE_AFTER_FINISH: ClassVar[bool] = False

    def __init__(self, deltas: tuple[Delta, ...], options: OptionsT) -> None:
        self.deltas = deltas
        self.options = options
        self.starts = {each.index: each for each in deltas if isinstance(each, ToolCallStart)}
        self.arguments = _complete_arguments(deltas)
        totals = (each.usage for each in reversed(deltas) if isinstance(each, UsageDelta))
        self.usage = next(totals, None)
        self.total = Usage() if self.usage is None else self.usage
        self.values: list[Json] = []
        self.reason = FinishReason.OTHER
        self.word: str | None = None
        self.failed = False
        self.has_sealed = any(isinstance(each, SealedDelta) for each in deltas)
        self.begin()

    def begin(self) -> None:
        """Initialize the attributes that a dialect's writer adds."""

    @abstractmethod
    def events(self) -> tuple[bytes, ...]:
        """Return the bytes of each event. The joined bytes are the body."""

    def take_all(self) -> None:
        """Write all deltas in order.

        Raises:
            ValueError: the API cannot express a delta.
            TypeError: an item is not a delta.
        """
        for delta in self._in_order():
            if isinstance(delta, _OF_CALL) and delta.index not in self.starts:
                raise ValueError(f"cannot write {type(delta).__name__}: its call has no start")
            self._take(delta)

    def _in_order(self) -> Iterable[Delta]:
        """Return the deltas, with the token counts at the position where the API sends them."""
        ends = [at for at, delta in enumerate(self.deltas) if isinstance(delta, Finish)]
        if not ends or not self.USAGE_AFTER_FINISH:
            return self.deltas
        finish = start = ends[0]
        while start and isinstance(self.deltas[start - 1], CallEnd | UsageDelta):
            start -= 1
        before = self.deltas[start:finish]
        counts = [delta for delta in before if isinstance(delta, UsageDelta)]
        others = [delta for delta in before if not isinstance(delta, UsageDelta)]
        end = self.deltas[finish]
        return (*self.deltas[:start], *others, end, *counts, *self.deltas[finish + 1 :])

    def _take(self, delta: Delta) -> None:  # noqa: C901 - a case for each kind of the closed union
        match delta:
            case TextDelta():
                self.text(delta.text)
            case ReasoningDelta():
                self.reasoning(delta.text)
            case SealedDelta():
                self.seal(delta)
            case ToolCallStart():
                self.start_call(delta)
            case ArgumentsDelta():
                self.continue_call(delta.index, delta.fragment)
            case ToolCallEnd() | ToolCallRejected():
                self.end_call(delta)
            case UsageDelta():
                self.count(delta.usage)
            case Finish():
                self.reason = delta.reason
                self.finish(delta.raw or self.FINISH_WORDS[delta.reason])
            case StreamFailure():
                self.failed = True
                if delta.code not in SILENT_FAILURES:
                    self.fail(delta)
            case _:
                raise TypeError(f"not a delta: {delta!r}")

    # What a dialect writes for each delta; what it does not define gives no separate event.

    @abstractmethod
    def text(self, text: str) -> None:
        """Write the next part of the answer."""

    def reasoning(self, _text: str) -> None:
        """Write the next part of the reasoning; refuse it if the API has none."""
        raise ValueError("this API streams text only: cannot write ReasoningDelta")

    def seal(self, _delta: SealedDelta) -> None:
        """Write data that only the provider can read; refuse it if the API has none."""
        raise ValueError("this API has no sealed data here: cannot write SealedDelta")

    def start_call(self, _start: ToolCallStart) -> None:
        """Write the start of a call, or the complete call; refuse it if the API has no calls."""
        raise ValueError("this API streams text only: cannot write ToolCallStart")

    def continue_call(self, index: int, fragment: str) -> None:
        """Write a fragment of the arguments of the call with this index."""

    def end_call(self, end: CallEnd) -> None:
        """Write the end of a call."""

    def count(self, usage: Usage) -> None:
        """Write the numbers of tokens."""

    def finish(self, word: str) -> None:
        """Write the end of the turn, whose reason is `word`, or store it for later."""
        self.word = word

    @abstractmethod
    def fail(self, failure: StreamFailure) -> None:
        """Write the error `failure`, which ends the turn."""


class Write(Protocol[OptionsT_contra]):
    """The type of a dialect's function `write`."""

    def __call__(
        self, deltas: Iterable[Delta], options: OptionsT_contra | None = None
    ) -> tuple[bytes, ...]:
        """Return the bytes of each event. The joined bytes are the body.

        Raises:
            ValueError: the API cannot express a delta.
            TypeError: an item is not a delta.
        """


def writes_with(
    writer: Callable[[tuple[Delta, ...], OptionsT], Writer[OptionsT]], default: type[OptionsT]
) -> Write[OptionsT]:
    """Return the function `write` of a dialect; without options, it uses `default`."""

    def write(deltas: Iterable[Delta], options: OptionsT | None = None) -> tuple[bytes, ...]:
        return writer(tuple(deltas), default() if options is None else options).events()

    return write


def finish_words(**words: str) -> dict[FinishReason, str]:
    """Return the API's word for each finish reason; `other` for a reason that is not given."""
    known = {"stop": "stop", "length": "length", **words}
    own = {FinishReason(reason): word for reason, word in known.items()}
    return dict.fromkeys(FinishReason, "other") | own


def json_object(text: str) -> Json | None:
    """Return the JSON object in `text`; None if `text` is not a JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_or_text(text: str) -> Any:  # noqa: ANN401 - an object, or the text
    """Return the JSON object in `text`, or `text` itself if it is not one."""
    value = json_object(text)
    return text if value is None else value


def exact_object_or_text(text: str) -> object:
    """Return the JSON object in `text` with each digit and key, or `text` if it is not one."""
    try:
        payload = text.encode()
        return decode_exactly(payload) if isinstance(decode_json(payload), dict) else text
    except (NotJson, ValueError):
        return text


def optional_field(name: str, mode: str, value: str, changed: str = "") -> Json:
    """Return an object with the member `name`, depending on `mode`.

    The member is absent, empty, null, repeated (`value`) or changed (`changed`).
    """
    modes: dict[str, Json] = {
        "absent": {},
        "empty": {name: ""},
        "null": {name: None},
        "repeated": {name: value},
        "changed": {name: changed},
    }
    return modes[mode]


def openai_usage(usage: Usage) -> Json:
    """Return the numbers of tokens with the keys of OpenAI's completions."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
    }


def token_counts(usage: Usage, input_name: str, output_name: str) -> Json:
    """Return the numbers of tokens that are known, under these keys."""
    counts = {input_name: usage.input_tokens, output_name: usage.output_tokens}
    return {name: count for name, count in counts.items() if count is not None}


def _complete_arguments(deltas: Iterable[Delta]) -> dict[int, str]:
    """Return the joined fragments of each call, by its index; "" for a call without fragments."""
    pieces: dict[int, list[str]] = {}
    for delta in deltas:
        if isinstance(delta, ToolCallStart):
            pieces[delta.index] = []
        elif isinstance(delta, ArgumentsDelta) and delta.index in pieces:
            pieces[delta.index].append(delta.fragment)
    return {index: "".join(own) for index, own in pieces.items()}
