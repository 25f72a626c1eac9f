"""One cell: its outcome, blame and case."""

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

import msgspec
import pytest

from harness.judging.judge import (
    LoadedSubject,
    OwnTurns,
    crashed_result,
    is_supported_by_normalizer,
    judge_subject,
)
from harness.judging.replaying import Cuts, iter_chunkings
from harness.judging.rule import display_text
from harness.judging.scenario import Scenario, ScenarioBlame
from harness.normalizers import reference
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import Normalizer
from harness.results.case import Case
from harness.results.expectation import (
    COUNTED_FIELDS,
    UNSPECIFIED,
    Expectation,
    ExpectedCall,
    ExpectedRejection,
)
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.scenario_evidence import ScenarioEvidence
from harness.results.store import encode_line
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    call_deltas,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.cuts import seams
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    DONE,
    HELLO,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
    hello,
    shipped_subjects,
)

Reads = Iterable[bytes]
END = chunk(None, "tool_calls") + DONE
GOOD = call('{"path": "a"}', id="c1", name="writing") + END
PROSE = call("just do it", id="c1", name="writing") + END
WRONG_TYPE = call('{"path": 1}', id="c1", name="writing") + END
FOREIGN_TOOL = call("{}", id="c1", name="reading") + END
CUT_OFF = call('{"path": "a', id="c1", name="writing")
LENGTH = call('{"path": "a', id="c1", name="writing") + chunk(None, "length") + DONE
ERROR = chunk({"content": "Hel"}) + b'data: {"error": {"message": "no", "code": "429"}}\n\n'
MARKUP = chunk({"content": '<tool_call>{"name": "a"}</tool_call>'}) + chunk(None, "stop") + DONE
REFERENCE = reference.normalizer


def judged(
    *bodies: bytes,
    by: Normalizer = REFERENCE,
    cuts: Cuts = "standard",
    **asked: Any,  # noqa: ANN401 - of the interaction
) -> tuple[Result, Case | None]:
    cassette = a_cassette(*(an_interaction(body, **asked) for body in bodies))
    return judge_subject(LoadedSubject(cassette), by, cuts=cuts)


# Unlabelled cassettes


def test_a_cassette_without_a_scenario_is_judged_by_the_oracle() -> None:
    result, case = judged(HELLO)
    assert (result.cell, result.scenario) == ("cassette:x/y/reference", "cassette:x/y")
    assert (result.outcome, result.blame, result.findings, case) == (Outcome.PASS, "", (), None)
    assert (result.title, result.cassette, result.origin) == ("x/y", "x/y", "recorded")


def test_a_cell_without_judged_calls_is_unjudged() -> None:
    result, case = judged(MARKUP)
    assert (result.outcome, result.blame, result.findings, case) == (Outcome.UNJUDGED, "", (), None)
    assert set(result.turns[0].unjudged) == set(COUNTED_FIELDS)
    assert result.turns[0].ambiguous == tuple(result.turns[0].unjudged)


def test_a_cell_with_one_judged_turn_is_judged() -> None:
    result, _ = judged(MARKUP, HELLO)
    assert result.outcome.conforms
    assert [bool(turn.unjudged) for turn in result.turns] == [True, False]


def test_an_unjudged_cell_still_fails_for_what_is_certain() -> None:
    def raising(reads: Reads) -> Iterator[Delta]:
        yield TextDelta(str(len(list(reads))))
        raise ValueError("no")

    assert judged(MARKUP, by=a_normalizer(raising))[0].outcome is Outcome.CRASH


def test_what_a_scenario_leaves_open_is_named_and_its_cell_is_judged() -> None:
    expected = Expectation("scenario", judged=frozenset({"failure"}))
    result, _ = judge_subject(_labelled(a_cassette(an_interaction(HELLO)), expected), REFERENCE)
    assert result.outcome is Outcome.PASS
    assert result.turns[0].unjudged == dict.fromkeys(COUNTED_FIELDS, UNSPECIFIED)
    assert result.turns[0].ambiguous == ()


