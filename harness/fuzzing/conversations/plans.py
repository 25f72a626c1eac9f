"""A talk: a whole conversation as data, small enough to shrink, from which all of it follows.

What the provider says, what the tools answer and what must come of it are made from the same
plan, as an agent has to go about it: run each call that can be used, once and in order, tell the
model of the others, and stop where a turn breaks off or says nothing.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.conversation.agent import Agent

End = Literal["whole", "cut", "empty"]
Probed = Literal["", "ok", "no", "error"]
Prompted = Literal["native-tools/v1", "tag-tools/v1", "action-protocol/v1"]

# What a tool answers; the last one always fails.
RESULTS: Final[dict[str, Any]] = {
    "get_weather": {"temperature": 4},
    "schema.list": ["orders", "items"],
    "note": "",
}
FAILING: Final = "fetch"
# Nearly a tool's name; nothing is called so, so that a call of it must run nothing.
UNKNOWN: Final = "get_wether"
_BROKEN: Final = ('{"city": "Os', "Oslo, please", "['Oslo']")


class PlannedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of the model; `broken` stands in place of arguments that can be read."""

    tool: str = "get_weather"
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    broken: str = ""


class PlannedTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn with calls."""

    calls: tuple[PlannedCall, ...]
    text: str = ""


class ConversationPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conversation.

    Fields:
        questions: for each, the turns with calls that come before its answer.
        answer: what the model says in the end of each; made different by its number.
        end: of the last turn: a whole answer, one that breaks off, or nothing at all.
        again: after that, the model asks for the same call until it is stopped.
        stopped: in place of an answer comes one call more than there may be turns.
        same_ids: each turn calls its calls by the same ids.
        probed: how the provider answers a probe; "" where its capabilities are declared.
        capabilities: beside that it takes tools.
        prompt: that the agent is had with.
    """

    questions: tuple[tuple[PlannedTurn, ...], ...]
    answer: str = "It is cold."
    reasoning: str = ""
    end: End = "whole"
    again: bool = False
    stopped: bool = False
    same_ids: bool = False
    probed: Probed = ""
    takes_tools: bool = True
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    prompt: Prompted = "native-tools/v1"
    dialect: str = "openai-chat"

    @property
    def taught(self) -> bool:
        """Whether the tools are told in words, and calls come as text."""
        return self.prompt != "native-tools/v1"

    @property
    def size(self) -> tuple[int, int]:
        """Return what makes one talk smaller than another: its turns, and all that is said."""
        turns = sum(len(rounds) + 1 for rounds in self.questions)
        return turns, len(msgspec.json.encode(self))


def conversation_plans(agent: Agent) -> SearchStrategy[ConversationPlan]:
    """Return talks that `agent` can have."""
    ways = []
    if "native-tools/v1" in agent.prompts:
        ways += [_native_plans(agent, dialect) for dialect in sorted(agent.dialects & _DIALECTS)]
    if "openai-chat" in agent.dialects:
        ways += [_text_call_plans(prompt) for prompt in _TAUGHT if prompt in agent.prompts]
    return st.one_of(ways) if ways else st.nothing()


_DIALECTS: Final = frozenset(("openai-chat", "ollama"))
_TAUGHT: Final[tuple[Prompted, ...]] = ("tag-tools/v1", "action-protocol/v1")
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
_UNKNOWN_CALLS = st.tuples(st.builds(PlannedCall, st.just(UNKNOWN), _ARGUMENTS))
_TEXTS = st.sampled_from(["", "Let me look.", "Ich schaue, bitte warten: 春. 🎉"])
_ANSWERS = st.sampled_from(["It is cold.", "Es ist kalt: 4 °C, schöner Schnee 春"])
_CAPABILITIES = st.sampled_from(
    [
        {},
        {"tool_id_pattern": "[a-zA-Z0-9]{9}"},
        {"reasoning_field": "reasoning_content"},
        {"content_beside_calls": "empty"},
        {"supports_parallel_tools": False},
    ]
)


def _native_plans(agent: Agent, dialect: str) -> SearchStrategy[ConversationPlan]:
    # Ollama sends arguments as objects, so that none can be broken off.
    broken = dialect == "openai-chat"
    talk = _plans(broken=broken, unknown=True, dialect=dialect)
    if agent.policies.get("probe") != "undeclared":
        return talk
    without = st.builds(
        ConversationPlan,
        st.just(((),)),
        answer=_ANSWERS,
        takes_tools=st.just(value=False),
        probed=st.sampled_from(["", "no", "error"]),
        dialect=st.just(dialect),
    )
    return talk | without | talk.map(_with_probe)


def _with_probe(talk: ConversationPlan) -> ConversationPlan:
    return msgspec.structs.replace(talk, probed="ok")


