"""The suite's own gateway conforms in every API that passes through, and its answers keep B."""

from collections.abc import Iterable, Iterator

import pytest
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.judging.judge import judge_subject
from harness.normalizers.gateway.neutral import NeutralMessage, NeutralRequest
from harness.normalizers.own_gateway import OwnGateway, own_gateway
from harness.normalizers.respond import respond
from harness.results.exchange import Exchange
from harness.runs.load import load_subject
from harness.runs.selection import select_subjects
from harness.shipped import bundled_folder
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import IS_DEEP, shipped_subjects
from tests.tables import each_row

ASKED = sorted(name for name, dialect in DIALECTS.items() if dialect.build_request)
PAIRS = [*((name, name) for name in ASKED), ("openai-chat", "anthropic")]


@pytest.mark.parametrize(("upstream", "front"), PAIRS)
def test_the_own_gateway_conforms(upstream: str, front: str) -> None:
    gateway = own_gateway(OwnGateway(front), [upstream])
    assert (gateway.hides, gateway.policies) == (frozenset(), {})
    subjects = [
        each
        for each in shipped_subjects()
        if any(it.dialect == upstream for it in each.cassette.interactions)
    ]
    judged = 0
    for subject in subjects[:: 1 if IS_DEEP else 3]:
        result, _ = judge_subject(subject, gateway, cuts="whole")
        judged += result.outcome.conforms
        found = [each for each in result.findings if each.level == "MUST"]
        assert (result.outcome.fails, found) == (False, []), subject.id
    assert judged


def _levels(
    scenario: str, gateway: OwnGateway, dialect: str = "openai-chat"
) -> set[tuple[str, str]]:
    path = bundled_folder("scenarios") / f"{scenario}.yaml"
    subject = load_subject(*select_subjects((path,)))
    normalizer = own_gateway(gateway, [dialect])
    result, _ = judge_subject(subject, normalizer, cuts="whole")
    return {(each.rule, each.level) for each in result.findings}


def _failing(code: str) -> OwnGateway:
    failure = StreamFailure(code, "no")
    return OwnGateway("anthropic", edit_deltas=lambda _: (failure,))


@each_row(
    ("scenario", "code", "level"),
    [
        ("finish/stop-too-early-text", "unsupported", "SHOULD"),
        ("finish/stop-too-early-text", "interrupted", "MUST"),  # a connection that breaks off
        ("arguments/control-characters", "unsupported", "SHOULD"),  # only an unusable call
        ("text/usage-with-finish", "unsupported", "MUST"),
    ],
)
def test_a_loud_refusal_is_a_must_only_if_the_upstream_keeps_its_contract(
    scenario: str, code: str, level: str
) -> None:
    assert _levels(scenario, _failing(code)) == {("FAILURE-NOT-INVENTED", level)}


def _without_counts(deltas: Iterable[Delta]) -> Iterator[Delta]:
    for each in deltas:
        yield UsageDelta(Usage(1, 1)) if isinstance(each, UsageDelta) else each


def test_numbers_of_tokens_in_a_private_member_are_not_required() -> None:
    gateway = OwnGateway("anthropic", edit_deltas=_without_counts)
    assert _levels("text/usage-elsewhere", gateway) == set()
    assert _levels("text/usage-with-finish", gateway) == {("USAGE-KEPT", "MUST")}


class _InternalError:
    """A gateway that answers with its own status 500."""

    latest: Exchange | None = None

    def prepare(self) -> None:
        """Do nothing."""

    def normalize(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        body = b'{"error": {"message": "Something went wrong", "type": "internal_error"}}'
        kind = (("content-type", "application/json"),)
        request = interaction.request
        answer = Interaction(request, 500, kind, body, (), dialect="openai-chat")
        self.latest = Exchange(answer, (request,))
        yield from respond(answer.without_body(), iter([body]))


def test_an_error_status_for_a_failed_turn_needs_no_text() -> None:
    link = _InternalError()
    gateway = replace(own_gateway(OwnGateway("openai-chat")), normalize=link.normalize, link=link)
    found = {}
    for name in ("finish/calls-missing", "finish/end-in-text"):
        path = bundled_folder("scenarios") / f"{name}.yaml"
        subject = load_subject(*select_subjects((path,)))
        assert subject.expectations[0].failure
        assert subject.expectations[0].text
        result, _ = judge_subject(subject, gateway, cuts="whole")
        found[name] = [each.rule for each in result.findings if each.level == "MUST"]
    assert found == {"finish/calls-missing": [], "finish/end-in-text": []}


def test_text_of_an_answer_that_begins_again_cannot_be_taken_back() -> None:
    said = (TextDelta("ItIt is 4 °C."), Finish(FinishReason.STOP, "stop"))
    gateway = OwnGateway("openai-chat", edit_deltas=lambda _: said)
    assert _levels("anthropic/second-message", gateway, "anthropic") == set()


@each_row(("word", "level"), [(b"sensitive", "SHOULD"), (b"max_tokens", "MUST")])
def test_a_gateway_may_hand_on_a_finish_that_its_upstream_does_not_document(
    word: bytes, level: str
) -> None:
    gateway = OwnGateway(
        "anthropic", edit_body=lambda body: body.replace(b'"refusal"', b'"%b"' % word)
    )
    assert ("FINISH-REASON", level) in _levels("finish/sensitive", gateway)


def test_who_reads_a_failure_reads_no_further_members() -> None:
    failed = (
        b'data: {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}\n\n'
        b'data: {"type": "response.failed", "response": {"id": "r", "status": "failed", '
        b'"error": {"code": "no", "message": "no"}}}\n\n'
    )
    gateway = OwnGateway("openai-responses", edit_body=lambda _: failed)
    found = _levels("text/usage-with-finish", gateway)
    assert {each for each in found if each[0] != "ANSWER-MEMBERS"} == {
        ("FAILURE-NOT-INVENTED", "MUST"),
        ("ANSWER-CONTRACT", "SHOULD"),
    }


def _completed(request: NeutralRequest) -> NeutralRequest:
    """Return the request with a result for the first call of each message of the assistant."""
    messages: list[NeutralMessage] = []
    for each in request.messages:
        results = (NeutralMessage("tool", "None yet.", answers=call.id) for call in each.calls[:1])
        messages += [each, *results]
    return replace(request, messages=tuple(messages))


def test_a_gateway_may_add_the_results_without_which_providers_refuse_a_history() -> None:
    gateway = OwnGateway("anthropic", edit_request=_completed)
    assert _levels("calls/ids-in-three-rounds", gateway) == set()
    assert ("REQUEST-HISTORY-KEPT", "MUST") in _levels("requests/openai-chat", gateway)


@each_row(("raw", "level"), [(b"overloaded_error", "SHOULD"), (b"stop", "MUST")])
def test_a_gateway_may_say_the_code_of_an_error_as_a_finish(raw: bytes, level: str) -> None:
    answer = b"".join(
        b'data: {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", '
        b'"choices": [{"index": 0, "delta": {"content": "%b"}, "finish_reason": %b}]}\n\n' % each
        for each in ((b"Let me check.", b"null"), (b"", b'"%b"' % raw))
    )
    gateway = OwnGateway("openai-chat", edit_body=lambda _: answer + b"data: [DONE]\n\n")
    found = _levels("anthropic/error-without-event-line", gateway, "anthropic")
    assert ("FAILURE-REPORTED", level) in found