def test_a_wrong_turn_of_a_cassette_without_a_scenario_is_found() -> None:
    result, case = judged(GOOD, by=a_normalizer(hello))
    rules = {finding.rule for finding in result.findings}
    assert {"CALLS-KEPT", "TEXT-EXACT", "FINISH-REASON"} <= rules
    assert (result.outcome, result.blame) == (Outcome.LOST_CALL, "normalizer")
    assert case is not None


def test_quirks_of_a_cassette_without_a_scenario_are_those_of_the_oracle() -> None:
    later = call('"a"}', id="", name="")
    body = call('{"path": ', id="c1", name="writing") + later + END
    assert "DELTA-ID-EMPTY-LATER" in judged(body)[0].quirks


def test_should_findings_are_shown_and_do_not_decide() -> None:
    result, case = judged(HELLO * 1, by=MUTANTS["text-held"])
    assert [finding.rule for finding in result.findings] == ["TEXT-PROMPT"]
    assert (result.outcome, case) == (Outcome.PASS, None)


# Calls that may be missing


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (call('{"path":  "a"}', id="c2", name="writing") + END, Outcome.PASS),
        (HELLO, Outcome.PASS),
        (call('{"path": "b"}', id="c1", name="writing") + END, Outcome.SILENT_WRONG),
        (
            call('{"path": "a"}', id="c1", name="writing")
            + call('{"path": "a"}', id="c2", name="writing", index=1)
            + END,
            Outcome.SILENT_WRONG,
        ),
    ],
)
def test_calls_that_may_be_missing_allow_no_other_calls(body: bytes, outcome: Outcome) -> None:
    expected = Expectation(
        "scenario",
        calls=(ExpectedCall("writing", {"path": "a"}),),
        judged=frozenset(("failure",)),
        calls_at_most=True,
    )
    result, _ = judge_subject(_labelled(a_cassette(an_interaction(body)), expected), REFERENCE)
    assert result.outcome is outcome
    assert {it.rule for it in result.findings} <= {"CALLS-NOT-INVENTED"}


# Unsupported cells


def _labelled(cassette: Cassette, *turns: Expectation, **other: Any) -> LoadedSubject:  # noqa: ANN401 - fields
    return LoadedSubject(cassette, Scenario("area/name", "A title", cassette.id, turns, **other))


def _hello_expected() -> Expectation:
    return Expectation("scenario", text="Hello", finish=FinishReason.STOP, finish_raw="stop")


@pytest.mark.parametrize("normalizer", [REFERENCE, MUTANTS["usage-crash"]])
def test_an_undeclared_dialect_is_unsupported_and_not_replayed(normalizer: Normalizer) -> None:
    cassette = a_cassette().with_each(dialect="martian")
    result, case = judge_subject(LoadedSubject(cassette), normalizer)
    assert (result.outcome, result.blame, result.replays) == (Outcome.UNSUPPORTED, "", 0)
    assert (result.turns, result.findings, case) == ((), (), None)


def test_a_capability_that_is_not_declared_makes_the_cell_unsupported() -> None:
    judged_by = a_normalizer(hello, capabilities=frozenset({"names-in-pieces"}))
    subject = _labelled(a_cassette(), _hello_expected(), capabilities=("names-in-pieces",))
    assert judge_subject(subject, judged_by)[0].outcome is Outcome.PASS
    other = msgspec.structs.replace(judged_by, capabilities=frozenset({"calls-without-index"}))
    assert judge_subject(subject, other)[0].outcome is Outcome.UNSUPPORTED


# Blame


@pytest.mark.parametrize(
    ("body", "outcome", "blame", "turn_blame", "why"),
    [
        (HELLO, Outcome.PASS, "", "", ""),
        (GOOD, Outcome.PASS, "", "", ""),
        (PROSE, Outcome.PARSE_ERROR, "provider", "provider", "parse error"),
        (WRONG_TYPE, Outcome.PASS, "", "model", "writing: /path: "),
        (FOREIGN_TOOL, Outcome.PASS, "", "model", "'reading' is not a tool of the request"),
        (LENGTH, Outcome.PARSE_ERROR, "model", "model", "not finished: length"),
        (CUT_OFF, Outcome.PARSE_ERROR, "provider", "provider", "failed: interrupted"),
        (ERROR, Outcome.PASS, "", "request", "failed: 429"),
        (b"", Outcome.PASS, "", "provider", "failed: empty_stream"),
    ],
)
def test_blame_comes_from_the_bytes(
    body: bytes, outcome: Outcome, blame: str, turn_blame: str, why: str
) -> None:
    result, _ = judged(body)
    turn = result.turns[0]
    assert (result.outcome, result.blame) == (outcome, blame)
    assert (turn.success, turn.blame) == (not why, turn_blame)
    assert why in turn.why
    assert turn.parse_error_blame == (blame if turn.parse_errors else "")


