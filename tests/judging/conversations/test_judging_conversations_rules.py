"""Each rule about conversations: a conforming agent passes, and a faulty one violates it alone."""

import json
import sys
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import msgspec
import pytest
from msgspec.structs import replace

from harness.conversation.gateway import gateway
from harness.conversation.task import Limits, Reply, Task, ToolFailed
from harness.judging.conversations.expected_request import (
    CharacterCount,
    ExpectedMessages,
    ExpectedRequest,
    ExpectedText,
)
from harness.judging.conversations.script import (
    ConversationScript,
    ExpectedReport,
    MockAnswer,
)
from harness.results.conversation import Conversation, Ending, Probe, TurnMeta, TurnRecord
from harness.results.outcome import Outcome
from harness.turns.deltas import ParseError, ToolCall
from harness.turns.exact_json import join_surrogates
from harness.turns.messages import assistant, system, tool_result, user
from harness.wire.cassette import Cassette
from harness.wire.interaction import Request
from tests.judging.conversations.conversation_samples import (
    OSLO,
    Converse,
    Talk,
    a_cassette,
    a_script,
    broken,
    calls,
    chunk,
    cut,
    edited,
    good,
    judged,
    says,
)

ROUND = a_cassette(calls(OSLO), says("It is 4 degrees."))
PLAIN = a_script(answer="It is 4 degrees.")
RESULT: Final = '{"temperature": 4}'
BESIDE = "HIST-CONTENT-BESIDE-CALLS"


def test_a_conforming_agent_violates_no_rule() -> None:
    result = judged(good, ROUND, PLAIN)
    assert result.findings == ()
    assert (result.outcome, result.blame, result.replays) == (Outcome.PASS, "", 3)
    assert result.kind == "conversation"
    assert result.conversation is not None
    assert result.conversation.success
    assert (result.conversation.requests, result.conversation.turns) == (2, 2)


def _without_result(talk: Talk) -> None:
    talk.messages.pop()
    talk.messages.append(user("Go on."))


def _without_call(talk: Talk) -> None:
    del talk.messages[-2]


def _other_id(talk: Talk) -> None:
    talk.messages[-2]["tool_calls"][0]["id"] = "mine"
    talk.messages[-1]["tool_call_id"] = "mine"


def _arguments(talk: Talk) -> None:
    talk.messages[-2]["tool_calls"][0]["function"]["arguments"] = '{"city": '


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (_without_result, "HIST-MISSING-RESULT"),
        (_without_call, "HIST-ORPHAN-RESULT"),
        (_other_id, "HIST-ID-CHANGED"),
        (_arguments, "HIST-ARGS-INVALID"),
        (lambda talk: talk.messages.append(system("Hurry.")), "HIST-SYSTEM-MID"),
        (lambda talk: talk.messages.append(assistant("")), "HIST-EMPTY-TURN"),
        (lambda talk: talk.messages[-1].update(content={"a": 1}), "HIST-RESULT-NON-STRING"),
        (lambda talk: talk.messages[-2].update(content=""), ""),
        (lambda talk: talk.messages.append({"role": "x", "content": ""}), "HIST-FORM"),
        (lambda talk: talk.messages[0].update(tool_calls=[]), ""),
    ],
)
def test_a_broken_history_violates_its_own_rule(change: Callable[[Talk], None], rule: str) -> None:
    assert broken(edited(change), ROUND, PLAIN) == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("declared", "content", "rules"),
    [
        ("null", "", [BESIDE]),
        ("null", None, []),
        ("empty", "", []),
        ("empty", None, [BESIDE]),
        ("present", None, []),
    ],
)
def test_the_content_next_to_calls_is_as_declared(
    declared: str, content: str | None, rules: list[str]
) -> None:
    script = a_script(answer="It is 4 degrees.", capabilities={"content_beside_calls": declared})
    change = edited(lambda talk: talk.messages[-2].update(content=content))
    assert broken(change, ROUND, script) == rules


