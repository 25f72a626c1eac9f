"""Adapter of the dashscope package: `Generation.call` with `stream=True`.

It hands over the events of the API, so this module joins the calls. Each event contains either what
is new or everything so far, as the user asked; the option is taken from the recorded request.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
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
from harness.turns.json_values import as_dict
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
}
# While the model generates, the reason is this text.
_NO_FINISH: Final = (None, "", "null")
_SUCCESS: Final = 200
_MESSAGES: Final = ({"role": "user", "content": "replay"},)


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    dashscope: Any = importlib.import_module("dashscope")
    errors: Any = importlib.import_module("dashscope.common.error")
    session, answers = _session()
    answers.use(interaction, reads)
    options = stream_options(interaction)
    turn = _Turn(is_incremental=bool(options))
    try:
        for response in dashscope.Generation.call(
            model="replay",
            messages=list(_MESSAGES),
            api_key="none",
            result_format="message",
            stream=True,
            session=session,
            **options,
        ):
            yield from turn.take(response)
    except errors.DashScopeException as problem:
        yield from turn.failed(sdk.failure_delta(problem))
    else:
        yield from turn.end()


@cache
def _session() -> tuple[Any, sdk.Answers]:
    return sdk.lasting_client("requests")


def stream_options(interaction: Interaction) -> dict[str, Any]:
    """Return the option of a user who wants what is new in each event, if the request has it."""
    body = as_dict(json_or_none(interaction.request.body))
    wanted = as_dict(body.get("parameters")).get("incremental_output")
    return {"incremental_output": True} if wanted is True else {}


class _Turn:
    """The facts received so far in one stream.

    Args:
        is_incremental: whether each event contains only what is new.
    """

    def __init__(self, *, is_incremental: bool) -> None:
        self._is_incremental = is_incremental
        self._calls = Fragments()
        self._texts = {"content": "", "reasoning_content": ""}
        self._finish: object = None
        self._usage: Any = None
        self._failure: StreamFailure | None = None

    def take(self, response: Any) -> Iterator[Delta]:  # noqa: ANN401 - a response of a package that may not be installed
        """Yield the deltas of one event."""
        if response.status_code != _SUCCESS:
            code = response.code or f"http_{response.status_code}"
            self._failure = self._failure or StreamFailure(str(code), str(response.message))
            return
        self._usage = response.usage or self._usage
        output = response.output
        finish: object = output.get("finish_reason")
        message: Mapping[str, Any] = {"content": output.get("text")}
        if output.get("choices"):
            choice = output["choices"][0]
            finish, message = choice["finish_reason"], choice["message"] or {}
        if finish not in _NO_FINISH:
            self._finish = finish
        for field, delta in (("reasoning_content", ReasoningDelta), ("content", TextDelta)):
            new = self._new_text(field, _text(message.get(field)))
            if new:
                yield delta(new)
        self._take_calls(message.get("tool_calls") or ())

    def _new_text(self, field: str, text: str) -> str:
        if self._is_incremental:
            return text
        new = text.removeprefix(self._texts[field])
        self._texts[field] = text or self._texts[field]
        return new

    def _take_calls(self, calls: Iterable[Mapping[str, Any]]) -> None:
        if calls and not self._is_incremental:
            self._calls = Fragments()
        for place, call in enumerate(calls):
            function = call.get("function") or {}
            index = call.get("index", place)
            name, arguments = function.get("name"), function.get("arguments")
            self._calls.extend(index, call.get("id"), name, arguments)

    def failed(self, failure: StreamFailure) -> Iterator[Delta]:
        """Yield the calls that agent code does not execute, and the failure."""
        return self._calls.failed(failure)

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._failure is not None:
            yield from self.failed(self._failure)
            return
        if self._usage:
            usage = self._usage
            yield UsageDelta(Usage(usage.get("input_tokens"), usage.get("output_tokens")))
        yield from self._calls.end(self._finish, FINISH)


def _text(content: Any) -> str:  # noqa: ANN401 - as above
    """Return text, or that of the parts in which multimodal models send it."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


normalizer = Normalizer(
    name="dashscope",
    normalize=normalize,
    dialects=frozenset(("dashscope",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS,
    kind="sdk",
    role="peer",
    summary="the dashscope package: Generation.call, its events joined by index",
    needs=("dashscope", "requests"),
    extra="dashscope",
)
