"""Adapter of the semantic-kernel package: `get_streaming_chat_message_contents`, as its loop.

Text is taken from the messages; calls, finish and usage from their sum. The loop parses the
arguments with `FunctionCallContent.parse_arguments` and executes calls until a sum has none,
whatever the finish reason is.
"""

import importlib
import json
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from operator import add
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk import asynchronous
from harness.normalizers.sdk.fragments import FINISH
from harness.normalizers.sdk.validation import validation_error
from harness.turns.deltas import Delta, StreamFailure, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(("custom-tools", "client-actions", "other-encodings", "several-choices"))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    library: Any = importlib.import_module("semantic_kernel.connectors.ai.open_ai")
    contents: Any = importlib.import_module("semantic_kernel.contents")
    exceptions: Any = importlib.import_module("semantic_kernel.exceptions")
    service, answers = _service()
    answers.use(interaction, reads)
    history = contents.ChatHistory()
    history.add_user_message("replay")
    stream = service.get_streaming_chat_message_contents(
        history, library.OpenAIChatPromptExecutionSettings()
    )
    messages: list[Any] = []
    try:
        for message, *_ in asynchronous.iterate(stream):
            messages.append(message)
            if message.content:
                yield TextDelta(message.content)
        deltas = list(_final_deltas(messages, exceptions, interaction))
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)
    except exceptions.KernelException as problem:
        yield sdk.failure_delta(_cause(problem))
    else:
        yield from deltas


@cache
def _service() -> tuple[Any, sdk.Answers]:
    openai: Any = importlib.import_module("openai")
    library: Any = importlib.import_module("semantic_kernel.connectors.ai.open_ai")
    http, answers = sdk.lasting_async_client("httpx2")
    client = openai.AsyncOpenAI(**sdk.client_options(http))
    return library.OpenAIChatCompletion(ai_model_id="replay", async_client=client), answers


def _cause(problem: Any) -> Any:  # noqa: ANN401 - values of a package that may not be installed
    """Return the exception of the openai package that caused one of this package."""
    return problem.__cause__ or problem


def _final_deltas(
    messages: list[Any],
    exceptions: Any,  # noqa: ANN401 - as above
    interaction: Interaction,
) -> Iterator[Delta]:
    if not messages:
        yield StreamFailure("empty_stream", "no message came")
        return
    total = reduce(add, messages)
    usage = total.metadata.get("usage")
    if usage is not None:
        yield UsageDelta(Usage(usage.prompt_tokens, usage.completion_tokens))
    finish = total.finish_reason and total.finish_reason.value
    calls = [item for item in total.items if item.content_type == "function_call"]
    for index, call in enumerate(calls):
        handed = index, call.id, call.name
        try:
            arguments = json.dumps(call.parse_arguments() or {})
        except exceptions.FunctionCallInvalidArgumentsException as problem:
            yield from sdk.withheld_call(*handed, call.arguments, problem)
        else:
            is_cut = finish == "length"
            why = validation_error(interaction, call.name or "", arguments) if is_cut else ""
            yield from sdk.named_call(*handed, arguments, why)
    yield sdk.finish_by_calls(finish, FINISH, has_calls=bool(calls))


normalizer = Normalizer(
    name="semantic-kernel",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    # The service for this API reads no reasoning.
    hides=frozenset(("reasoning",)),
    role="peer",
    summary="the semantic-kernel package: get_streaming_chat_message_contents, summed",
    policies={"arguments": "append"},
    needs=("semantic_kernel", "openai", "httpx2"),
    extra="semantic-kernel",
)
