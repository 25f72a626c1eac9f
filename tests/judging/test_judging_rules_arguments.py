"""Rules about arguments: the snippet of a parse error may contain escapes or not."""

import pytest

from harness.dialects.table import oracle_reading
from harness.judging.examine import examine
from harness.judging.expectation import Expectation, ExpectedRejection
from harness.judging.replaying import DEFAULT_LIMITS
from harness.turns.deltas import ParseError, ToolCallRejected, ToolCallStart
from tests.judging.judging_samples import a_normalizer, an_interaction


@pytest.mark.parametrize(
    ("sent", "quoted", "broken"),
    [
        (r'{"a": "\u5317\u4eac', '{"a": "北京', False),
        ('{"a": "北京', r'{"a": "\u5317\u4EAC', False),
        (r'{"a": "\ud83d\ude00', '{"a": "😀', False),
        (r'{"a": "\ude00', '{"a": "\ufffd', False),
        (r'{"a": "\u5317\u4e', r'{"a": "\u5317\u4eac"', False),
        (r'{"a": "\u5317\u4e', '{"a": "北京"', False),
        (r'{"a": "\ud83d', '{"a": "😀', False),
        (r'{"a": "\ud83d\ud', r'{"a": "\ud83d\ude00', False),
        (r'{"a": "\u5317', '{"a": "京', True),
        ('{"a": "b', "", True),
    ],
)
def test_a_snippet_quotes_the_raw_text_in_any_escapes(sent: str, quoted: str, broken: bool) -> None:  # noqa: FBT001 - drawn from the table
    deltas = (ToolCallStart(0, "c", "f"), ToolCallRejected(0, ParseError("tool_use", "x", quoted)))
    by = a_normalizer(lambda reads: iter((list(reads), *deltas)[1:]))
    expected = Expectation(
        "scenario", rejected=(ExpectedRejection("f", sent),), judged=frozenset({"rejected"})
    )
    interaction = an_interaction(b"data: [DONE]\n\n")
    strict = oracle_reading(interaction)
    seen = examine(0, interaction, expected, strict, by, cuts=(), limits=DEFAULT_LIMITS)
    assert ("PARSE-ERROR-TOLD" in {each.rule for each in seen.findings}) is broken
