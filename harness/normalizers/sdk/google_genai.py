"""Adapter of the google-genai package: `client.models.generate_content_stream`.

Text and thoughts are taken from the parts of its chunks. Its documented agent loop is automatic
function calling, which executes the calls of a chunk before it yields the chunk. A call without
`args` is not executed by the loop of this method, so it is withheld.
"""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from harness.dialects.gemini.read import FAILED, FINISHES
from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta, ReasoningDelta, StreamFailure, TextDelta, Usage, UsageDelta
from harness.wire.interaction import Interaction

_SKIPPED = "automatic function calling skips a call without args"


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas that the package gives its user."""
    errors: Any = importlib.import_module("google.genai.errors")
    turn = _Turn()
    client, answers = _client()
    answers.use(interaction, reads)
    try:
        for chunk in client.models.generate_content_stream(model="replay", contents="replay"):
            yield from turn.take(chunk)
    except errors.APIError as problem:
        yield StreamFailure(str(problem.status or problem.code), str(problem.message))
    except errors.UnknownApiResponseError as problem:
        yield sdk.failure_delta(problem)
    else:
        yield from turn.end()


@cache
def _client() -> tuple[Any, sdk.Answers]:
    library: Any = importlib.import_module("google.genai")
    http, answers = sdk.lasting_client("httpx2")
    options = {"httpx_client": http, "base_url": sdk.BASE_URL}
    return library.Client(api_key="none", vertexai=False, http_options=options), answers


class _Turn:
    """The facts received so far in one stream."""

    def __init__(self) -> None:
        self._calls = 0
        self._finish: Any = None
        self._message: object = None  # of the provider, about the finish
        self._usage: Any = None
        self._blocked: Any = None

    def take(self, chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 - a chunk of a package that may not be installed
        """Yield the deltas of one chunk."""
        self._usage = chunk.usage_metadata or self._usage
        if chunk.prompt_feedback is not None:
            self._blocked = chunk.prompt_feedback.block_reason
        if not chunk.candidates:
            return
        candidate = chunk.candidates[0]
        for part in (candidate.content and candidate.content.parts) or ():
            yield from self._part(part)
        if candidate.finish_reason is not None:
            self._finish, self._message = candidate.finish_reason.value, candidate.finish_message

    def _part(self, part: Any) -> Iterator[Delta]:  # noqa: ANN401 - as above
        if part.text:
            yield ReasoningDelta(part.text) if part.thought else TextDelta(part.text)
        call = part.function_call
        if call is None:
            return
        if call.args is None:
            yield from sdk.withheld_call(self._calls, call.id, call.name, "", _SKIPPED)
        else:
            yield from sdk.handed_call(self._calls, call.id, call.name, call.args)
        self._calls += 1

    def end(self) -> Iterator[Delta]:
        """Yield the end of the turn, in the provider's words."""
        if self._usage is not None:
            usage = self._usage
            output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
            yield UsageDelta(Usage(usage.prompt_token_count, output))
        finish = self._finish
        if finish is None and self._blocked is not None:
            finish = self._blocked.value
        if finish in FAILED:
            yield StreamFailure(finish, str(self._message or ""))
        elif finish is None:
            yield StreamFailure("interrupted", "no chunk has a finish reason")
        else:
            yield sdk.finish_delta(finish, FINISHES)


normalizer = Normalizer(
    name="google-genai",
    normalize=normalize,
    dialects=frozenset(("gemini",)),
    capabilities=sdk.CAPABILITIES_OF_ADAPTERS - {"partial-arguments", "other-encodings"},
    kind="sdk",
    role="peer",
    summary="the google-genai package: models.generate_content_stream",
    needs=("google.genai", "httpx2"),
    extra="google-genai",
)