def test_a_broken_message_is_reported_once_with_its_path() -> None:
    result = judged(edited(_without_call), ROUND, PLAIN)
    (finding,) = result.findings
    assert finding.path == "requests[1].messages[2].tool_call_id"
    assert (result.outcome, result.blame) == (Outcome.MISMATCH, "normalizer")
    assert result.conversation is not None
    assert result.conversation.why == "the agent broke HIST-ORPHAN-RESULT"


def test_a_request_without_messages_violates_the_form() -> None:
    def converse(task: Task) -> Conversation:
        task.send(Request("POST", "", (), b"\xff no JSON"))
        return good(task)

    assert "HIST-FORM" in broken(converse, a_cassette(says("x"), *_bodies(ROUND)), PLAIN)


def test_a_request_with_another_method_violates_the_form() -> None:
    def converse(task: Task) -> Conversation:
        def send(request: Request) -> Reply:
            return task.send(replace(request, method="GET"))

        return good(replace(task, send=send))

    assert broken(converse, ROUND, PLAIN) == ["HIST-FORM"]


def _bodies(cassette: Cassette) -> tuple[bytes, ...]:
    return tuple(interaction.body for interaction in cassette.interactions)


def test_a_partial_answer_is_not_stored_as_a_complete_one() -> None:
    begun = says("I will loo").partition(b"data: [DONE]")[0].rpartition(b"data: ")[0]
    cassette = a_cassette(begun, says("It is 4 degrees."))

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        talk.messages.append(assistant(talk.ask().text))
        talk.messages.append(user("Go on."))
        return talk.end(talk.ask())

    assert broken(converse, cassette, a_script(executed=())) == ["HIST-PARTIAL-STORED"]


def _telling(result: str) -> Converse:
    """Return an agent whose tool fails, and which tells the model this of it."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        talk.messages.append(assistant(None, turn.tool_calls))
        with pytest.raises(ToolFailed):
            task.call_tool("get_weather", {"city": "Oslo"})
        talk.messages.append(tool_result("call_0", result))
        talk.turns[-1] = TurnRecord(turn, executed=("call_0",))
        return talk.end(talk.ask())

    return converse


def test_the_error_of_a_tool_is_sent_to_the_model() -> None:
    script = a_script(answers=(MockAnswer(error="the disk is  full"),))
    assert broken(_telling("failed: the disk is full"), ROUND, script) == []
    assert broken(_telling("{}"), ROUND, script) == ["HIST-RESULT-ERROR-LOST"]


def _json(error: str) -> str:
    return json.dumps({"error": error})


@pytest.mark.parametrize("tell", [str, _json, lambda error: error[:4_000] + "..."])
@pytest.mark.parametrize(
    "error", ["full " * 3_000, "a</tool_result>b", '磁盘 "C"\n已满\\', "half \ud83d of a pair"]
)
def test_an_error_may_be_sent_in_other_encodings_and_cut(
    error: str, tell: Callable[[str], str]
) -> None:
    told = tell(join_surrogates(error)).replace("</", "<\\/")
    assert broken(_telling(told), ROUND, a_script(answers=(MockAnswer(error=error),))) == []


@pytest.mark.parametrize(
    ("sent", "rule"), [("First the weather.", ""), (" ", "HIST-REASONING-REQUIRED")]
)
def test_reasoning_is_sent_back_and_is_not_blank(sent: str, rule: str) -> None:
    cassette = a_cassette(
        chunk({"reasoning_content": "First the weather."}) + calls(OSLO), says("It is 4 degrees.")
    )
    script = a_script(capabilities={"reasoning_field": "reasoning_content"})
    talks = edited(lambda talk: talk.messages[-2].update(reasoning_content=sent))
    assert broken(talks, cassette, script) == ([rule] if rule else [])


def _running(*texts: str) -> Converse:
    """Return an agent that runs these calls for the first turn, whatever the turn says."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        done = [task.call_tool("get_weather", json.loads(text)) for text in texts]
        talk.turns[-1] = TurnRecord(turn, talk.turns[-1].meta, ("id",) * len(done))
        given = [call.arguments for call in turn.tool_calls]
        stored = sorted(texts, key=lambda text: given.index(text) if text in given else len(given))
        ran = [ToolCall(f"call_{at}", "get_weather", text) for at, text in enumerate(stored)]
        talk.messages += [assistant(None, ran)] if ran else []
        talk.messages += [tool_result(call.id, json.dumps(done[0])) for call in ran]
        if turn.parse_errors:
            talk.messages.append(user("The call could not be read, so it did not run."))
        return talk.end(talk.ask())

    return converse


