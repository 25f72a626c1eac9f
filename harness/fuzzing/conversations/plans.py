"""Draw the plan of a conversation: a small value that Hypothesis can shrink.

The responses, the results of the tools and the expected result are made from the plan. An agent
must execute each usable call once and in order, report the others to the model, and stop if a
turn is truncated or empty.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.conversation.agent import Agent
from harness.dialects.table import DIALECTS, TEXT_CALL_DIALECTS
from harness.providers import JsonStability

DIALECT_KEY: Final = "conversation"

End = Literal["whole", "cut", "empty", "announced"]
Probed = Literal["", "ok", "no", "error"]
Prompted = Literal["native-tools/v1", "tag-tools/v1", "action-protocol/v1"]

# The result of each tool; `FAILING` always fails.
RESULTS: Final[dict[str, Any]] = {
    "get_weather": {"temperature": 4},
    "schema.list": ["orders", "items"],
    "note": "",
}
# Of each tool; name -> type.
PARAMETERS: Final = {"city": "string", "days": "integer", "where": "object"}
FAILING: Final = "fetch"
# Almost the name of a tool: a call of it must execute nothing.
UNKNOWN: Final = "get_wether"
# Of other types than the tools declare, so that a call with one must execute nothing.
_MISFITS: Final[tuple[dict[str, Any], ...]] = (
    {"days": "3"},
    {"days": "no"},
    {"city": 5},
    {"where": '{"lat": 60}'},
    {"where": []},
)
_BROKEN: Final = ('{"city": "Os', "Oslo, please", "['Oslo']")


class PlannedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A planned call of the model; `broken` is text instead of arguments that cannot be parsed."""

    tool: str = "get_weather"
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    broken: str = ""

    @property
    def is_executed(self) -> bool:
        """Whether an agent must execute it: the tool exists, and the arguments fit its schema."""
        return not self.broken and self.tool != UNKNOWN and self.arguments not in _MISFITS


class PlannedTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn of the plan in which the model calls tools.

    Fields:
        calls: the calls of the turn.
        text: what the model says before them; "" for nothing.
    """

    calls: tuple[PlannedCall, ...]
    text: str = ""


class ConversationPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The plan from which the fuzzer builds one conversation.

    Fields:
        questions: for each question, the turns with calls before its answer.
        answer: the final text for each question, to which the number of the question is added.
        sealed: opaque data in each turn with calls that only the provider can read; "" for none.
        end: the kind of the last turn: a complete answer, a truncated one, an empty turn, or text
            that announces calls which do not come.
        again: whether the model repeats one call at the end until the agent stops.

        stopped: whether the model makes one call more than the limit allows instead of answering.
        same_ids: whether each turn uses the same ids for its calls.
        probed: the provider's answer to a probe for tool support; "" if support is declared.
        capabilities: capabilities other than `takes_tools`.
        system: the application's system text.
        prompt: the id of the prompt that the agent uses.
    """

    # One key for all conversations: bugs of agents are not those of a dialect.
    dialect_key: ClassVar[str] = DIALECT_KEY
    # A plan is drawn as it is.
    mutators: ClassVar[tuple[str, ...]] = ()
    quirks: ClassVar[tuple[str, ...]] = ()
    is_seed: ClassVar[bool] = False

    questions: tuple[tuple[PlannedTurn, ...], ...]
    answer: str = "It is cold."
    reasoning: str = ""
    sealed: str = ""
    end: End = "whole"
    again: bool = False
    stopped: bool = False
    same_ids: bool = False
    probed: Probed = ""
    takes_tools: bool = True
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    system: str = ""
    prompt: Prompted = "native-tools/v1"
    dialect: str = "openai-chat"

    @property
    def has_text_calls(self) -> bool:
        """Whether the prompt describes the tools, so that the model writes calls in its text."""
        return self.prompt != "native-tools/v1"

    @property
    def size(self) -> tuple[int, int]:
        """A sort key for shrinking: the number of turns, and the length of the plan."""
        turns = sum(len(planned) + 1 for planned in self.questions)
        return turns, len(msgspec.json.encode(self))


def conversation_plans(agent: Agent) -> SearchStrategy[ConversationPlan]:
    """Return a strategy for plans of conversations that `agent` supports."""
    kinds = []
    if "native-tools/v1" in agent.prompts:
        kinds += [
            _native_plans(agent, dialect) for dialect in sorted(agent.dialects & _NATIVE_DIALECTS)
        ]
    if "openai-chat" in agent.dialects:
        kinds += [
            _text_call_plans(prompt) for prompt in _TEXT_CALL_PROMPTS if prompt in agent.prompts
        ]
    return st.one_of(kinds) if kinds else st.nothing()


