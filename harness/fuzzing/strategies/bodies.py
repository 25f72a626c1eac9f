"""The body of a turn, as the writer of a dialect spells it, with or without quirks."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.dialects.anthropic.writer_options import WriterOptions as Anthropic
from harness.dialects.bedrock_converse.writer_options import WriterOptions as BedrockConverse
from harness.dialects.bedrock_llama.write import WriterOptions as BedrockLlama
from harness.dialects.cohere.writer_options import WriterOptions as Cohere
from harness.dialects.dashscope.writer_options import WriterOptions as DashScope
from harness.dialects.gemini.writer_options import WriterOptions as Gemini
from harness.dialects.google_interactions.writer_options import WriterOptions as GoogleInteractions
from harness.dialects.mistral.writer_options import WriterOptions as Mistral
from harness.dialects.ollama.writer_options import WriterOptions as Ollama
from harness.dialects.openai_chat.writer_options import WriterOptions as OpenAIChat
from harness.dialects.openai_completions.write import WriterOptions as OpenAICompletions
from harness.dialects.openai_responses.writer_options import WriterOptions as OpenAIResponses
from harness.dialects.table import DIALECTS
from harness.dialects.tgi.write import WriterOptions as Tgi
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, seams

WRITER_OPTIONS: Final[dict[str, type[Any]]] = {
    "anthropic": Anthropic,
    "bedrock-converse": BedrockConverse,
    "bedrock-llama": BedrockLlama,
    "cohere": Cohere,
    "dashscope": DashScope,
    "gemini": Gemini,
    "google-interactions": GoogleInteractions,
    "mistral": Mistral,
    "ollama": Ollama,
    "openai-chat": OpenAIChat,
    "openai-completions": OpenAICompletions,
    "openai-responses": OpenAIResponses,
    "tgi": Tgi,
}


@lru_cache
def option_values(dialect: str) -> tuple[tuple[str, object], ...]:
    """Return each (switch, value) of a dialect's spelling that is not the contract's."""
    kind = WRITER_OPTIONS[dialect]
    contract = kind()
    return tuple(
        (name, value)
        for name, hint in get_type_hints(kind).items()
        for value in _values(hint)
        if value != getattr(contract, name)
    )


def writer_options(dialect: str, **free: tuple[object, ...]) -> SearchStrategy[Any]:
    """Return a strategy for spellings, each switch drawn on its own.

    Args:
        dialect: such as `openai-chat`.
        free: the values to draw of switches that are text or numbers; without, such a switch
            keeps the value of the contract.
    """
    kind = WRITER_OPTIONS[dialect]
    contract = kind()
    options = {
        name: (getattr(contract, name), *free.get(name, _values(hint)))
        for name, hint in get_type_hints(kind).items()
    }
    return st.builds(
        kind,
        **{name: st.sampled_from(tuple(dict.fromkeys(each))) for name, each in options.items()},
    )


def _values(hint: object) -> tuple[object, ...]:
    """Return what a switch may be where that is a closed set, else nothing."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return (False, True) if hint is bool else ()


def bodies(
    dialect: str,
    turn: Turn,
    quirks: dict[str, object] | bool = False,  # noqa: FBT001, FBT002 - none, all, or which
) -> SearchStrategy[bytes]:
    """Return bodies that say `turn` in `dialect`.

    Combinations of switches may leave a turn that no reader could tell from another (no index,
    no id, the same name); what reads it back must know the switches. A turn that the dialect
    cannot say gives no body.

    Args:
        dialect: such as `openai-chat`.
        turn: to be said; what was rejected or failed is not.
        quirks: False for the contract's own spelling, True for any, or the switches that are
            fixed, such as `{"line_end": "crlf"}`.
    """
    if isinstance(quirks, dict):
        spelled: SearchStrategy[Any] = st.just(WRITER_OPTIONS[dialect](**quirks))
    else:
        spelled = writer_options(dialect) if quirks else st.just(WRITER_OPTIONS[dialect]())
    said = tuple(deltas_of_turn(turn))
    written = spelled.map(lambda spelling: _written_body(dialect, said, spelling))
    return written.filter(lambda body: body is not None)


def deltas_of_turn(turn: Turn) -> Iterator[Delta]:
    """Yield deltas that fold to `turn`, as far as it did not fail and its calls were good."""
    if turn.reasoning:
        yield ReasoningDelta(turn.reasoning)
    if turn.text:
        yield TextDelta(turn.text)
    for index, call in enumerate(turn.tool_calls):
        yield ToolCallStart(index, call.id, call.name, call.kind)
        if call.arguments:
            yield ArgumentsDelta(index, call.arguments)
        yield ToolCallEnd(index)
    if turn.usage is not None:
        yield UsageDelta(turn.usage)
    yield turn.finish or Finish(FinishReason.STOP)


def _written_body(dialect: str, said: tuple[Delta, ...], spelling: Any) -> Any:  # noqa: ANN401 - bytes or None, of a dialect's own spelling
    try:
        return b"".join(DIALECTS[dialect].write(said, spelling))
    except ValueError:  # the API has no way to say it
        return None


# A larger body byte by byte takes long and shows no more.
_EACH_BYTE_UP_TO: Final = 4_096


def chunkings(body: bytes, *, most: int = 4) -> SearchStrategy[Chunking]:
    """Return chunkings of `body`, which shrink to the whole body.

    Uniform cuts alone find a decoder that decodes each read by itself in half of the runs of
    200; with half of the cuts at seams it is all of them (measured in 2026-11).

    Args:
        body: to be cut.
        most: cuts at most, but that now and then all seams are cut, or each byte is alone.
    """
    if len(body) < 2:  # noqa: PLR2004 - there is nothing to cut
        return st.just(UNSPLIT)
    found = seams(body)
    cut = st.integers(1, len(body) - 1)
    if found:
        cut |= st.sampled_from(found)
    some = st.sets(cut, max_size=most).map(lambda cuts: tuple(sorted(cuts)))
    if len(body) > _EACH_BYTE_UP_TO:
        return some
    return st.one_of(some, some, some, st.sampled_from((found, each_byte(body))))