@pytest.mark.parametrize("body", [GOOD, PROSE, CUT_OFF])
def test_a_normalizer_that_violates_a_rule_is_to_blame_on_any_bytes(body: bytes) -> None:
    result, _ = judged(body, by=a_normalizer(hello))
    assert result.blame == "normalizer"
    assert not result.outcome.conforms


def test_a_good_call_rejected_is_the_normalizers_parse_error() -> None:
    body = call('{"path": "a"}', id="c1", name="writing")
    body += call("just do it", index=1, id="c2", name="writing") + END
    result, _ = judged(body, by=MUTANTS["batch-killed"])
    turn = result.turns[0]
    assert (result.blame, turn.parse_error_blame, turn.parse_errors) == ("normalizer",) * 2 + (2,)


def test_names_and_schemas_are_not_checked_without_the_request() -> None:
    assert judged(FOREIGN_TOOL, tools=None)[0].turns[0].success


@pytest.mark.parametrize("blame", ["model", "provider"])
def test_blame_of_the_scenario_overrides_that_of_the_bytes(blame: ScenarioBlame) -> None:
    rejected = (ExpectedRejection("writing"),)
    expected = Expectation(
        "scenario", rejected=rejected, finish=FinishReason.TOOL_CALLS, finish_raw="tool_calls"
    )
    result, _ = judge_subject(
        _labelled(a_cassette(an_interaction(PROSE)), expected, blame=blame), REFERENCE
    )
    assert (result.outcome, result.blame) == (Outcome.PARSE_ERROR, blame)
    assert result.turns[0].parse_error_blame == blame


@pytest.mark.parametrize(
    ("value", "shown"),
    [("get_weather", "get_weather"), ("None", '"None"'), ("null", '"null"'), (None, "null")],
)
def test_a_text_is_not_shown_as_a_missing_value(value: object, shown: str) -> None:
    assert display_text(value) == shown


# Several interactions


def test_an_own_turn_is_judged_lowered_or_left_out() -> None:
    own, sent = ScenarioEvidence("own", "two lines"), ScenarioEvidence("recorded", "x/y")
    expect = tuple(
        Expectation("scenario", text="Bye", finish=FinishReason.STOP, evidence=each)
        for each in (own, None)
    )
    scenario = Scenario("s", "t", "x/y", expect, evidence=sent)
    cassette = a_cassette(an_interaction(), an_interaction())
    subject = LoadedSubject(cassette, scenario)
    normalizer = a_normalizer(hello)

    def findings(treatment: OwnTurns) -> list[tuple[str, str, str]]:
        result, case = judge_subject(subject, normalizer, cuts="whole", own=treatment)
        assert result.evidence == sent
        assert case is not None
        assert case.interaction == result.interaction == (treatment != "judged")
        assert result.left_out == ((0,) if treatment == "left out" else ())
        return [(it.path, it.level, it.came) for it in result.findings if it.rule == "TEXT-EXACT"]

    # The best evidence comes first.
    assert findings("judged") == [("turns[1].text", "MUST", ""), ("turns[0].text", "MUST", "")]
    assert findings("lowered") == [
        ("turns[1].text", "MUST", ""),
        ("turns[0].text", "SHOULD", "unsent"),
    ]
    assert findings("left out") == [("turns[1].text", "MUST", "")]

    crashed = crashed_result(subject, "sample", "it exited", "lowered")
    assert crashed.findings[0].level == "SHOULD"
    assert crashed.outcome is Outcome.PASS