@pytest.mark.parametrize(
    ("ran", "rule", "outcome"),
    [
        ((OSLO,), "", Outcome.PASS),
        (('{ "city" :"Oslo"}',), "", Outcome.PASS),
        ((), "CONV-CALL-LOST", Outcome.LOST_CALL),
        ((OSLO, OSLO), "CONV-CALL-UNWANTED", Outcome.SILENT_WRONG),
        (('{"city": "Bergen"}',), "CONV-CALL-ARGUMENTS", Outcome.SILENT_WRONG),
    ],
)
def test_executed_calls_are_those_of_the_model(
    ran: tuple[str, ...], rule: str, outcome: Outcome
) -> None:
    result = judged(_running(*ran), ROUND, a_script())
    assert [finding.rule for finding in result.findings] == ([rule] if rule else [])
    assert result.outcome is outcome


def test_calls_are_executed_in_order() -> None:
    bergen = '{"city": "Bergen"}'
    cassette = a_cassette(calls(OSLO, bergen), says("x"))
    script = a_script(executed=(OSLO, bergen))
    assert broken(_running(OSLO, bergen), cassette, script) == []
    assert broken(_running(bergen, OSLO), cassette, script) == ["CONV-CALL-ORDER"]


@pytest.mark.parametrize(
    "body",
    [cut(calls(OSLO)), calls(OSLO, finish="length"), calls('{"city": "Os'), b"<html>oops</html>"],
)
def test_no_call_of_a_broken_turn_is_executed(body: bytes) -> None:
    script = a_script(executed=(), parse_errors="any")
    found = broken(_running(OSLO), a_cassette(body, says("x")), script)
    assert found == ["CONV-CALL-FROM-BROKEN-TURN"]


def test_next_to_a_rejected_call_only_the_usable_one_may_be_executed() -> None:
    cassette = a_cassette(calls(OSLO, '{"city": Bergen}'), says("x"))
    script = a_script(parse_errors="any")
    assert broken(_running(OSLO), cassette, script) == []
    both = broken(_running(OSLO, '{"city": "Bergen"}'), cassette, script)
    assert both == ["CONV-CALL-FROM-BROKEN-TURN"]


def test_a_call_before_any_reply_is_forbidden() -> None:
    def converse(task: Task) -> Conversation:
        task.call_tool("get_weather", {"city": "Oslo"})
        return good(task)

    assert broken(converse, ROUND, PLAIN) == ["CONV-CALL-FROM-BROKEN-TURN"]


def test_an_agent_that_raises_is_a_crash_and_its_requests_are_judged() -> None:
    def converse(task: Task) -> Conversation:
        Talk(task).ask()
        raise ValueError("bad arguments")

    result = judged(converse, ROUND, PLAIN)
    assert [finding.rule for finding in result.findings] == ["CONV-NO-CRASH"]
    assert result.findings[0].actual == "ValueError: bad arguments"
    assert result.outcome is Outcome.CRASH
    assert result.conversation is not None
    assert not result.conversation.success


@pytest.mark.parametrize("answer", [None, "done", Conversation("x", 1, "over", 3)])  # type: ignore[arg-type]  # what an agent may return
def test_returning_something_else_than_a_conversation_is_a_crash(answer: object) -> None:
    def converse(task: Task) -> Conversation:
        del task
        return answer  # type: ignore[return-value]  # as above

    assert broken(converse, ROUND, PLAIN) == ["CONV-NO-CRASH"]


