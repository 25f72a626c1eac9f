"""Short conversations on which every miniature shows what is wrong with it.

Each is a cassette in memory and a script of what must come of it, in as few replies as it takes.
"""

import json
import re
from typing import Any, Final

import msgspec

from harness.conversation.task import Limits
from harness.judging.conversations.expected_request import ExpectedMessages, ExpectedRequest
from harness.judging.conversations.script import (
    ConversationExpected,
    ConversationScript,
    ExpectedExecution,
    MockAnswer,
)
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.results.conversation import Ending
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request
from tests.conversation.conversation_provider import (
    FAILING,
    MEMORY,
    TOOLS,
    WEATHER,
    Call,
    as_dialect,
    said,
    weather,
)

OSLO: Final = ExpectedExecution(WEATHER.name, {"city": "Oslo"})
BERGEN: Final = ExpectedExecution(WEATHER.name, {"city": "Bergen"})
BROKEN: Final[Call] = ("c9", WEATHER.name, '{"city": "Os')
FENCED: Final = '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'
TAGGED: Final = f"<tool_call>\n{FENCED.splitlines()[1]}\n</tool_call>"
BOTH: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
}
DONE: Final = said("晴。")
PLAIN: Final = {"retry": "never", "probe": "never"}
GATEWAY: Final = {"retry": "once", "probe": "undeclared"}
NATIVE: Final = {"supports_tool_use": True}
UNKNOWN: Final[dict[str, Any]] = {"supports_tool_use": None}
FAILED: Final = b'{"error": {"message": "busy", "code": "busy"}}'


def stage(
    name: str,
    replies: tuple[bytes | tuple[int, bytes], ...],
    ending: Ending = "done",
    answer: str | None = "晴。",
    executed: tuple[ExpectedExecution, ...] = (),
    **more: Any,  # noqa: ANN401 - keys of what is expected, and of the script
) -> LoadedSubject:
    """Return a conversation; `policies`, `capabilities`, `questions`, `limits` are the script's.

    `offered` has the tools of the request.
    """
    offered = more.pop("offered", TOOLS)
    policies, dialect = more.pop("policies", {}), more.pop("dialect", "openai-chat")
    script = ConversationScript(
        questions=more.pop("questions", ("?",)),
        tools={
            WEATHER.name: (MockAnswer(more.pop("weather", {"weather": "晴"})),),
            MEMORY.name: (MockAnswer(more.pop("memory", "kept")),),
            FAILING.name: (MockAnswer(error="it is broken"),),
        },
        capabilities=more.pop("capabilities", NATIVE),
        limits=more.pop("limits", Limits()),
        system=more.pop("system", ""),
        prompt=more.pop("prompt", ""),
        expect=ConversationExpected(ending, answer, executed, **more),
    )
    cassette = Cassette(
        f"test/{name}",
        tuple(_interaction(reply, dialect) for reply in replies),
        Origin("emulated"),
        "test",
        "m",
    )
    return LoadedSubject(
        cassette,
        Scenario(
            f"test/{name}",
            name,
            cassette.id,
            conversation=script,
            tools=offered,
            policies=policies,
        ),
    )


def _interaction(reply: bytes | tuple[int, bytes], dialect: str) -> Interaction:
    status, body = reply if isinstance(reply, tuple) else (200, reply)
    body = as_dialect(body, dialect) if dialect != "openai-chat" else body
    headers = (("content-type", "text/event-stream"),)
    half = len(body) // 2  # two reads, so that the recorded ones differ from the whole body
    reads = (Read(half), Read(len(body) - half))
    return Interaction(Request(), status, headers, body, reads, dialect=dialect)


def in_namespace(subject: LoadedSubject) -> LoadedSubject:
    """Return the conversation with a namespace in each item that is a call."""
    item = re.compile(rb'("call_id": ?")')
    interactions = (
        msgspec.structs.replace(each, body=body, reads=(Read(len(body)),))
        for each in subject.cassette.interactions
        for body in [item.sub(rb'"namespace":"atlas",\1', each.body)]
    )
    cassette = msgspec.structs.replace(subject.cassette, interactions=tuple(interactions))
    return LoadedSubject(cassette, subject.scenario)


