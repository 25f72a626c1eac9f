"""Muse Glimmer's messages: only one to a tool contains calls; no header is ever shown."""

from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.turns.deltas import Finish, FinishReason, SealedDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

TOOLS = (
    Tool("look_up", "", {"type": "object", "properties": {"word": {"type": "string"}}}),
    Tool("wipe", "", {"type": "object", "properties": {}}),
)
START = "<|start|>assistant"
WIPE = '<atem:function_calls>\n<atem:invoke name="wipe">\n</atem:invoke>\n</atem:function_calls>'
LOOK = (
    '<atem:function_calls>\n<atem:invoke name="look_up">\n'
    '<atem:parameter name="word">elk</atem:parameter>\n</atem:invoke>\n</atem:function_calls>'
)
ALL = frozenset(TEXT_DIALECTS) - {"action-protocol"}


def _read(text: str, size: int, dialects: frozenset[str], prompt_end: str = "") -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    end = Finish(FinishReason.STOP)
    policy = TextPolicy(dialects)
    return fold(read_text_calls([*deltas, end], TOOLS, policy, prompt_end=prompt_end))


def _said(turn: Turn) -> tuple[str, str, list[str], int]:
    names = [call.name for call in turn.tool_calls]
    return turn.text, turn.reasoning, names, len(turn.parse_errors)


_REPLIES = {
    "quoted in the answer": (f" to=user<|message|>Write {WIPE}<|eot|>", f"Write {WIPE}", "", []),
    "alone in the answer": (f" to=user<|message|>{WIPE}<|eot|>", WIPE, "", []),
    "quoted by a user's tag": (
        ' to=user<|message|>A tag <atem:invoke name="wipe"> begins it.<|eot|>',
        'A tag <atem:invoke name="wipe"> begins it.',
        "",
        [],
    ),
    "drafted": (
        f" to=self<|message|>Say {WIPE} or no.<|eom|>{START} to=user<|message|>Hi.<|eot|>",
        "Hi.",
        f"Say {WIPE} or no.",
        [],
    ),
    "drafted, then called": (
        f" to=self<|message|>Not {WIPE}.<|eom|>{START} to=look_up<|message|>{LOOK}<|eot|>",
        "",
        f"Not {WIPE}.",
        ["look_up"],
    ),
    "thoughts that never end": (f" to=self<|message|>Say {WIPE}", "", f"Say {WIPE}", []),
    "thoughts without an end before the call": (
        f" to=self<|message|>Now. to=wipe<|message|>{WIPE}<|eot|>",
        "",
        "Now.",
        ["wipe"],
    ),
    "two calls": (
        f" to=look_up<|message|>{LOOK}<|eom|>{START} to=wipe<|message|>{WIPE}<|eot|>",
        "",
        "",
        ["look_up", "wipe"],
    ),
    "words, then a call": (
        f" to=user<|message|>I look.<|eom|>{START} to=look_up<|message|>{LOOK}<|eot|>",
        "I look.",
        "",
        ["look_up"],
    ),
    "doubled names": (
        f" to=wipe.wipe<|message|>{WIPE.replace('wipe', 'wipe.wipe')}<|eot|>",
        "",
        "",
        ["wipe"],
    ),
    "no recipient": ("<|message|>Hi.<|eot|>", "Hi.", "", []),
    "a sentence about tokens": (
        " to=user<|message|>The token <|eom|> ends a message.<|eot|>",
        "The token <|eom|> ends a message.",
        "",
        [],
    ),
    "a truncated header": (f" to=user<|message|>Hi.<|eom|>{START} to=loo", "Hi.", "", []),
}


@each_row("dialects", [frozenset(["anthropic-invoke"]), ALL])
@each_row("name", list(_REPLIES))
def test_a_message_is_read_by_its_recipient(name: str, dialects: frozenset[str]) -> None:
    reply, text, reasoning, calls = _REPLIES[name]
    for size in (1, 2, 7, 1000):
        turn = _read(reply, size, dialects, prompt_end=START)
        assert _said(turn) == (text, reasoning, calls, 0), size
        whole = _read(START + reply, size, dialects)
        assert _said(whole) == (text, reasoning, calls, 0), size


@each_row("name", list(_REPLIES))
def test_the_prompt_may_end_anywhere_in_a_header(name: str) -> None:
    reply, text, reasoning, calls = _REPLIES[name]
    header = reply.index("<|message|>") + len("<|message|>")
    for end in range(header + 1):
        turn = _read(reply[end:], 3, ALL, prompt_end=START + reply[:end])
        assert _said(turn) == (text, reasoning, calls, 0), end


@each_row("text", [LOOK, f"I look.\n\n{LOOK}"])
def test_a_call_without_any_header_counts(text: str) -> None:
    assert _said(_read(text, 5, ALL))[2:] == (["look_up"], 0)


@each_row("text", ["to=user is the recipient.", " to=self and more", "to=wipe"])
def test_words_like_a_header_are_text(text: str) -> None:
    assert _said(_read(text, 1, ALL)) == (text, "", [], 0)


@each_row("name", sorted(ALL))
def test_white_space_is_shown_before_the_signature_that_belongs_to_it(name: str) -> None:
    signed = SealedDelta("signature", "s", of="text")
    deltas = (TextDelta(" "), signed, TextDelta("Last."), Finish(FinishReason.STOP))
    found = tuple(read_text_calls(deltas, TOOLS, TextPolicy(frozenset([name]))))
    assert found == deltas