def test_an_agent_that_exits_the_process_is_a_crash() -> None:
    def converse(task: Task) -> Conversation:
        del task
        sys.exit(3)

    assert broken(converse, ROUND, PLAIN) == ["CONV-NO-CRASH"]


def _asking(task: Task) -> Conversation:
    talk = Talk(task)
    while True:
        talk.ask()


def _calling(task: Task) -> Conversation:
    while True:
        task.call_tool("get_weather", {})


def _swallowing(task: Task) -> Conversation:
    talk = Talk(task)
    while True:
        try:
            talk.ask()
        except BaseException:  # noqa: BLE001, S112 - what an agent may do to its user
            continue


def test_an_agent_that_sends_requests_for_ever_is_stopped() -> None:
    result = judged(_asking, ROUND, PLAIN)
    assert [finding.rule for finding in result.findings] == ["CONV-NO-HANG"]
    assert result.outcome is Outcome.HANG
    assert result.replays == 1


def test_an_agent_that_calls_for_ever_is_stopped() -> None:
    assert "CONV-NO-HANG" in broken(_calling, ROUND, PLAIN)


def test_surplus_requests_and_unplayed_replies() -> None:
    assert broken(good, a_cassette(calls(OSLO)), a_script(ending="interrupted")) == [
        "CONV-SURPLUS-REQUEST"
    ]
    assert broken(good, a_cassette(*_bodies(ROUND), says("more")), a_script()) == ["CONV-UNPLAYED"]
    assert broken(good, a_cassette(*_bodies(ROUND), says("more")), a_script(requests=2)) == []


def test_a_wrong_ending_hides_its_consequences() -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        return talk.end(talk.ask(), "limit")

    result = judged(converse, ROUND, PLAIN)
    assert [finding.rule for finding in result.findings] == ["CONV-ENDING"]
    assert result.outcome is Outcome.LOST_CALL


def test_the_answer_is_the_last_text() -> None:
    assert broken(good, ROUND, a_script(answer=ExpectedText(contains=("4", "degrees")))) == []
    other = a_script(answer=ExpectedText(contains=("5",)))
    assert broken(good, ROUND, other) == ["CONV-ANSWER"]


def test_parse_errors_are_compared_with_the_expected_ones() -> None:
    cassette = a_cassette(calls('{"city": Oslo}'), says("x"))

    def script(parse_errors: object) -> ConversationScript:
        return a_script(executed=(), parse_errors=parse_errors)

    agent = _running()
    assert broken(agent, cassette, script(1)) == []
    assert broken(agent, cassette, script((ExpectedReport("get_weather", ": Oslo"),))) == []
    assert broken(agent, cassette, script(0)) == ["CONV-PARSE-ERRORS"]
    assert broken(agent, cassette, script((ExpectedReport("other"),))) == ["CONV-PARSE-ERRORS"]
    assert broken(agent, cassette, script(())) == ["CONV-PARSE-ERRORS"]
    assert judged(agent, cassette, script(1)).outcome is Outcome.PARSE_ERROR
    assert judged(agent, cassette, script(1)).blame == "model or provider"


def test_requests_are_compared_with_the_expected_ones() -> None:
    first = ExpectedRequest(roles=("system", "user"), has_tools=True, tools=("get_weather",))
    second = ExpectedRequest(last_role="tool", says=("temperature",), fields={"seed": None})
    assert broken(good, ROUND, a_script(requests=(first, second))) == []
    for wrong in (
        ExpectedRequest(roles=("user",)),
        ExpectedRequest(last_role="tool"),
        ExpectedRequest(says=("Bergen",)),
        ExpectedRequest(has_tools=False),
        ExpectedRequest(tools=("other",)),
        ExpectedRequest(fields={"stream": 1}),
    ):
        assert broken(good, ROUND, a_script(requests=(wrong, second))) == ["CONV-REQUEST"]