STAGE: Final = (
    in_namespace(
        stage(
            "namespace",
            (said("", (weather("a"),)), DONE),
            executed=(OSLO,),
            dialect="openai-responses",
        )
    ),
    stage("answered", (said("天气很好。"),), answer="天气很好。"),
    stage("one-call", (said("", (weather(),)), DONE), executed=(OSLO,)),
    stage("with-system-text", (said("天气很好。"),), answer="天气很好。", system="Be brief."),
    stage(
        "tools-in-text",
        (said("天气很好。"),),
        answer="天气很好。",
        prompt="tag-tools/v1",
        requests=(ExpectedRequest(has_fields={"response_format": False}),),
    ),
    stage(
        "optional-in-text",
        (said("天气很好。"),),
        answer="天气很好。",
        prompt="tag-tools/v1",
        offered=(msgspec.structs.replace(WEATHER, parameters=BOTH),),
    ),
    stage("second-question", (said("雨。"), DONE), questions=("Where?", "When?")),
    stage(
        "few-messages",
        (said("", (weather("a"),)), said("", (weather("b", "Bergen"),)), DONE),
        executed=(OSLO, BERGEN),
        limits=Limits(messages=4),
    ),
    stage("cut-at-length", (said("天", (), "length"),), "limit", "天"),
    stage(
        "limit-in-text",
        (said(TAGGED),),
        "limit",
        "",
        prompt="tag-tools/v1",
        limits=Limits(rounds=1),
        policies=PLAIN,
    ),
    stage("narrated", (said("Let me see.", (weather(),)), DONE), executed=(OSLO,)),
    stage(
        "null-content",
        (said("", (weather(),)), DONE),
        executed=(OSLO,),
        capabilities=NATIVE | {"content_beside_calls": "null"},
    ),
    stage(
        "two-calls",
        (said("", (weather("a"), weather("b", "Bergen"))), DONE),
        executed=(OSLO, BERGEN),
    ),
    stage(
        "two-tools",
        (said("", (weather("a"), ("b", "memory_set", "{}"))), DONE),
        executed=(OSLO, ExpectedExecution(MEMORY.name, {})),
    ),
    stage(
        "results-in-full",
        (said("", (weather("a"), ("b", "memory_set", "{}"))), DONE),
        executed=(OSLO, ExpectedExecution(MEMORY.name, {})),
        questions=("How is it?\n\nAnd where?",),
        weather={"days": [21, 22, 23, 24, 25], "at": "Noon.\nNight.", "rain": False},
        memory="Kept:\n\n  twice.\n" * 700,
    ),
    stage(
        "gives-up",
        (said("", (BROKEN,)), said("", (BROKEN,))),
        "limit",
        None,
        parse_errors=2,
        retries=1,
        policies=GATEWAY,
    ),
    stage(
        "two-results-in-blocks",
        (said("", (weather("a"), weather("b", "Bergen"))), DONE),
        executed=(OSLO, BERGEN),
        dialect="anthropic",
    ),
    stage(
        "signed-thought",
        (said("", (weather("a"),), reasoning="Hm."), DONE),
        executed=(OSLO,),
        dialect="anthropic",
    ),
    stage(
        "id-used-again",
        (said("", (weather("a"),)), said("", (weather("a", "Bergen"),)), DONE),
        executed=(OSLO, BERGEN),
    ),
    stage(
        "id-pattern",
        (said("", (weather("call_1"),)), DONE),
        executed=(OSLO,),
        capabilities=NATIVE | {"tool_id_pattern": "[a-zA-Z0-9]{9}"},
    ),
    stage(
        "name-with-dot",
        (said("", (("a", "memory_set", json.dumps({"n": 1, "o": {"p": [2]}})),)), DONE),
        executed=(ExpectedExecution(MEMORY.name, {"n": 1, "o": {"p": [2]}}),),
    ),
    stage(
        "near-name",
        (said("", (("a", "get_wether", '{"city": "Oslo"}'),)), said("", (weather("b"),)), DONE),
        executed=(OSLO,),
    ),
    stage("misfit", (said("", (("a", WEATHER.name, '{"city": 5}'),)), DONE)),
    stage(
        "tool-fails",
        (said("", (("a", FAILING.name, "{}"),)), DONE),
        executed=(ExpectedExecution(FAILING.name, {}),),
    ),
    stage(
        "reasoned",
        (said("", (weather("a"),), reasoning="Hm."), DONE),
        executed=(OSLO,),
        capabilities=NATIVE | {"reasoning_field": "reasoning_content"},
    ),
    stage("one-bad", (said("", (weather("a"), BROKEN)), DONE), executed=(OSLO,), parse_errors=1),
    stage(
        "bad-then-good",
        (said("", (BROKEN,)), said("", (weather("b"),)), DONE),
        executed=(OSLO,),
        parse_errors=1,
        policies=PLAIN,
    ),
    stage(
        "bad-mended",
        (said("", (BROKEN,)), said("", (weather("b"),)), DONE),
        executed=(OSLO,),
        parse_errors=1,
        retries=1,
        policies=GATEWAY,
    ),
    stage(
        "announced",
        (said("Let me see.", (), "tool_calls"),),
        "error",
        "Let me see.",
        policies=PLAIN,
    ),
    stage(
        "announced-then-called",
        (said("Let me see.", (), "tool_calls"), said("", (weather("b"),)), DONE),
        executed=(OSLO,),
        retries=1,
        policies=GATEWAY,
    ),
    stage("broken-off", (said("天", (weather(),), None),), "interrupted", "天", parse_errors="any"),
    stage("provider-fails", ((503, FAILED),), "error", ""),
    stage("empty", (said(""),), "empty", ""),
    stage(
        "identical",
        tuple(said("", (weather(call_id),)) for call_id in "abc"),
        "limit",
        "",
        (OSLO, OSLO),
    ),
    stage(
        "rounds",
        (said("", (weather("a"),)), said("", (weather("b", "Bergen"),))),
        "limit",
        "",
        (OSLO,),
        limits=Limits(rounds=2),
        history=ExpectedMessages(last_role="tool", says="did not run"),
    ),
    stage(
        "false-is-sent",
        (said("", (weather(),)), DONE),
        executed=(OSLO,),
        capabilities=NATIVE | {"supports_parallel_tools": False},
        requests=(ExpectedRequest(fields={"parallel_tool_calls": False}),) * 2,
    ),
    stage(
        "no-tools",
        (said(FENCED), DONE),
        executed=(OSLO,),
        capabilities={"supports_tool_use": False},
        strategy="json_fallback",
        policies=GATEWAY,
    ),
    stage(
        "unstable-json",
        (said(FENCED[:-9]), said(FENCED), DONE),
        executed=(OSLO,),
        capabilities={"supports_tool_use": False, "json_stability": "low"},
        parse_errors=1,
        retries=1,
        strategy="json_fallback",
        policies=GATEWAY,
        requests=(
            ExpectedRequest(),
            ExpectedRequest(says=("```json", f'"{WEATHER.name}"')),
            ExpectedRequest(),
        ),
    ),
    stage(
        "probe-fails",
        ((400, FAILED), said(FENCED), DONE),
        executed=(OSLO,),
        capabilities=UNKNOWN,
        probe="error",
        policies=GATEWAY,
    ),
)
