"""Adapter of smolagents: `OpenAIModel.generate_stream`, which its `ToolCallingAgent` uses.

Text is taken from the deltas; calls and usage from what `agglomerate_stream_deltas` makes of them.
If they have no call, the agent looks for one in the text, which is not done here because the agent
describes its tools in its own prompt. The package has no finish reason, so the agent executes the
calls of each message that it gets.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta, StreamFailure, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

_ABSENT: Final = frozenset(
    ("custom-tools", "client-actions", "legacy-functions", "other-encodings", "several-choices")
)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("smolagents.models")
    model, answers = _model()
    answers.use(interaction, reads)
    deltas = []
    try:
        for delta in model.generate_stream([{"role": "user", "content": "replay"}]):
            deltas.append(delta)
            if delta.content:
                yield TextDelta(delta.content)
    except openai.OpenAIError as problem:
        yield sdk.failure_delta(problem)
    else:
        if deltas:
            yield from _final_deltas(models.agglomerate_stream_deltas(deltas))
        else:
            yield StreamFailure("empty_stream", "no delta came")


@cache
def _model() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("smolagents")
    http, answers = sdk.lasting_client("httpx2")
    options = {"http_client": http, "max_retries": 0}
    model = library.OpenAIModel(
        "replay", api_base=sdk.BASE_URL, api_key="none", client_kwargs=options, retry=False
    )
    return model, answers


def _final_deltas(message: Any) -> Iterator[Delta]:  # noqa: ANN401 - a message of a package that may not be installed
    usage = message.token_usage
    if usage.input_tokens or usage.output_tokens:
        yield UsageDelta(Usage(usage.input_tokens, usage.output_tokens))
    for index, call in enumerate(message.tool_calls):
        function = call.function
        if function.name:
            yield from sdk.handed_call(index, call.id, function.name, function.arguments)
        else:
            why = "the agent has no tool without a name"
            yield from sdk.withheld_call(index, call.id, "", function.arguments, why)
    yield sdk.finish_delta(None, {})


normalizer = Normalizer(
    name="smolagents",
    normalize=normalize,
    capabilities=sdk.CAPABILITIES_OF_APPENDERS - _ABSENT,
    # Its class targets servers of OpenAI's API, and its deltas have the ids of the provider. The
    # agent sends results back as text, so it needs no id.
    kind="sdk",
    # A delta of the package has neither.
    hides=frozenset(("finish", "reasoning")),
    role="peer",
    summary="the smolagents package: OpenAIModel.generate_stream and agglomerate_stream_deltas",
    policies={"arguments": "append"},
    needs=("smolagents", "openai", "httpx2"),
    extra="smolagents",
)