def test_the_history_at_the_end_is_compared_with_the_expected_one() -> None:
    right = ExpectedMessages(last_role="assistant", texts={"/messages/1/role": "user"})
    assert broken(good, ROUND, a_script(history=right)) == []
    for wrong in (
        ExpectedMessages(roles=("user",)),
        ExpectedMessages(last_role="tool"),
        ExpectedMessages(says=("no such text",)),
        ExpectedMessages(texts={"/messages/1/role": "assistant"}),
        ExpectedMessages(texts={"/messages/99/content": ""}),
    ):
        assert broken(good, ROUND, a_script(history=wrong)) == ["CONV-HISTORY"]


def _of_request(**more: Any) -> list[tuple[str, object, object]]:  # noqa: ANN401 - keys
    """Return path, expectation and what was found in the second request of the good agent."""
    script = a_script(requests=(ExpectedRequest(), ExpectedRequest(**more)))
    found = judged(good, ROUND, script).findings
    return [(each.path, each.expected, each.actual) for each in found]


@pytest.mark.parametrize(
    ("expected", "difference"),
    [
        ({"equals": RESULT}, None),
        ({"equals": RESULT[:-1]}, ("from character 17 on: ''", "from character 17 on: '}'")),
        ({"equals": "x"}, ("from character 0 on: 'x'", f"from character 0 on: {RESULT!r}")),
        ({"contains": ("temp", "4")}, None),
        ({"contains": "5"}, ("a text that contains '5'", RESULT)),
        ({"lacks": ("5", "6")}, None),
        ({"lacks": ("5", "4")}, ("a text without '4'", RESULT)),
        ({"counts": {"e": 3, "5": 0}}, None),
        ({"counts": {"e": 2}}, ("'e' 2 times", "3 times")),
        ({"characters": CharacterCount(exactly=18, at_most=18)}, None),
        ({"characters": CharacterCount(exactly=17)}, ("17 characters", "18")),
        ({"characters": CharacterCount(at_most=17)}, ("at most 17 characters", "18")),
    ],
)
def test_texts_of_a_request_are_compared(
    expected: dict[str, Any], difference: tuple[str, str] | None
) -> None:
    wanted = ExpectedText(**expected)
    last = "/messages/3/content"
    for path, more in (
        ("requests[1].messages[3].content", {"says": wanted}),
        (f"requests[1]{last}", {"texts": {last: wanted}}),
    ):
        assert _of_request(**more) == ([(path, *difference)] if difference else [])


def test_system_text_and_members_of_a_request_are_compared() -> None:
    assert _of_request(system=ExpectedText(equals="Be kind.")) == []
    assert _of_request(system="Be brief") == [
        ("requests[1].system", "a text that contains 'Be brief'", "Be kind.")
    ]
    name = "/tools/0/function/name"
    assert _of_request(fields={name: "get_weather", "/tools/1": None}) == []
    assert _of_request(fields={name: "x"}) == [(f"requests[1]{name}", '"x"', '"get_weather"')]
    assert _of_request(fields={"/tools/00": 1}) == [("requests[1]/tools/00", "1", "no member")]
    assert _of_request(has_fields={name: True, "seed": False, "/messages/9": False}) == []
    assert _of_request(has_fields={"seed": True}) == [
        ("requests[1].seed", "any value", "no member")
    ]
    assert _of_request(has_fields={"/tools/0/type": False}) == [
        ("requests[1]/tools/0/type", "no member", '"function"')
    ]
    assert _of_request(texts={"/tools": "x"})[0][:2] == ("requests[1]/tools", "a text")


def test_limits_are_checked() -> None:
    bodies = [calls(OSLO, ids=f"call_{place}_") for place in range(3)]
    cassette = a_cassette(*bodies, says("x"))
    wanted = (OSLO,) * 3
    assert broken(good, cassette, a_script(executed=wanted)) == ["CONV-LIMITS"]
    wide = a_script(executed=wanted, limits=Limits(identical_calls=3))
    assert broken(good, cassette, wide) == []
    narrow = a_script(executed=wanted, limits=Limits(rounds=3, identical_calls=3))
    assert broken(good, cassette, narrow) == ["CONV-LIMITS"]


