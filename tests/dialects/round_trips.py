"""What each dialect keeps of a turn that is written with any options, as a table.

An option may take something away from a turn, which `expected` then leaves out. If options leave
nothing that distinguishes one turn from another, `contradictions` says why.
"""

import itertools
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from hypothesis import strategies as st

from harness.dialects.openai_responses.write import possible_options
from harness.dialects.table import DIALECTS
from harness.fuzzing.strategies import writer_options
from harness.turns.deltas import (
    CUT_SHORT,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
)
from harness.turns.turn import Turn
from tests.dialects.complete_responses import (
    chat_document,
    cohere_document,
    completion_document,
    converse_document,
    llama_document,
    ollama_document,
    responses_document,
    tgi_document,
)
from tests.dialects.round_trips_openai_chat import OPENAI_CHAT_CONTRADICTIONS, without_ids
from tests.dialects.scripted_turns import Script, expected_turn, scripts

Json = dict[str, Any]
Options = Any  # the writer options of the dialect at hand
R = FinishReason
# Why -> whether a script with certain options has more than one reading.
Contradictions: TypeAlias = dict[str, Callable[[Script, Options], bool]]
_DEFINITE: Final = (R.STOP, R.TOOL_CALLS)


class RoundTrip(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for the turns of one dialect.

    Fields:
        finishes: how turns end, with the API's words.
        failure: an error as the API reports it.
        expected: the turn that is left of a script.
        document: the complete response for the same turn, as a client gets it without a stream.
        contradictions: why a script with certain options has no one reading -> whether it is one.
        free: values of options that are text or numbers.
        ids: whether calls keep their ids.
        text: whether arguments keep their text, not only their value.
        text_only: whether the API has neither calls nor reasoning.
        streamed: options of the stream that is compared with the complete response.
        cannot_fail: whether options leave no room for an error.
    """

    finishes: tuple[Finish, ...]
    failure: StreamFailure
    document: Callable[[Script, Options], bytes]
    expected: Callable[[Script, Options], Turn] = lambda script, _: expected_turn(script)
    contradictions: Contradictions = {}
    free: dict[str, tuple[object, ...]] = {}
    ids: Callable[[Options], bool] = lambda _: True
    text: Callable[[Options], bool] = lambda _: True
    text_only: bool = False
    streamed: dict[str, object] = {}
    cannot_fail: Callable[[Options], bool] = lambda _: False


def _write(dialect: str, deltas: list[Delta], options: Options) -> bytes:
    return b"".join(DIALECTS[dialect].write(deltas, options))


def _replaced(dialect: str, **changes: object) -> Callable[[Script, Options], bytes]:
    """Return a document by the writer, with the options `changes`."""
    return lambda script, options: _write(
        dialect, script.deltas(), msgspec.structs.replace(options, **changes)
    )


def _may_have_been_cut(script: Script, _: Options) -> bool:
    return script.finish.reason not in _DEFINITE and any(
        not call.arguments for call in script.calls
    )


# After a limit, a call without arguments may have been cut off before them.
_CUT: Final[Contradictions] = {
    "the limit stopped a call before its arguments began, or it has none": _may_have_been_cut
}


# anthropic


def _anthropic(script: Script, _: Options) -> Turn:
    """A count that is not known is 0."""
    usage = script.usage or Usage()
    counts = Usage(usage.input_tokens or 0, usage.output_tokens or 0)
    return msgspec.structs.replace(expected_turn(script), usage=counts)


_ANTHROPIC: Final[Contradictions] = {
    "several blocks are open, and no index says whose each fragment is": lambda c, o: (
        c.interleaved and len(c.calls) > 1 and o.index in ("zero", "absent") and o.whole == "no"
    ),
    "the model was stopped before the input began, or there is none": lambda c, o: (
        c.finish.reason not in _DEFINITE
        and not (o.block_stop and o.start_input == "empty")
        and not all(call.arguments.strip("{}") for call in c.calls)
    ),
    "the model was stopped inside the last block, a call": lambda c, o: (
        c.finish.reason in CUT_SHORT
        and bool(c.calls)
        and (not c.after or (o.text_at == "no-start" and o.whole == "no"))
    ),
}

# bedrock-converse


def _converse(script: Script, options: Options) -> Turn:
    turn = expected_turn(script)
    return turn if options.metadata else msgspec.structs.replace(turn, usage=None)


def _tgi(script: Script, options: Options) -> Turn:
    if options.details == "null":
        finish = Finish(R.STOP, "")
        return msgspec.structs.replace(expected_turn(script, finish), usage=None)
    return expected_turn(script)


def _says_both_in_v1(script: Script, options: Options) -> bool:
    kind = TextDelta if script.calls else ReasoningDelta
    return bool(options.version == "v1" and script.text(kind))


# dashscope


def _looks_like_snapshots(script: Script, options: Options) -> bool:
    if options.output != "increments" or options.document:
        return False
    fields = [
        [delta.text for delta in (*script.before, *script.after) if isinstance(delta, kind)]
        for kind in (TextDelta, ReasoningDelta)
    ]
    fields += [list(call.fragments) for call in script.calls]
    pairs = (pair for values in fields for pair in itertools.pairwise(values))
    return any(after.startswith(before) for before, after in pairs)


# gemini, google-interactions


def _gemini(script: Script, options: Options) -> Turn:
    finish = script.finish
    if options.finish == "number":
        numbers = {"STOP": "1", "MAX_TOKENS": "2", "SAFETY": "3", "RECITATION": "4", "OTHER": "5"}
        finish = Finish(finish.reason, numbers.get(finish.raw, finish.raw))
    return expected_turn(script, finish)


def _gemini_live(script: Script, options: Options) -> Turn:
    awaits = options.ending == "tool-call" and script.calls
    finish = script.finish
    is_left_out = awaits and finish.raw == "turnComplete"
    return expected_turn(script, Finish(finish.reason, "") if is_left_out else finish)


# mistral


def _mistral_shares_names(script: Script, options: Options) -> bool:
    if options.call_id == "kept" or options.index == "kept":
        return False
    in_fragments = options.calls == "fragments" and not options.document
    return any(
        one.name == two.name and (in_fragments or not one.arguments or not two.arguments)
        for one, two in itertools.pairwise(script.calls)
    )


_MISTRAL: Final[Contradictions] = {
    "neither id nor index, and the same name again: fragments of one call, or another one": (
        _mistral_shares_names
    ),
    "an id that reads as if there were none": lambda c, o: (
        o.call_id == "kept" and any(call.id == "null" for call in c.calls)
    ),
    "fragments of several calls alternate, and nothing says whose each is": lambda c, o: (
        c.interleaved and len(c.calls) > 1 and o.calls == "fragments" and o.index != "kept"
    ),
}

# ollama


def _ollama(script: Script, options: Options) -> Turn:
    return expected_turn(script, None if options.done_reason else Finish(R.STOP, ""))


# openai-chat


def _openai_chat(script: Script, options: Options) -> Turn:
    finish = script.finish
    if options.finish == "absent":
        finish = Finish(R.STOP, "")
    if options.finish == "then-stop" and finish.reason in (R.STOP, R.OTHER):
        finish = Finish(R.STOP, "stop")
    return expected_turn(script, finish)


ROUND_TRIPS: Final[dict[str, RoundTrip]] = {
    "anthropic": RoundTrip(
        finishes=(
            Finish(R.STOP, "end_turn"),
            Finish(R.STOP, "stop_sequence"),
            Finish(R.TOOL_CALLS, "tool_use"),
            Finish(R.LENGTH, "max_tokens"),
            Finish(R.LENGTH, "model_context_window_exceeded"),
            Finish(R.CONTENT_FILTER, "refusal"),
            Finish(R.OTHER, "pause_turn"),
            Finish(R.OTHER, "Something"),
        ),
        failure=StreamFailure("overloaded_error", "busy"),
        expected=_anthropic,
        document=_replaced("anthropic", whole="document"),
        streamed={"whole": "no"},
        cannot_fail=lambda options: bool(options.whole == "document"),
        contradictions=_ANTHROPIC,
        free={"comment": ("", " keep-alive", "{}"), "message_id": ("msg_1", "")},
        text=lambda options: options.input == "empty-first" and options.whole == "no",
    ),
    "bedrock-converse": RoundTrip(
        finishes=(
            Finish(R.STOP, "end_turn"),
            Finish(R.STOP, "stop_sequence"),
            Finish(R.TOOL_CALLS, "tool_use"),
            Finish(R.LENGTH, "max_tokens"),
            Finish(R.LENGTH, "model_context_window_exceeded"),
            Finish(R.CONTENT_FILTER, "guardrail_intervened"),
            Finish(R.CONTENT_FILTER, "content_filtered"),
            Finish(R.OTHER, "paused"),
        ),
        failure=StreamFailure("throttlingException", "busy"),
        expected=_converse,
        document=converse_document,
        contradictions=_CUT,
        free={"first_index": (0, 1, 2), "gaps": (0, 1, 2)},
    ),
    "bedrock-llama": RoundTrip(
        finishes=(Finish(R.STOP, "stop"), Finish(R.LENGTH, "length"), Finish(R.OTHER, "x")),
        failure=StreamFailure("throttlingException", "busy"),
        document=llama_document,
        text_only=True,
    ),
    "cohere": RoundTrip(
        finishes=(
            Finish(R.STOP, "COMPLETE"),
            Finish(R.STOP, "STOP_SEQUENCE"),
            Finish(R.TOOL_CALLS, "TOOL_CALL"),
            Finish(R.LENGTH, "MAX_TOKENS"),
            Finish(R.CONTENT_FILTER, "ERROR_TOXIC"),
            Finish(R.OTHER, "none of ours"),
        ),
        failure=StreamFailure("ERROR", "busy"),
        document=cohere_document,
        contradictions=_CUT | {"a complete response of version 1 has one text": _says_both_in_v1},
        free={"response_id": ("", "r1")},
        ids=lambda options: bool(options.version == "v2"),
        text=lambda options: bool(options.version == "v2"),
    ),
    "dashscope": RoundTrip(
        finishes=(
            Finish(R.STOP, "stop"),
            Finish(R.TOOL_CALLS, "tool_calls"),
            Finish(R.LENGTH, "length"),
            Finish(R.OTHER, "none of ours"),
        ),
        failure=StreamFailure("Throttling", "busy"),
        document=_replaced("dashscope", document=True),
        streamed={"document": False},
        contradictions=_CUT
        | {
            "fragments of several calls alternate, and nothing says whose each is": lambda c, o: (
                c.interleaved and len(c.calls) > 1 and bool(o.index == "absent")
            ),
            "increments that begin with the one before are snapshots": _looks_like_snapshots,
        },
        free={"request_id": ("", "r1")},
        text=lambda options: bool(options.arguments == "text"),
    ),
    "gemini": RoundTrip(
        finishes=(
            Finish(R.STOP, "STOP"),
            Finish(R.LENGTH, "MAX_TOKENS"),
            Finish(R.CONTENT_FILTER, "SAFETY"),
            Finish(R.CONTENT_FILTER, "RECITATION"),
            Finish(R.OTHER, "OTHER"),
            Finish(R.OTHER, "A_NEW_WORD"),
        ),
        failure=StreamFailure("RESOURCE_EXHAUSTED", "busy"),
        expected=_gemini,
        document=_replaced("gemini", framing="document"),
        contradictions=_CUT
        | {"nothing says that the turn ended": lambda _, o: bool(o.finish == "absent")},
        free={"candidate": (0, None, 3)},
        ids=lambda options: bool(options.call_id == "own"),
    ),
    "gemini-live": RoundTrip(
        finishes=(
            Finish(R.STOP, "turnComplete"),
            Finish(R.STOP, "NEED_MORE_INPUT"),
            Finish(R.CONTENT_FILTER, "RESPONSE_REJECTED"),
            Finish(R.OTHER, "interrupted"),
        ),
        failure=StreamFailure("RESOURCE_EXHAUSTED", "busy"),
        expected=_gemini_live,
        document=_replaced("gemini-live"),  # a session has no response without a stream
        contradictions=_CUT
        | {
            "an API that awaits results reports no end and no counts": lambda c, o: (
                o.ending == "tool-call" and bool(c.after or c.usage)
            )
        },
        text=lambda _: False,
        ids=lambda options: bool(options.call_id == "own"),
    ),
    "google-interactions": RoundTrip(
        finishes=(
            Finish(R.STOP, "completed"),
            Finish(R.TOOL_CALLS, "requires_action"),
            Finish(R.LENGTH, "incomplete"),
            Finish(R.LENGTH, "budget_exceeded"),
            Finish(R.OTHER, "a_new_word"),
        ),
        failure=StreamFailure("quota", "busy"),
        document=_replaced("google-interactions", framing="document"),
        contradictions=_CUT
        | {"nothing says that the turn ended": lambda _, o: bool(o.status == "absent")},
        text=lambda _: False,
    ),
    "mistral": RoundTrip(
        finishes=(
            Finish(R.STOP, "stop"),
            Finish(R.TOOL_CALLS, "tool_calls"),
            Finish(R.LENGTH, "length"),
            Finish(R.LENGTH, "model_length"),
            Finish(R.OTHER, "none of ours"),
        ),
        failure=StreamFailure("3000", "busy"),
        document=_replaced("mistral", document=True),
        streamed={"document": False, "calls": "together"},
        contradictions=_CUT | _MISTRAL,
        free={"response_id": ("", "r1")},
        ids=lambda options: bool(options.call_id == "kept"),
        text=lambda options: bool(options.arguments != "object"),
    ),
    "ollama": RoundTrip(
        finishes=(
            Finish(R.STOP, "stop"),
            Finish(R.LENGTH, "length"),
            Finish(R.OTHER, "load"),
            Finish(R.OTHER, "none of ours"),
        ),
        failure=StreamFailure("error", "busy"),
        expected=_ollama,
        document=ollama_document,
        contradictions=_CUT,
        ids=lambda options: bool(options.call_id == "kept"),
        text=lambda _: False,
    ),
    "openai-chat": RoundTrip(
        finishes=(
            Finish(R.STOP, "stop"),
            Finish(R.STOP, "end_turn"),
            Finish(R.TOOL_CALLS, "tool_calls"),
            Finish(R.TOOL_CALLS, "function_call"),
            Finish(R.LENGTH, "length"),
            Finish(R.LENGTH, "max_tokens"),
            Finish(R.CONTENT_FILTER, "content_filter"),
            Finish(R.OTHER, "eos"),
            Finish(R.OTHER, "Malformed"),
        ),
        failure=StreamFailure("overloaded", "busy"),
        expected=_openai_chat,
        document=chat_document,
        streamed={"finish": "own-chunk"},
        contradictions=_CUT | OPENAI_CHAT_CONTRADICTIONS,
        free={
            "comment": ("", " keep-alive", "{}"),
            "event_name": ("", "message", "chunk"),
            "response_id": ("chatcmpl-1", ""),
            "name_pieces": (1, 2, 3, 5),
            "choice": (0, None, 3),
        },
        ids=lambda options: not without_ids(options) and options.where != "legacy",
        text=lambda options: bool(options.arguments != "object"),
    ),
    "openai-completions": RoundTrip(
        finishes=(
            Finish(R.STOP, "stop"),
            Finish(R.LENGTH, "length"),
            Finish(R.CONTENT_FILTER, "content_filter"),
            Finish(R.OTHER, "eos"),
        ),
        failure=StreamFailure("7", "busy"),
        document=completion_document,
        free={"choice": (0, None, 2)},
        text_only=True,
    ),
    "openai-responses": RoundTrip(
        finishes=(
            Finish(R.STOP, "completed"),
            Finish(R.LENGTH, "max_output_tokens"),
            Finish(R.CONTENT_FILTER, "content_filter"),
            Finish(R.OTHER, "moonlight"),
        ),
        failure=StreamFailure("rate_limit_exceeded", "slow down"),
        document=responses_document,
        contradictions=_CUT,
        text=lambda options: bool(possible_options(options).arguments != "object"),
    ),
    "tgi": RoundTrip(
        finishes=(
            Finish(R.STOP, "eos_token"),
            Finish(R.STOP, "stop_sequence"),
            Finish(R.LENGTH, "length"),
            Finish(R.OTHER, "eos"),
        ),
        failure=StreamFailure("overloaded", "busy"),
        expected=_tgi,
        document=tgi_document,
        free={"special_text": ("</s>", "<|im_end|>")},
        text_only=True,
    ),
}


@st.composite
def written_turns(draw: st.DrawFn, /, dialect: str, **changes: object) -> tuple[Script, Options]:
    """Draw a turn and options that leave it one reading; `changes` are options to use."""
    row = ROUND_TRIPS[dialect]
    script = draw(scripts(row.finishes, text_only=row.text_only))
    drawn = writer_options(dialect, **row.free).map(
        lambda it: msgspec.structs.replace(it, **changes)
    )
    # Other options may have one reading; a script that is drawn again takes much longer.
    options = draw(drawn.filter(lambda it: not _contradicts(row, script, it)))
    return script, options


def _contradicts(row: RoundTrip, script: Script, options: Options) -> bool:
    return any(holds(script, options) for holds in row.contradictions.values())