def test_the_evidence_of_a_recording_is_itself() -> None:
    recorded = LoadedSubject(a_cassette())
    emulated = msgspec.structs.replace(a_cassette(), origin=Origin("emulated"))
    assert recorded.evidence == ScenarioEvidence("recorded", "x/y")
    assert LoadedSubject(emulated).evidence is None


def test_each_interaction_is_a_turn_and_the_failing_one_is_named() -> None:
    result, case = judged(HELLO, GOOD, HELLO, by=MUTANTS["name-lost"])
    assert [turn.interaction for turn in result.turns] == [0, 1, 2]
    assert [turn.success for turn in result.turns] == [True, False, True]
    assert result.interaction == 1
    assert case is not None
    assert (case.interaction, case.body) == (1, GOOD)
    assert {finding.path.partition(".")[0] for finding in result.findings} == {"turns[1]"}


def test_the_worst_interaction_decides() -> None:
    def says_hello(_interaction: Interaction, reads: Reads) -> Iterator[Delta]:
        return hello(reads)

    result, _ = judged(HELLO, GOOD, by=Normalizer("n", says_hello))
    assert result.outcome is Outcome.LOST_CALL


# Findings


def test_findings_are_unique_and_worst_first() -> None:
    result, _ = judged(GOOD, by=load_normalizer("id-lost"))
    assert len({(finding.rule, finding.path) for finding in result.findings}) == len(
        result.findings
    )
    levels = [finding.level != "MUST" for finding in result.findings]
    assert levels == sorted(levels)


def _fragile(reads: Reads) -> Iterator[Delta]:
    """Break where a read ends inside the first line."""
    for place, read in enumerate(reads):
        if not place and not read.endswith(b"\n"):
            raise ValueError("half a line")
    yield TextDelta("Hello")
    yield Finish(FinishReason.STOP, "stop")


def test_a_crash_under_one_cut_is_variance_with_the_outcome_crash() -> None:
    result, case = judged(HELLO, by=a_normalizer(_fragile))
    assert "CUT-INVARIANT" in {finding.rule for finding in result.findings}
    assert result.outcome is Outcome.CRASH
    assert case is not None
    assert case.error == "ValueError: half a line"


@pytest.mark.parametrize("subject", ["text/multi-byte", "arguments/multi-byte"])
def test_result_has_the_smallest_failing_chunking(subject: str) -> None:
    found = next(item for item in shipped_subjects() if item.id == subject)
    result, case = judge_subject(found, MUTANTS["decoded-per-read"])
    assert case is not None
    assert len(result.chunking) == len(case.chunking) == 1


def test_a_failure_without_cuts_is_shown_under_the_recorded_reads() -> None:
    result, case = judged(GOOD, by=MUTANTS["name-lost"])
    assert result.chunking == ()
    assert case is not None
    assert case.chunking == an_interaction(GOOD).recorded_cuts()


def test_a_hang_is_replayed_once_and_stops_the_interaction() -> None:
    calls: list[Reads] = []

    def flooding(reads: Reads) -> Iterator[Delta]:
        calls.append(reads)
        while True:
            yield TextDelta("")

    result, case = judged(HELLO, by=a_normalizer(flooding))
    assert len(calls) == 1
    assert (result.outcome, result.replays, result.turns[0].why) == (Outcome.HANG, 1, "did not end")
    assert case is not None
    assert case.error == "did not end within its limits"
    assert case.cut


def test_exiting_the_process_is_a_crash() -> None:
    def leaving(_reads: Reads) -> Iterator[Delta]:
        raise SystemExit(0)

    assert judged(HELLO, by=a_normalizer(leaving))[0].outcome is Outcome.CRASH


# The case


def test_a_case_contains_bytes_frames_deltas_and_the_expected_turn() -> None:
    result, case = judged(GOOD, by=MUTANTS["name-lost"])
    assert case is not None
    assert (case.cell, case.body, case.cut, case.error) == (result.cell, GOOD, False, "")
    assert [frame.offset for frame in case.frames] == [
        0,
        GOOD.index(b"data", 5),
        GOOD.rindex(b"data"),
    ]
    assert case.expected is not None
    assert [item.name for item in case.expected.tool_calls] == ["writing"]
    assert [item.name for item in case.actual.tool_calls] == [""]
    assert case.reference[-1].delta == Finish(FinishReason.TOOL_CALLS, "tool_calls")
    assert case.deltas[-1] == case.reference[-1]
    assert "calls" in case.judged