def _saying(**meta: object) -> Converse:
    """Return the good agent, which says this of its first turn, and its strategy of all."""

    def converse(task: Task) -> Conversation:
        found = good(task)
        first = msgspec.structs.replace(found.turns[0], meta=TurnMeta(**meta))  # type: ignore[arg-type]  # fields
        same = TurnMeta(first.meta.strategy)
        rest = (msgspec.structs.replace(each, meta=same) for each in found.turns[1:])
        return msgspec.structs.replace(found, turns=(first, *rest))

    return converse


@pytest.mark.parametrize(
    ("agent", "script", "rule"),
    [
        (_saying(strategy="tool_use"), a_script(strategy="tool_use"), ""),
        (_saying(strategy="tool_use"), a_script(strategy="json_fallback"), "CONV-STRATEGY"),
        (_saying(strategy="json_fallback"), a_script(), "CONV-META-HONEST"),
        (_saying(retries=1), a_script(), "CONV-RETRIES"),
        (_saying(retries=1), a_script(retries=1), ""),
        (_saying(), a_script(probe="ok"), "CONV-PROBE"),
        (_saying(probe=Probe(ok=True)), a_script(probe="ok"), "CONV-META-HONEST"),
    ],
)
def test_records_of_an_agent_are_checked(
    agent: Converse, script: ConversationScript, rule: str
) -> None:
    assert broken(agent, ROUND, script) == ([rule] if rule else [])


def test_strategy_of_each_turn_is_recorded_if_that_of_one_is() -> None:
    def converse(task: Task) -> Conversation:
        found = _saying(strategy="tool_use")(task)
        last = msgspec.structs.replace(found.turns[-1], meta=TurnMeta())
        return msgspec.structs.replace(found, turns=(*found.turns[:-1], last))

    assert broken(converse, ROUND, a_script()) == ["CONV-STRATEGY-MISSING"]


@pytest.mark.parametrize(
    ("error", "rules"),
    [
        (ParseError("tool_use", "not JSON", "{bad", "call_0", "get_weather"), []),
        (ParseError("tool_use", " ", "{bad"), ["CONV-REPORT-ERROR"]),
        (ParseError("tool_use", "not JSON", "", "call_0", "get_weather"), ["CONV-REPORT-SNIPPET"]),
        (
            ParseError("tool_use", "", "\n", "call_0", "get_weather"),
            ["CONV-REPORT-ERROR", "CONV-REPORT-SNIPPET"],
        ),
        # A call that has neither name nor arguments has nothing to quote.
        (ParseError("tool_use", "the call has no name", "", "call_0"), []),
    ],
)
def test_reports_say_what_is_wrong_and_quote_the_call(error: ParseError, rules: list[str]) -> None:
    script = a_script(parse_errors=(ExpectedReport(),))
    assert broken(_saying(parse_errors=(error,)), ROUND, script) == rules


def test_report_of_a_call_without_arguments_may_quote_nothing() -> None:
    error = ParseError("tool_use", "no argument came", "", "call_0", "get_weather")
    cassette = a_cassette(calls("", finish="eos"), says("It is 4 degrees."))
    found = broken(_saying(parse_errors=(error,)), cassette, a_script(parse_errors=1))
    assert "CONV-REPORT-SNIPPET" not in found


def test_report_of_an_interrupted_turn_may_quote_nothing() -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        talk.ask()
        error = ParseError("tool_use", "the stream ended", "", "call_0", "get_weather")
        record = msgspec.structs.replace(talk.turns[0], meta=TurnMeta(parse_errors=(error,)))
        return Conversation(tuple(talk.messages), (record,), "interrupted")

    cassette = a_cassette(cut(calls("")))
    script = a_script("interrupted", executed=(), parse_errors=1)
    assert broken(converse, cassette, script) == []


