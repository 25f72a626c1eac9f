"""Adapter of the haystack-ai package: `OpenAIChatGenerator.run_async` with a streaming callback.

Text is taken from the chunks that the callback gets; calls, finish and usage from the reply, as
its agent does. The package leaves calls out whose arguments it cannot parse. The async method is
used, because its callback can wait until the harness wants the next chunk.
"""

import importlib
import json
import logging
import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.normalizers.sdk.fragments import FINISH
from harness.normalizers.sdk.validation import validation_error
from harness.turns.deltas import Delta, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

# By default the package sends usage statistics.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

# The package raises an exception if a chunk has several choices, and says so.
_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    generator, answers = _generator()
    answers.use(interaction, reads)
    replies: list[Any] = []

    async def turn(hand_over: asynchronous.HandOver[Any]) -> None:
        found = await generator.run_async("replay", streaming_callback=hand_over)
        replies.extend(found["replies"])

    try:
        for chunk in asynchronous.run_turn(turn):
            if chunk.content:
                yield TextDelta(chunk.content)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)
    else:
        yield from _final_deltas(replies[0], interaction)


@cache
def _generator() -> tuple[Any, sdk.Answers]:
    """Return the package's generator, which takes transports of httpx only."""
    logging.getLogger("haystack").setLevel(logging.CRITICAL)  # it warns of each call it leaves out
    chat: Any = importlib.import_module("haystack.components.generators.chat")
    utils: Any = importlib.import_module("haystack.utils")
    transport, answers = sdk.lasting_transport("httpx")
    generator = chat.OpenAIChatGenerator(
        api_key=utils.Secret.from_token("none"),
        model="replay",
        api_base_url=sdk.BASE_URL,
        max_retries=0,
        http_client_kwargs={"transport": transport},
    )
    return generator, answers


def _final_deltas(reply: Any, interaction: Interaction) -> Iterator[Delta]:  # noqa: ANN401 - a message of a package that may not be installed
    usage = reply.meta["usage"]
    if usage:
        yield UsageDelta(Usage(usage["prompt_tokens"], usage["completion_tokens"]))
    finish = reply.meta["finish_reason"]
    for index, call in enumerate(reply.tool_calls):
        written = json.dumps(call.arguments)
        is_cut = finish == "length"
        why = validation_error(interaction, call.tool_name, written) if is_cut else ""
        yield from sdk.named_call(index, call.id, call.tool_name, written, why)
    yield sdk.finish_by_calls(finish, FINISH, has_calls=bool(reply.tool_calls))


normalizer = Normalizer(
    name="haystack",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    # The generator for this API reads no reasoning.
    hides=frozenset(("reasoning",)),
    role="peer",
    summary="the haystack-ai package: OpenAIChatGenerator.run_async and its streaming callback",
    policies={"names": "append", "arguments": "append"},
    needs=("haystack", "openai", "httpx"),
    extra="haystack",
)
