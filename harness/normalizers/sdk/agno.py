"""Adapter of the agno package: `Model.process_response_stream`, the step of its agents' loop.

Text and reasoning are taken from the responses that it yields; calls and usage from the message
that it fills. `Model.get_function_calls_to_run` parses the arguments and says which calls the loop
executes. The package reads no finish reason.
"""

import importlib
import json
import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.validation import validation_error
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    base: Any = importlib.import_module("agno.models.base")
    messages: Any = importlib.import_module("agno.models.message")
    exceptions: Any = importlib.import_module("agno.exceptions")
    model, answers = _model()
    answers.use(interaction, reads)
    data, reply = base.MessageData(), messages.Message(role="assistant")
    try:
        for response in model.process_response_stream(
            [messages.Message(role="user", content="replay")], reply, data
        ):
            if response.reasoning_content:
                yield ReasoningDelta(response.reasoning_content)
            if response.content:
                yield TextDelta(response.content)
    except exceptions.AgnoError as problem:
        yield StreamFailure(f"http_{problem.status_code}", str(problem.message))
    else:
        yield from _final_deltas(model, reply, interaction)


@cache
def _model() -> tuple[Any, sdk.Answers]:
    """Return the package's model class, which takes clients of httpx only."""
    logging.getLogger("agno").setLevel(logging.CRITICAL)  # it prints each problem that it meets
    library: Any = importlib.import_module("agno.models.openai")
    http, answers = sdk.lasting_client("httpx")
    return library.OpenAIChat(id="replay", **sdk.client_options(http)), answers


def _final_deltas(
    model: Any,  # noqa: ANN401 - values of a package that may not be installed
    reply: Any,  # noqa: ANN401 - as above
    interaction: Interaction,
) -> Iterator[Delta]:
    if reply.metrics is not None and reply.metrics.total_tokens:
        yield UsageDelta(Usage(reply.metrics.input_tokens, reply.metrics.output_tokens))
    for index, call in enumerate(reply.tool_calls or ()):
        yield from _call(index, call, model, type(reply), interaction)
    yield Finish(FinishReason.OTHER)


def _call(
    index: int,
    call: Any,  # noqa: ANN401 - as above
    model: Any,  # noqa: ANN401 - as above
    message: Any,  # noqa: ANN401 - as above
    interaction: Interaction,
) -> Iterator[Delta]:
    """Yield a call as the loop executes it; each name is that of a tool, but no tool has none.

    Its tools check their arguments. That is credited if no text of them came, because a limit may
    have cut the call off, and the package does not say that it did.
    """
    tools: Any = importlib.import_module("agno.tools.function")
    function = call.get("function", {})
    name = function.get("name", "")
    known = {name: tools.Function(name=name)} if name else {}
    rejections: list[Any] = []
    to_run = model.get_function_calls_to_run(
        message(role="assistant", tool_calls=[call]), rejections, known
    )
    for each in to_run:
        given = json.dumps(each.arguments or {})
        why = "" if function.get("arguments") else validation_error(interaction, name, given)
        yield from sdk.named_call(index, each.call_id, each.function.name, given, why)
    for each in rejections:
        arguments = function.get("arguments")
        yield from sdk.withheld_call(index, call.get("id"), name, arguments, each.content)


normalizer = Normalizer(
    name="agno",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    kind="gateway",
    hides=frozenset(("finish",)),
    role="peer",
    summary="the agno package: process_response_stream and get_function_calls_to_run",
    policies={"arguments": "append"},
    needs=("agno", "openai", "httpx"),
    extra="agno",
)
