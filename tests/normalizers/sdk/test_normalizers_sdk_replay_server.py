"""A library that takes only a base URL is judged through a server, by the same rules."""

import json
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

import httpx
from hypothesis import assume, given
from msgspec.structs import replace

from harness.dialects.openai_chat.write import write
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers import sdk
from harness.normalizers.protocol import Normalizer
from harness.results.outcome import Outcome
from harness.turns.deltas import Delta
from harness.wire.cuts import each_byte
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import a_cassette
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns, replayed

TURNS = clean_turns("stop", "tool_calls", 9)


def chunks(base_url: str) -> Iterator[Any]:
    """Yield the chunks that a careful client reads at a base URL."""
    url = f"{base_url}/chat/completions"
    with httpx.Client(trust_env=False) as client, client.stream("POST", url) as response:
        frames = (frame.data for frame in iter_frames(response.iter_raw()))
        yield from map(json.loads, takewhile(b"[DONE]".__ne__, frames))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    with sdk.replay_server(interaction, reads) as base_url:
        yield from sdk.chat_deltas(chunks(base_url))


@given(TURNS)
def test_a_client_at_the_base_url_conforms(deltas: list[Delta]) -> None:
    interaction = an_answer("openai-chat", tuple(write(deltas)))
    subject = LoadedSubject(a_cassette(interaction))
    result, case = judge_subject(subject, Normalizer("server", normalize), cuts="quick")
    assume(result.outcome is not Outcome.UNJUDGED)  # half a marker of a template
    assert result.outcome is Outcome.PASS, case
    # The server reads ahead of the client, so text is late in no replay.
    assert result.findings == ()


@given(TURNS)
def test_a_body_that_broke_off_is_a_failure(deltas: list[Delta]) -> None:
    events = tuple(write(deltas))[:-1]
    interaction = replace(an_answer("openai-chat", events), ended="truncated")
    result = replayed(Normalizer("server", normalize), interaction, each_byte(interaction.body))
    assert result.turn.failure is not None
    assert result.is_read_ahead


def test_a_normalizer_that_takes_its_reads_itself_is_not_ahead() -> None:
    interaction = an_answer("openai-chat", (b"data: [DONE]\n\n",))
    plain = Normalizer("plain", lambda _interaction, reads: iter(map(str, reads)))  # type: ignore[arg-type]
    assert not replayed(plain, interaction).is_read_ahead
