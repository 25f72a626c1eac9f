"""Convert an answer in the format of OpenAI's chat completions to deltas.

Many libraries do not join chunks, so their users do. The driver of such a library is written like
the loop of a careful user: it executes only complete calls of a finished answer.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from typing import Any, Final

from harness.normalizers.sdk.asynchronous import iterate
from harness.normalizers.sdk.events import Event, deltas_of
from harness.repro.drivers.shared.chat import Chunks
from harness.repro.drivers.shared.ends import CHAT_WORDS
from harness.repro.drivers.shared.members import member
from harness.turns.deltas import Delta, FinishReason

# The words of OpenAI's chat completions.
FINISH: Final = {word: FinishReason(meaning) for word, meaning in CHAT_WORDS.items()}
_REASONING: Final = ("reasoning_content", "reasoning")


def chat_deltas(
    answer: Iterable[Any] | AsyncIterable[Any] | Awaitable[Any] | Mapping[str, Any],
) -> Iterator[Delta]:
    """Yield the deltas of an answer in the format of OpenAI's chat completions.

    Text is yielded when its chunk arrives. The calls are joined by their index, and yielded at the
    end: a call is executed if it is complete and the answer has a finish reason. If a call is
    executed, the turn ends with `tool_calls`, whatever the finish reason is. Exceptions of the
    library are passed on. Calls of custom tools are ignored.

    Args:
        answer: the chunks of a stream, or one completion, as objects or dicts. For an async
            library, also an async iterable, or a coroutine that returns one of these.

    Source: OpenAI's API reference, chat completions.
    """
    return deltas_of(_events(answer))


def _events(answer: Any) -> Iterator[Event]:  # noqa: ANN401 - see `chat_deltas`
    turn = Chunks()
    for chunk in _chunks(answer):
        yield from turn.take(chunk)
    yield from turn.end()


def _chunks(answer: Any) -> Iterable[Any]:  # noqa: ANN401 - see `chat_deltas`
    if _is_completion(answer):
        return (_chunk_of(answer),)
    if isinstance(answer, Awaitable):
        return iterate(_awaited(answer))
    # litellm's stream is a sync and an async iterable.
    return answer if isinstance(answer, Iterable) else iterate(answer)


async def _awaited(answer: Awaitable[Any]) -> AsyncIterator[Any]:
    found = await answer
    if _is_completion(found):
        yield _chunk_of(found)
    else:
        async for chunk in found:
            yield chunk


def _is_completion(answer: object) -> bool:
    return isinstance(answer, Mapping) or member(answer, "choices") is not None


def _chunk_of(completion: object) -> dict[str, Any]:
    """Return a complete chat completion as one chunk of a stream."""
    choices = [
        {
            "index": member(choice, "index"),
            "finish_reason": member(choice, "finish_reason"),
            "delta": _delta_of(member(choice, "message")),
        }
        for choice in member(completion, "choices") or ()
    ]
    return {"choices": choices, "usage": member(completion, "usage")}


def _delta_of(message: object) -> dict[str, Any]:
    names = ("content", "refusal", "function_call", *_REASONING)
    calls = [
        {"index": place, "id": member(call, "id"), "function": member(call, "function")}
        for place, call in enumerate(member(message, "tool_calls") or ())
    ]
    return {"tool_calls": calls, **{name: member(message, name) for name in names}}