# Of the APIs whose messages have blocks, one.
_NATIVE_DIALECTS: Final = TEXT_CALL_DIALECTS | {"anthropic"}
_TEXT_CALL_PROMPTS: Final[tuple[Prompted, ...]] = ("tag-tools/v1", "action-protocol/v1")
_Calls: TypeAlias = SearchStrategy[tuple[PlannedCall, ...]]
_ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "city": st.sampled_from(["Oslo", "北京"]),
        "days": st.integers(0, 3),
        "where": st.just({"lat": 60}),
    },
)
_CALLS = st.builds(PlannedCall, st.sampled_from([*RESULTS, FAILING]), _ARGUMENTS)
_BROKEN_CALLS = st.builds(
    PlannedCall, st.just("get_weather"), st.just({}), st.sampled_from(_BROKEN)
)
# Two calls are equal in any order of their arguments; an agent stops at the third.
_SEVERAL_CALLS: _Calls = st.lists(
    _CALLS, min_size=1, max_size=3, unique_by=partial(msgspec.json.encode, order="deterministic")
).map(tuple)
_WITH_BROKEN: _Calls = st.one_of(
    st.tuples(_BROKEN_CALLS, _CALLS), st.tuples(_CALLS, _BROKEN_CALLS), st.tuples(_BROKEN_CALLS)
)
_UNKNOWN_CALLS: _Calls = st.tuples(st.builds(PlannedCall, st.just(UNKNOWN), _ARGUMENTS))
_MISFIT_CALLS: _Calls = st.tuples(
    st.builds(PlannedCall, st.just("get_weather"), st.sampled_from(_MISFITS))
)
_TEXTS = st.sampled_from(["", "Let me look.", "Ich schaue, bitte warten: 春. 🎉"])
_SEALED: Final = ("EqQBCgIYAhIk+w/a==", "c2VhbGVk")
_ANSWERS = st.sampled_from(["It is cold.", "Kalt sind es 4 °C, schöner Schnee 春"])
_CAPABILITIES = st.sampled_from(
    [
        {},
        {"tool_id_pattern": "[a-zA-Z0-9]{9}"},
        {"reasoning_field": "reasoning_content"},
        {"content_beside_calls": "empty"},
        {"content_beside_calls": "null"},
        {"supports_parallel_tools": False},
    ]
)


def _native_plans(agent: Agent, dialect: str) -> SearchStrategy[ConversationPlan]:
    # Ollama sends arguments as objects, so that none can be truncated.
    calls = _SEVERAL_CALLS | _WITH_BROKEN if dialect == "openai-chat" else _SEVERAL_CALLS
    plan = _plans(calls | _UNKNOWN_CALLS | _MISFIT_CALLS, dialect)
    if agent.policies.get("probe") != "undeclared":
        return plan
    without = st.builds(
        ConversationPlan,
        st.just(((),)),
        answer=_ANSWERS,
        takes_tools=st.just(value=False),
        probed=st.sampled_from(["", "no", "error"]),
        dialect=st.just(dialect),
    )
    # A retry of the fallback shows a worked call if the provider's JSON is unstable.
    retried = st.builds(
        ConversationPlan,
        st.just(((),)),
        takes_tools=st.just(value=False),
        end=st.just("announced"),
        capabilities=st.fixed_dictionaries(
            {"json_stability": st.sampled_from(get_args(JsonStability))}
        ),
    )
    without = without | retried if dialect == "openai-chat" else without
    return plan | without | plan.map(lambda each: msgspec.structs.replace(each, probed="ok"))


def _text_call_plans(prompt: Prompted) -> SearchStrategy[ConversationPlan]:
    return _plans(_SEVERAL_CALLS, "openai-chat").map(
        lambda plan: msgspec.structs.replace(
            plan,
            prompt=prompt,
            reasoning="",
            capabilities={},
            same_ids=False,
            end="whole" if plan.end == "announced" else plan.end,
        )
    )


