"""What answers a request, what is surplus and what stays unplayed; no request is an exception."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.normalizers.reference import normalizer as reference
from harness.playback.delivery import CUTS
from harness.playback.playback import SURPLUS_STATUS, Playback
from harness.turns.fold import fold
from harness.wire.cassette import Cassette
from harness.wire.cuts import each_byte
from harness.wire.interaction import Interaction, Request
from tests.playback.playback_samples import (
    CASSETTES,
    URI,
    cassette,
    interaction,
    interactions,
    reads_of,
)
from tests.tables import each_row

REQUESTS = st.builds(
    Request,
    method=st.sampled_from(("GET", "POST")),
    uri=st.sampled_from((URI, "", "http://[", "http://x:99999999/v1")) | st.text(max_size=9),
    body=st.binary(max_size=9) | st.sampled_from((b"{}", b"[" * 100_000, b"1e999999999999999999")),
)
MATCHES = st.lists(
    st.sampled_from(("order", "method", "path", "body", "query", "port")), min_size=1, unique=True
)


def ask(body: bytes = b"{}", uri: str = URI, method: str = "POST") -> Request:
    return Request(method, uri, (), body)


@given(CASSETTES, st.lists(REQUESTS, max_size=6), MATCHES)
def test_every_request_is_answered_and_every_interaction_at_most_once(
    played: Cassette, requests: list[Request], match: list[str]
) -> None:
    playback = Playback(played, match)
    answers = [playback.answer(request) for request in requests]
    assert [each.request for each in playback.requests] == requests
    assert [each.answer for each in playback.requests] == answers
    indexes = [each.index for each in playback.requests if each.index is not None]
    assert sorted([*indexes, *playback.unplayed()]) == list(range(len(played.interactions)))
    assert all(played.interactions[index] in answers for index in indexes)
    assert len(playback.surplus()) == playback.surplus_count == len(requests) - len(indexes)
    for surplus in playback.surplus():
        document = json.loads(surplus.answer.body)["error"]
        assert surplus.answer.status == SURPLUS_STATUS
        assert surplus.reason in document["message"]


@given(CASSETTES, st.integers(0, 5))
def test_by_order_the_interactions_come_one_after_the_other(played: Cassette, count: int) -> None:
    playback = Playback(played)
    answers = [playback.answer(ask(b"anything")) for _ in range(count)]
    total = len(played.interactions)
    assert tuple(answers[:total]) == played.interactions[:count]
    assert playback.surplus_count == max(0, count - total)
    assert playback.unplayed() == tuple(range(min(count, total), total))


@given(st.permutations(range(4)))
def test_by_body_any_order_will_do(order: list[int]) -> None:
    bodies = [json.dumps({"n": n, "m": [n]}) for n in range(4)]
    played = cassette(*(interaction(b"%d" % n, sent=bodies[n].encode()) for n in range(4)))
    playback = Playback(played, ("method", "path", "body"))
    sent = [f'{{ "m":[{n}.0],"n" : {n}}}'.encode() for n in order]
    assert [playback.answer(ask(body)).body for body in sent] == [b"%d" % n for n in order]
    assert (playback.unplayed(), playback.surplus_count) == ((), 0)


def test_equal_requests_get_the_interactions_in_their_order() -> None:
    playback = Playback(cassette(interaction(b"1"), interaction(b"2")), ("method", "path", "body"))
    assert [playback.answer(ask()).body for _ in range(2)] == [b"1", b"2"]


def test_with_order_only_the_next_one_may_answer() -> None:
    played = cassette(interaction(b"1", sent=b"1"), interaction(b"2", sent=b"2"))
    playback = Playback(played, ("order", "body"))
    assert playback.answer(ask(b"2")).status == SURPLUS_STATUS
    assert playback.answer(ask(b"1")).body == b"1"
    assert playback.unplayed() == (1,)


def test_an_unmatched_request_is_told_what_was_expected() -> None:
    playback = Playback(cassette(interaction(b"1", sent=b'{"a": [1, 2]}')), ("path", "body"))
    answer = playback.answer(ask(b'{"a": [1, true]}', "http://127.0.0.1:1/v2?x=1"))
    (surplus,) = playback.surplus()
    assert surplus.reason == (
        "the request differs from interaction 0: "
        "path: expected '/v1/chat/completions', found '/v2'; "
        "body: .a[1]: expected number 2, found True"
    )
    assert json.loads(answer.body) == {
        "error": {
            "code": "no_interaction_matches",
            "type": "surplus_request",
            "message": f"surplus request: {surplus.reason}",
            "expected": [
                {
                    "interaction": 0,
                    "method": "POST",
                    "uri": URI,
                    "differs": {
                        "path": "expected '/v1/chat/completions', found '/v2'",
                        "body": ".a[1]: expected number 2, found True",
                    },
                }
            ],
        }
    }


def test_after_the_last_one_a_request_is_told_that_none_is_left() -> None:
    playback = Playback(cassette())
    error = json.loads(playback.answer(ask()).body)["error"]
    assert error["code"] == "no_interaction_left"
    assert error["message"] == "surplus request: all 0 interactions of the cassette are played"


@each_row("dialect", sorted(DIALECTS))
def test_a_surplus_answer_is_a_failed_turn_in_every_dialect(dialect: str) -> None:
    playback = Playback(cassette(interaction(b"1")).with_each(dialect=dialect))
    playback.answer(ask())
    answer = playback.answer(ask())
    turn = fold(reference.normalize(answer, playback.reads(answer)))
    assert (turn.tool_calls, turn.text) == ((), "")
    assert turn.failure is not None
    assert "surplus request" in turn.failure.message


def test_a_flood_of_surplus_requests_is_counted_not_kept() -> None:
    playback = Playback(cassette())
    for _ in range(1_500):
        playback.answer(ask())
    assert (playback.surplus_count, len(playback.requests)) == (1_500, 1_000)


def test_large_surplus_requests_are_kept_up_to_a_size_and_all_counted() -> None:
    playback = Playback(cassette())
    for _ in range(5):
        playback.answer(Request("POST", URI, (), bytes(20 * 1024 * 1024)))
    assert (playback.surplus_count, len(playback.requests)) == (5, 3)


@given(interactions(), st.sampled_from(sorted(CUTS)))
def test_the_reads_are_the_body_under_the_cuts(answer: Interaction, cuts: str) -> None:
    reads = list(Playback(cassette(answer), cuts=CUTS[cuts]).reads(answer))
    assert b"".join(reads) == answer.body
    assert b"" not in reads
    if cuts == "recorded":
        assert reads == reads_of(answer)
    if cuts == "each-byte":
        assert len(reads) == len(each_byte(answer.body)) + bool(answer.body)


@pytest.mark.parametrize("match", [(), ("orders",), "path", ("order", "body", "uri2")])
def test_matchers_that_do_not_exist_are_refused(match: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="order, method, path, body"):
        Playback(cassette(), match)