def _text_call_plans(prompt: Prompted) -> SearchStrategy[ConversationPlan]:
    return _plans(broken=False, unknown=False, dialect="openai-chat").map(
        lambda talk: msgspec.structs.replace(
            talk, prompt=prompt, reasoning="", capabilities={}, same_ids=False
        )
    )


def _plans(*, broken: bool, unknown: bool, dialect: str) -> SearchStrategy[ConversationPlan]:
    several = st.lists(_CALLS, min_size=1, max_size=3, unique_by=msgspec.json.encode)
    mixed = st.tuples(_BROKEN_CALLS, _CALLS) | st.tuples(_CALLS, _BROKEN_CALLS)
    alone = st.tuples(_BROKEN_CALLS)
    calls = several.map(tuple) | mixed | alone if broken else several.map(tuple)
    calls = calls | _UNKNOWN_CALLS if unknown else calls
    rounds = st.lists(st.builds(PlannedTurn, calls, _TEXTS), max_size=2).map(tuple)
    built = st.builds(
        ConversationPlan,
        st.lists(rounds, min_size=1, max_size=2).map(tuple),
        answer=_ANSWERS,
        reasoning=st.sampled_from(["", "Hm."]),
        end=st.sampled_from(["whole", "whole", "cut", "empty"]),
        again=st.booleans(),
        stopped=st.booleans(),
        same_ids=st.booleans(),
        capabilities=_CAPABILITIES,
        dialect=st.just(dialect),
    )
    return built.map(_unambiguous)


def _unambiguous(talk: ConversationPlan) -> ConversationPlan:
    """Return `talk` without what agents may rightly go about in different ways."""
    # Ollama's messages have no ids, no null and no reasoning to be sent back.
    plain = talk.dialect == "ollama" and "supports_parallel_tools" not in talk.capabilities
    capabilities = {} if plain else talk.capabilities
    serial = capabilities.get("supports_parallel_tools") is False
    questions = tuple(tuple(_unambiguous_turns(rounds, serial=serial)) for rounds in talk.questions)
    broken = any(call.broken for rounds in questions for it in rounds for call in it.calls)
    alone = len(questions) == 1 and not talk.again and talk.end == "whole"
    return msgspec.structs.replace(
        talk,
        questions=questions,
        stopped=talk.stopped and alone and not broken,
        capabilities=capabilities,
        again=talk.again and talk.end == "whole",
        same_ids=talk.same_ids and "tool_id_pattern" not in talk.capabilities,
    )


def _unambiguous_turns(rounds: tuple[PlannedTurn, ...], *, serial: bool) -> Iterator[PlannedTurn]:
    """Yield rounds: one call at a time where that was asked for, nothing broken twice in a row."""
    broken_before = False
    made: set[bytes] = set()
    for each in rounds:
        calls = each.calls[:1] if serial else each.calls
        broken = all(call.broken for call in calls)
        known = {msgspec.json.encode(call) for call in calls}
        if (broken and broken_before) or known & made:
            continue
        broken_before, made = broken, made | known
        yield PlannedTurn(calls, each.text)


_MEMBERS: Final = (
    *("again", "stopped", "same_ids", "end"),
    *("reasoning", "capabilities", "probed", "answer"),
)


def smaller_plans(talk: ConversationPlan) -> Iterator[ConversationPlan]:
    """Yield talks with one thing less, the boldest first."""
    for less in map(_unambiguous, _less(talk)):
        if less.size < talk.size:
            yield less


def _less(talk: ConversationPlan) -> Iterator[ConversationPlan]:
    replace = msgspec.structs.replace
    for at in range(len(talk.questions)) if len(talk.questions) > 1 else ():
        yield replace(talk, questions=talk.questions[:at] + talk.questions[at + 1 :])
    for at, rounds in enumerate(talk.questions):
        for fewer in _fewer(rounds):
            yield replace(talk, questions=(*talk.questions[:at], fewer, *talk.questions[at + 1 :]))
    plain = ConversationPlan(talk.questions)
    for name in _MEMBERS:
        if getattr(talk, name) != getattr(plain, name) and (talk.takes_tools or name != "probed"):
            yield replace(talk, **{name: getattr(plain, name)})


def _fewer(rounds: tuple[PlannedTurn, ...]) -> Iterator[tuple[PlannedTurn, ...]]:
    for at, each in enumerate(rounds):
        before, after = rounds[:at], rounds[at + 1 :]
        yield before + after
        for place in range(len(each.calls)) if len(each.calls) > 1 else ():
            calls = each.calls[:place] + each.calls[place + 1 :]
            yield (*before, PlannedTurn(calls, each.text), *after)
        if each.text:
            yield (*before, PlannedTurn(each.calls), *after)
        for place, call in enumerate(each.calls):
            if call.arguments:
                less = msgspec.structs.replace(call, arguments={})
                calls = (*each.calls[:place], less, *each.calls[place + 1 :])
                yield (*before, PlannedTurn(calls, each.text), *after)