def _plans(calls: _Calls, dialect: str) -> SearchStrategy[ConversationPlan]:
    turns = st.lists(st.builds(PlannedTurn, calls, _TEXTS), max_size=2).map(tuple)
    built = st.builds(
        ConversationPlan,
        st.lists(turns, min_size=1, max_size=2).map(tuple),
        answer=_ANSWERS,
        reasoning=st.sampled_from(["", "Hm."]),
        sealed=st.sampled_from(["", *_SEALED]) if DIALECTS[dialect].sealed_kind else st.just(""),
        system=st.sampled_from(["", "You work in a library."]),
        end=st.sampled_from(["whole", "whole", "cut", "empty", "announced"]),
        again=st.booleans(),
        stopped=st.booleans(),
        same_ids=st.booleans(),
        capabilities=_CAPABILITIES,
        dialect=st.just(dialect),
    )
    return built.map(_unambiguous)


def _unambiguous(plan: ConversationPlan) -> ConversationPlan:
    """Return `plan` without parts that correct agents may handle in different ways."""
    # An API without ids has no null and no reasoning to send back either, and one with blocks
    # has other fields for them.
    row = DIALECTS[plan.dialect]
    keeps = row.has_call_ids or "supports_parallel_tools" in plan.capabilities
    capabilities = plan.capabilities if keeps and not row.messages.has_blocks else {}
    serial = capabilities.get("supports_parallel_tools") is False
    questions = tuple(tuple(_unambiguous_turns(turns, serial=serial)) for turns in plan.questions)
    broken = any(call.broken for turns in questions for it in turns for call in it.calls)
    end = plan.end
    # In other APIs the calls decide, and an agent retries once only.
    if end == "announced" and (plan.dialect != "openai-chat" or _ends_broken(questions[-1])):
        end = "whole"
    alone = len(questions) == 1 and not plan.again and end == "whole"
    return msgspec.structs.replace(
        plan,
        questions=questions,
        stopped=plan.stopped and alone and not broken,
        capabilities=capabilities,
        again=plan.again and end == "whole",
        end=end,
        same_ids=plan.same_ids and "tool_id_pattern" not in plan.capabilities,
    )


def _ends_broken(turns: tuple[PlannedTurn, ...]) -> bool:
    """Return whether no call of the last turn can be used."""
    return bool(turns) and all(call.broken for call in turns[-1].calls)


def _unambiguous_turns(turns: tuple[PlannedTurn, ...], *, serial: bool) -> Iterator[PlannedTurn]:
    """Yield turns with one call at a time if requested, and no two broken turns in a row."""
    broken_before = False
    made: set[bytes] = set()
    for each in turns:
        calls = each.calls[:1] if serial else each.calls
        broken = all(call.broken for call in calls)
        known = {msgspec.json.encode(call) for call in calls}
        if (broken and broken_before) or known & made:
            continue
        broken_before, made = broken, made | known
        yield PlannedTurn(calls, each.text)


_MEMBERS: Final = (
    *("again", "stopped", "same_ids", "end"),
    *("reasoning", "sealed", "capabilities", "probed", "answer", "system"),
)


def smaller_plans(plan: ConversationPlan) -> Iterator[ConversationPlan]:
    """Yield smaller plans that each lack one part of `plan`, the largest change first."""
    for less in map(_unambiguous, _less(plan)):
        if less.size < plan.size:
            yield less


def _less(plan: ConversationPlan) -> Iterator[ConversationPlan]:
    replace = msgspec.structs.replace
    for at in range(len(plan.questions)) if len(plan.questions) > 1 else ():
        yield replace(plan, questions=plan.questions[:at] + plan.questions[at + 1 :])
    for at, turns in enumerate(plan.questions):
        for fewer in _fewer(turns):
            yield replace(plan, questions=(*plan.questions[:at], fewer, *plan.questions[at + 1 :]))
    plain = ConversationPlan(plan.questions)
    for name in _MEMBERS:
        if getattr(plan, name) != getattr(plain, name) and (plan.takes_tools or name != "probed"):
            yield replace(plan, **{name: getattr(plain, name)})


def _fewer(turns: tuple[PlannedTurn, ...]) -> Iterator[tuple[PlannedTurn, ...]]:
    for at, each in enumerate(turns):
        before, after = turns[:at], turns[at + 1 :]
        yield before + after
        for number in range(len(each.calls)) if len(each.calls) > 1 else ():
            calls = each.calls[:number] + each.calls[number + 1 :]
            yield (*before, PlannedTurn(calls, each.text), *after)
        if each.text:
            yield (*before, PlannedTurn(each.calls), *after)
        for number, call in enumerate(each.calls):
            if call.arguments:
                less = msgspec.structs.replace(call, arguments={})
                calls = (*each.calls[:number], less, *each.calls[number + 1 :])
                yield (*before, PlannedTurn(calls, each.text), *after)
