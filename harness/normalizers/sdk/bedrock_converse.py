"""Adapter of the boto3 package: `converse_stream` of its client for Amazon Bedrock.

It hands over events, so this module joins the calls by the index of their block. Text, reasoning,
finish and usage are taken from the events.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.normalizers.sdk.fragments import Fragments
from harness.turns.deltas import (
    Delta,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

_FINISH: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
}
_FAILED: Final = frozenset(("malformed_model_output", "malformed_tool_use"))
_MESSAGES: Final = ({"role": "user", "content": [{"text": "replay"}]},)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    exceptions: Any = importlib.import_module("botocore.exceptions")
    eventstream: Any = importlib.import_module("botocore.eventstream")
    turn = _Turn()
    client = _client()
    sdk.replay_botocore(client, interaction, reads)
    try:
        for event in client.converse_stream(modelId="replay", messages=_MESSAGES)["stream"]:
            yield from turn.take(event)
    except exceptions.ClientError as problem:
        error = problem.response["Error"]
        yield from turn.calls.failed(StreamFailure(error["Code"], error.get("Message", "")))
    except (exceptions.BotoCoreError, eventstream.ParserError) as problem:
        yield from turn.calls.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _client() -> Any:  # noqa: ANN401 - of a package that may not be installed
    boto3: Any = importlib.import_module("boto3")
    config: Any = importlib.import_module("botocore.config")
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=sdk.BASE_URL,
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - nothing is sent
        config=config.Config(retries={"total_max_attempts": 1}),
    )


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self.calls = Fragments()
        self._finish: str | None = None
        self._usage: dict[str, int] = {}

    def take(self, event: dict[str, Any]) -> Iterator[Delta]:
        """Yield the deltas of one event."""
        if started := event.get("contentBlockStart"):
            call = started["start"].get("toolUse")
            if call and call.get("type") != "server_tool_use":
                index = started["contentBlockIndex"]
                self.calls.begin(index)
                self.calls.extend(index, call["toolUseId"], call["name"], "")
        elif changed := event.get("contentBlockDelta"):
            yield from self._delta(changed["contentBlockIndex"], changed["delta"])
        elif stopped := event.get("messageStop"):
            self._finish = stopped["stopReason"]
        elif metadata := event.get("metadata"):
            self._usage = metadata["usage"]

    def _delta(self, index: int, delta: dict[str, Any]) -> Iterator[Delta]:
        if delta.get("text"):
            yield TextDelta(delta["text"])
        if text := delta.get("reasoningContent", {}).get("text"):
            yield ReasoningDelta(text)
        if (call := delta.get("toolUse")) and index in self.calls:  # not one of a server's tool
            self.calls.extend(index, "", "", call.get("input"))

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._usage:
            yield UsageDelta(Usage(self._usage.get("inputTokens"), self._usage.get("outputTokens")))
        if self._finish in _FAILED:
            yield from self.calls.failed(StreamFailure(self._finish))
        else:
            yield from self.calls.end(self._finish, _FINISH)


normalizer = Normalizer(
    name="boto3",
    normalize=normalize,
    dialects=frozenset(("bedrock-converse",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"other-encodings"},
    kind="sdk",
    role="peer",
    summary="the boto3 package: converse_stream, its events joined by index",
    needs=("boto3", "botocore"),
    extra="boto3",
)
