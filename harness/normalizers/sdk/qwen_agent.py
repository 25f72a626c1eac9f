"""Adapter of the qwen-agent package: `get_chat_model(...).chat(stream=True)` with the raw API.

Each item is the list of messages so far. Text, reasoning and calls are taken from them; its agents
execute the calls of the last list. The package reads neither finish reason nor usage.
"""

import importlib
import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta, Finish, FinishReason, ReasoningDelta, TextDelta
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    base: Any = importlib.import_module("qwen_agent.llm.base")
    schema: Any = importlib.import_module("qwen_agent.llm.schema")
    model, answers = _model()
    answers.use(interaction, reads)
    messages: list[Any] = []
    text = reasoning = ""
    try:
        for messages in model.chat([schema.Message(role="user", content="replay")], stream=True):
            before = reasoning, text
            reasoning = "".join(it.reasoning_content or "" for it in messages)
            text = "".join(it.content for it in messages)
            if reasoning != before[0]:
                yield ReasoningDelta(reasoning.removeprefix(before[0]))
            if text != before[1]:
                yield TextDelta(text.removeprefix(before[1]))
    except base.ModelServiceError as problem:
        yield sdk.failure_delta(problem.exception)
    else:
        yield from _final_deltas(messages)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    openai: Any = importlib.import_module("openai")
    llm: Any = importlib.import_module("qwen_agent.llm")
    logging.getLogger("qwen_agent_logger").setLevel(logging.CRITICAL)  # it reports each request
    http, answers = sdk.lasting_client("httpx2")
    options = {"model": "replay", "model_type": "oai", "model_server": sdk.BASE_URL}
    model = llm.get_chat_model({**options, "generate_cfg": {"use_raw_api": True}})
    # The package makes a client of openai for each request, and gives it no options.
    model._chat_complete_create = openai.OpenAI(  # noqa: SLF001 - it takes no client
        **sdk.client_options(http)
    ).chat.completions.create
    return model, answers


def _final_deltas(messages: Iterable[Any]) -> Iterator[Delta]:
    calls = [message for message in messages if message.function_call]
    for index, message in enumerate(calls):
        call = message.function_call
        yield from sdk.named_call(
            index, message.extra.get("function_id"), call.name, call.arguments
        )
    yield Finish(FinishReason.OTHER)


normalizer = Normalizer(
    name="qwen-agent",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    hides=frozenset(("finish", "usage")),
    role="peer",
    summary="the qwen-agent package: chat(stream=True) of its OpenAI model, with the raw API",
    policies={"names": "append", "arguments": "append"},
    needs=("qwen_agent", "openai", "httpx2"),
    extra="qwen-agent",
)