@pytest.mark.parametrize("wrong", [None, object(), TextDelta(None), Finish("stop")])  # type: ignore[arg-type]  # what is wrong here
def test_a_result_can_be_written_for_any_delta(wrong: Any) -> None:  # noqa: ANN401 - anything
    result, case = judged(HELLO, by=a_normalizer(lambda _reads: iter([TextDelta("H"), wrong])))
    assert result.outcome is Outcome.CRASH
    assert case is not None
    assert msgspec.json.decode(encode_line(result), type=Result) == result
    assert msgspec.json.decode(encode_line(case), type=Case) == case


def test_the_same_cell_gives_the_same_result() -> None:
    assert judged(GOOD, by=MUTANTS["name-lost"]) == judged(GOOD, by=MUTANTS["name-lost"])


@pytest.mark.parametrize(("cuts", "least"), [("quick", 4), ("standard", 9), ("every", len(HELLO))])
def test_more_cuts_are_more_replays(cuts: Cuts, least: int) -> None:
    assert judged(HELLO, cuts=cuts)[0].replays >= least


def test_of_equal_violations_the_worse_counts() -> None:
    is_recorded = len(an_interaction(GOOD).recorded_cuts()) + 1

    def loses_or_alters_the_call(reads: Reads) -> Iterator[Delta]:
        count = sum(1 for _ in reads)
        if count != is_recorded:
            yield ToolCallStart(0, "c1", "writing")
            yield ArgumentsDelta(0, '{"path": "%s"}' % ("a" if count == 1 else "b"))
            yield ToolCallEnd(0)
        yield Finish(FinishReason.TOOL_CALLS, "tool_calls")

    result, _ = judged(GOOD, by=a_normalizer(loses_or_alters_the_call))
    differs = [each for each in result.findings if each.rule == "CUT-INVARIANT"]
    assert len({each.path for each in differs}) == len(differs)
    assert Outcome.SILENT_WRONG in {each.outcome for each in differs}
    assert Outcome.LOST_CALL not in {each.outcome for each in differs}


def test_each_seam_is_cut_without_its_neighbours() -> None:
    found = seams(GOOD)
    chunkings = list(iter_chunkings(an_interaction(GOOD), "standard"))
    for before, seam, after in zip(found, found[1:], found[2:], strict=False):
        assert any(
            seam in cuts and before not in cuts and after not in cuts
            for cuts in chunkings
            if set(cuts) <= set(found)
        )


