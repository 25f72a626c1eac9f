"""`reference` reads the HTTP status too: an error status is never a success."""

import pytest

from harness.judging.replaying import replay
from harness.normalizers.reference import normalizer
from harness.turns.deltas import Finish, FinishReason, StreamFailure
from harness.turns.turn import Turn
from tests.judging.judging_samples import DONE, HELLO, an_interaction, call, chunk

GOOD = call('{"path": "a"}', id="c1", name="writing") + chunk(None, "tool_calls") + DONE
ERROR = b'data: {"error": {"message": "slow down", "code": "rate_limit"}}\n\n'


def turn(body: bytes, status: int = 200) -> Turn:
    seen = replay(normalizer, an_interaction(body, status=status), ())
    assert not seen.error
    return seen.turn


@pytest.mark.parametrize("status", [200, 201, 204, 302, 399])
def test_a_good_status_changes_nothing(status: int) -> None:
    assert turn(HELLO, status) == Turn(text="Hello", finish=Finish(FinishReason.STOP, "stop"))


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_an_error_status_never_finishes(status: int) -> None:
    got = turn(HELLO, status)
    assert got.finish is None
    assert got.failure == StreamFailure(f"http_{status}", f"HTTP status {status}")


@pytest.mark.parametrize("body", [b"", b"<html>Bad Gateway</html>", DONE, b"upstream down"])
def test_a_body_that_is_no_stream_takes_its_code_from_the_status(body: bytes) -> None:
    failure = turn(body, 502).failure
    assert failure is not None
    assert failure.code == "http_502"


@pytest.mark.parametrize("body", [b"", b"<html>Bad Gateway</html>", DONE])
def test_under_a_good_status_it_is_told_by_its_own_code(body: bytes) -> None:
    failure = turn(body).failure
    assert failure is not None
    assert failure.code in ("empty_stream", "bad_event", "interrupted")


def test_the_providers_own_code_is_worth_more_than_the_status() -> None:
    assert turn(ERROR, 429).failure == StreamFailure("rate_limit", "slow down")


@pytest.mark.parametrize("status", [400, 503])
def test_no_call_under_an_error_status_may_run(status: int) -> None:
    assert turn(GOOD, status).tool_calls == ()


def test_tools_of_the_request_are_known() -> None:
    pieces = call("", id="c1", name="wri") + call("{}", name="ting")
    got = turn(pieces + chunk(None, "tool_calls") + DONE)
    assert [item.name for item in got.tool_calls] == ["writing"]


@pytest.mark.parametrize("digits", [20, 5000])
def test_absurd_counts_of_tokens_are_no_crash(digits: int) -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": %s}}\n\n' % (b"9" * digits)
    assert turn(HELLO.removesuffix(DONE) + usage + DONE).text == "Hello"