@pytest.mark.parametrize(("ending", "rules"), [("error", []), ("done", ["CONV-CALLS-MISSING"])])
def test_announced_calls_that_never_came_are_not_an_answer(
    ending: Ending, rules: list[str]
) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        return Conversation(tuple(talk.messages), tuple(talk.turns), ending, turn.text)

    cassette = a_cassette(says("Let me look.", finish="tool_calls"))
    assert broken(converse, cassette, a_script("error", executed=())) == rules


@pytest.mark.parametrize(("ending", "rules"), [("limit", []), ("done", ["CONV-UNUSABLE-DONE"])])
def test_unusable_calls_are_not_an_answer(ending: Ending, rules: list[str]) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        return Conversation(tuple(talk.messages), tuple(talk.turns), ending, turn.text)

    cassette = a_cassette(calls("{bad"))
    script = a_script("limit", executed=(), parse_errors=1)
    assert broken(converse, cassette, script) == rules


@pytest.mark.parametrize(
    ("reply", "ok"),
    [
        (calls("{bad"), "ok"),
        (calls(OSLO, finish="length"), "ok"),
        (calls(OSLO, finish="content_filter"), "ok"),
        (says("I cannot."), "no"),
        (cut(calls(OSLO)), "error"),
    ],
)
def test_a_probe_with_any_call_is_ok(reply: bytes, ok: str) -> None:
    cassette = a_cassette(reply, says("It is 4 degrees."))
    script = a_script(executed=(), probe=ok, capabilities={"supports_tool_use": None})
    assert broken(gateway.converse, cassette, script) == []


def test_a_probe_without_a_call_is_not_ok() -> None:
    def lying(task: Task) -> Conversation:
        found = gateway.converse(task)
        first = msgspec.structs.replace(found.turns[0], meta=TurnMeta(probe=Probe(ok=True)))
        return msgspec.structs.replace(found, turns=(first, *found.turns[1:]))

    script = a_script(executed=(), capabilities={"supports_tool_use": None})
    for reply in (says("I cannot."), cut(calls(OSLO))):
        assert broken(lying, a_cassette(reply, says("Hm.")), script) == ["CONV-META-HONEST"]


def test_every_request_has_its_record_and_every_call_its_id() -> None:
    def forgetting(task: Task) -> Conversation:
        return msgspec.structs.replace(good(task), turns=())

    def unsaid(task: Task) -> Conversation:
        found = good(task)
        first = msgspec.structs.replace(found.turns[0], executed=())
        return msgspec.structs.replace(found, turns=(first, *found.turns[1:]))

    assert broken(forgetting, ROUND, a_script()) == ["CONV-META-HONEST"]
    assert broken(unsaid, ROUND, a_script()) == ["CONV-META-HONEST"]


def test_reads_and_repetition_must_not_change_a_conversation() -> None:
    times = []

    def counting(task: Task) -> Conversation:
        times.append(1)
        talk = Talk(task)
        talk.run(talk.ask(seed=len(times)))
        return talk.end(talk.ask())

    found = broken(counting, ROUND, PLAIN)
    assert found == ["CONV-CUT-INVARIANT", "CONV-REPEATABLE"]


def test_ids_that_an_agent_generates_are_compared_by_position() -> None:
    """And an exception with an address is the same one again."""

    def random_ids(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        own = [msgspec.structs.replace(each, id=uuid4().hex[:9]) for each in turn.tool_calls]
        turn = msgspec.structs.replace(turn, tool_calls=tuple(own))
        talk.turns[-1] = msgspec.structs.replace(talk.turns[-1], turn=turn)
        talk.run(turn)
        return talk.end(talk.ask())

    def raising(task: Task) -> Conversation:
        raise OSError(f"{object()!r} failed for {uuid4()} on {task.model}")

    without_ids = calls(OSLO).replace(b'"id": "call_0", ', b"")
    assert broken(random_ids, a_cassette(without_ids, says("It is 4 degrees.")), PLAIN) == []
    assert broken(raising, ROUND, PLAIN) == ["CONV-NO-CRASH"]