@pytest.mark.parametrize("at", [1, len(HELLO) // 3, len(HELLO) - 1])
@pytest.mark.parametrize("cuts", ["quick", "standard", "every"])
def test_a_case_has_the_one_cut_that_fails(cuts: Cuts, at: int) -> None:
    def fails_at_one_cut(reads: Reads) -> Iterator[Delta]:
        lengths = list(accumulate(len(read) for read in reads))
        yield TextDelta("Hell" if at in lengths else "Hello")
        yield Finish(FinishReason.STOP, "stop")

    _, case = judged(HELLO, by=a_normalizer(fails_at_one_cut), cuts=cuts)
    assert case is not None
    assert case.chunking == (at,)


@pytest.mark.parametrize("name", ["reference", "dashscope-restore"])
def test_a_good_stream_under_an_error_status_is_a_failed_turn(name: str) -> None:
    result, _ = judged(GOOD, by=load_normalizer(name), status=500)
    assert result.findings == ()
    assert result.turns[0].why.startswith("failed: http_500")
    assert result.turns[0].blame == "provider"


def test_a_stream_in_the_framing_of_aws_requires_that_capability() -> None:
    subjects = {each.id: each for each in shipped_subjects()}
    without = REFERENCE.capabilities - {"aws-framing"}
    other = msgspec.structs.replace(REFERENCE, capabilities=without)
    for dialect in ("anthropic/bedrock-call", "anthropic/bedrock-exception-in-call"):
        assert is_supported_by_normalizer(subjects[dialect], REFERENCE)
        assert judge_subject(subjects[dialect], other)[0].outcome is Outcome.UNSUPPORTED
    # The framing belongs to this API, and an error of HTTP is not framed.
    own = [each for each in subjects if each.startswith(("bedrock-converse/", "errors/"))]
    assert own
    for each in own:
        subject = subjects[each]
        assert is_supported_by_normalizer(subject, other) == (
            is_supported_by_normalizer(subject, REFERENCE)
        )


LONG = '{"text": "' + "a" * 300 + '"}'


def _long_call(size: int, before: bytes = b"", text: str = LONG, end: str = "tool_calls") -> bytes:
    """Return a stream whose call comes in fragments of `size` characters."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    first = call("", id="c1", name="writing")
    return before + first + b"".join(map(call, pieces)) + chunk(None, end) + DONE


def _are_held_back(client: Normalizer, body: bytes) -> bool:
    subject = LoadedSubject(a_cassette(an_interaction(body)))
    result = judge_subject(subject, client, cuts="quick")[0]
    return any(finding.rule == "ARGUMENTS-PROMPT" for finding in result.findings)


def test_arguments_count_after_long_reasoning_and_in_a_truncated_turn() -> None:
    held = load_normalizer("arguments-held")
    thoughts = b"".join(chunk({"reasoning_content": f"thought {n}"}) for n in range(200))
    for body in (_long_call(20, thoughts), _long_call(20, text=LONG[:200], end="length")):
        assert _are_held_back(held, body)
        assert not _are_held_back(REFERENCE, body)
    # A last event without a blank line has no end before which the arguments were due.
    assert not _are_held_back(held, call(LONG, id="c1", name="writing").rstrip())
    # What comes at once on most networks is not late, and neither is what a client declares.
    assert not _are_held_back(held, _long_call(4, text='{"a": "bcdef"}'))
    late = msgspec.structs.replace(held, policies={**held.policies, "calls": "at-end"})
    assert not _are_held_back(late, _long_call(20))


@pytest.mark.parametrize(
    ("held", "size", "broken"),
    [
        ("reference", 10, False),
        ("arguments-held", 10, True),
        ("arguments-held", 100, True),
        ("arguments-held", 1_000, False),  # all of it comes at once, just before the end
    ],
)
def test_fragments_of_arguments_are_not_held_back(held: str, size: int, broken: bool) -> None:  # noqa: FBT001 - drawn from the table
    subject = LoadedSubject(a_cassette(an_interaction(_long_call(size))))
    for kind, level in (("sdk", "SHOULD"), ("gateway", "SHOULD")):
        client = msgspec.structs.replace(load_normalizer(held), kind=kind)
        result = judge_subject(subject, client, cuts="quick")[0]
        found = {finding.level for finding in result.findings if finding.rule == "ARGUMENTS-PROMPT"}
        assert found == ({level} if broken else set())
        assert result.outcome.conforms
        whole = msgspec.structs.replace(client, streams=False)
        assert judge_subject(subject, whole, cuts="quick")[0].findings == ()


def test_an_sdk_may_hand_a_custom_call_of_the_provider_over() -> None:
    recording = next(each for each in shipped_subjects() if each.id == "openai-responses/x-search")
    (sent,) = recording.cassette.interactions
    start = sent.body.index(b'"call_id": "') + len(b'"call_id": "')
    own = sent.body[start : sent.body.index(b'"', start)].decode()

    def level(call_id: str, kind: str) -> str:
        def normalize(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
            deltas = list(REFERENCE.normalize(interaction, reads))
            yield from (*deltas[:-1], *call_deltas(0, call_id, "x", "a", kind="custom"), deltas[-1])

        client = msgspec.structs.replace(REFERENCE, normalize=normalize, kind=kind, streams=False)
        found = judge_subject(recording, client, cuts="whole")[0].findings
        return next(it.level for it in found if it.rule == "CALLS-NOT-INVENTED")

    assert level(own, "sdk") == "SHOULD"
    assert level(own, "gateway") == level("call_invented", "sdk") == "MUST"
