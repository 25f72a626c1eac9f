"""Adapter of the ag2 package: the client of `OpenAIConfig(streaming=True)`, as its agents call it.

Text and reasoning are taken from the events that it sends to its stream; calls, finish and usage
from the response that it returns. Its agents execute calls until a response has none, whatever the
finish reason is.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.normalizers.sdk.fragments import FINISH
from harness.turns.deltas import Delta, ReasoningDelta, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    contexts: Any = importlib.import_module("ag2.context")
    events: Any = importlib.import_module("ag2.events")
    client, answers = _client()
    answers.use(interaction, reads)
    stream = importlib.import_module("ag2.stream").MemoryStream()
    responses: list[Any] = []

    async def turn(hand_over: asynchronous.HandOver[Any]) -> None:
        async def receive(event: Any) -> None:  # noqa: ANN401 - an event of a package that may not be installed
            await hand_over(event)

        stream.subscribe(receive)
        context = contexts.ConversationContext(stream)
        responses.append(await client((), context, tools=(), response_schema=None, serializer=None))

    try:
        for event in asynchronous.run_turn(turn):
            if isinstance(event, events.ModelReasoning):
                yield ReasoningDelta(event.content)
            elif isinstance(event, events.ModelMessageChunk):
                yield TextDelta(event.content)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)
    else:
        yield from _final_deltas(responses[0])


@cache
def _client() -> tuple[Any, sdk.Answers]:
    config: Any = importlib.import_module("ag2.config")
    http, answers = sdk.lasting_async_client("httpx2")
    options = config.OpenAIConfig(model="replay", streaming=True, **sdk.client_options(http))
    return options.create(), answers


def _final_deltas(response: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
    usage = response.usage
    yield UsageDelta(Usage(usage.prompt_tokens, usage.completion_tokens))
    calls = response.tool_calls.calls
    for index, call in enumerate(calls):
        yield from sdk.named_call(index, call.id, call.name, call.arguments)
    yield sdk.finish_by_calls(response.finish_reason, FINISH, has_calls=bool(calls))


normalizer = Normalizer(
    name="ag2",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    role="peer",
    summary="the ag2 package: the client of OpenAIConfig(streaming=True), its events and response",
    policies={"arguments": "append"},
    needs=("ag2", "openai", "httpx2"),
    extra="ag2",
)
