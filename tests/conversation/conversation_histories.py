"""Turns as hostile as a normalizer may make them, and the histories that are stored of them."""

from hypothesis import strategies as st

from harness.conversation.feedback import ToolResult
from harness.conversation.history.identifiers import distinct_ids, fit_ids
from harness.conversation.history.storing import (
    HISTORY_POLICIES,
    StoringOptions,
    turn_messages,
)
from harness.providers import PROVIDERS, Capabilities
from harness.turns.deltas import Finish, FinishReason, ParseError, StreamFailure, ToolCall
from harness.turns.messages import Message, system, user
from harness.turns.turn import Turn

CAPABILITIES = st.sampled_from(
    [
        Capabilities(),
        *dict.fromkeys(row.capabilities for row in PROVIDERS.values()),
        Capabilities(tool_id_pattern=".{1,40}", reasoning_field="reasoning_content"),
        Capabilities(content_beside_calls="null"),
    ]
)
TEXTS = st.sampled_from(["", " \n", "Let me look.", "好的。", "[{"])
# Few of them, so that they are given twice; some that no provider takes.
IDS = st.sampled_from(
    ["", "call_0", "call_0-2", "a.b", "a:b", "functions.f:0", "k" * 53, "D681PevKs"]
)
NAMES = st.sampled_from(["get_weather", "get weather", "get.weather", "查询天气", "n" * 70, ""])
ARGUMENTS = st.sampled_from(["{}", '{"city": "Oslo"}', "", " ", '{"city": "Os', "[1]", "天气"])
CALLS = st.builds(
    ToolCall, IDS, NAMES, ARGUMENTS, st.sampled_from(["function", "function", "custom", "action"])
)
ERRORS = st.builds(
    ParseError,
    st.sampled_from(["tool_use", "json_fallback"]),
    st.just("expected one JSON object"),
    ARGUMENTS,
    IDS,
    NAMES,
)
FINISHES = st.sampled_from(FinishReason).map(Finish)
TURNS = st.builds(
    Turn,
    text=TEXTS,
    reasoning=TEXTS,
    tool_calls=st.lists(CALLS, max_size=4).map(tuple),
    parse_errors=st.lists(ERRORS, max_size=2).map(tuple),
    finish=FINISHES | FINISHES | st.none(),
    failure=st.none() | st.none() | st.just(StreamFailure("interrupted")),
)
VALUES = st.sampled_from(["Rain.", "", {"a": 1}, [1, None], 3, None])
STORINGS = st.builds(
    StoringOptions,
    rejected=st.sampled_from(["text", "result"]),
    language=st.sampled_from(["en", "zh"]),
)
POLICY_NAMES = st.sampled_from(sorted(HISTORY_POLICIES))


@st.composite
def results_of(draw: st.DrawFn, turn: Turn) -> dict[str, ToolResult]:
    """Return results for some of the calls of `turn`."""
    ids = [call.id for call in distinct_ids(turn).tool_calls]
    answered = [call_id for call_id in ids if draw(st.booleans())]
    return {
        call_id: ToolResult(call_id, "f", draw(VALUES), draw(st.sampled_from(["", "broken"])))
        for call_id in answered
    }


@st.composite
def histories(draw: st.DrawFn, capabilities: Capabilities, policy: str) -> tuple[Message, ...]:
    """Return the history of a few questions with a few turns each, as it would be sent."""
    messages: list[Message] = [system("Be brief.")] if draw(st.booleans()) else []
    storing = draw(STORINGS)
    named = HISTORY_POLICIES[HISTORY_POLICIES.index(policy)]
    iteration = 0
    for question in range(draw(st.integers(1, 4))):
        messages.append(user(f"Question {question}?"))
        for turn in draw(st.lists(TURNS, max_size=4)):
            iteration += 1
            results = draw(results_of(turn))
            messages += turn_messages(named, turn, results, iteration, capabilities, storing)
    return fit_ids(messages, capabilities.tool_id_pattern).messages
