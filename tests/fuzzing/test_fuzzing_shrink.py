"""Smaller inputs are inputs that a server may send, and keep a bug that is bound to its place."""

import json
import re
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness import shipped
from harness.dialects.table import DIALECTS
from harness.fuzzing.found import SmallestInput, location_of, needs_of
from harness.fuzzing.mutators.endings import CUT, truncated_inputs
from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, with_body
from harness.fuzzing.search import Shrinking
from harness.fuzzing.strategies.turns import member_of
from harness.fuzzing.turns.evaluate import Trial, evaluate
from harness.fuzzing.turns.reductions import parse_deltas, reductions, rewritings
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import Seed, seeds, varied_seeds
from harness.judging.expected import ANY_CODE
from harness.judging.replaying import deadlines
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.runs.selection import select_subjects
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ToolCallEnd,
    ToolCallStart,
)
from harness.wire.interaction import Interaction
from harness.wire.sse import encode
from tests.fuzzing.fuzzing_samples import clean
from tests.judging.judging_samples import bundled_subjects

TYPE_WORDS = re.compile(rb'"(?:type|object|role)": ?"[^"]*"')
SPLIT_EVENTS = re.compile(rb"\r\n|\r|\n")


def _samples() -> list[Interaction]:
    return [each for interactions in clean().values() for each in interactions]


@given(data=st.data())
def test_smaller_interactions_stay_realistic(data: st.DataObject) -> None:
    before = data.draw(member_of(_samples()))
    found = list(reductions(before))
    after = data.draw(member_of(found)) if found else before
    words = {*TYPE_WORDS.findall(before.body), *TYPE_WORDS.findall(_rewritten(before))}
    assert words.issuperset(TYPE_WORDS.findall(after.body))
    kept = json.loads(after.request.body or b"{}")
    for name, value in json.loads(before.request.body or b"{}").items():
        if name in ("messages", "tools", "contents", "input"):
            assert kept[name]
            assert type(kept[name]) is type(value)


def _rewritten(interaction: Interaction) -> bytes:
    """Return the turn as the writer encodes it, whose words for kinds may be other ones."""
    try:
        return b"".join(DIALECTS[interaction.dialect].write(parse_deltas(interaction)))
    except ValueError:  # the API cannot encode it
        return b""


@given(data=st.data())
def test_smaller_calls_keep_a_name_and_arguments(data: st.DataObject) -> None:
    before = data.draw(st.sampled_from([it for it in _samples() if len(_calls(it)) == 1]))
    ((_, text),) = _calls(before)
    for after in rewritings(before):
        for name, less in _calls(after):
            assert name
            assert (less in ("", "{}")) == (text in ("", "{}"))


def test_a_rejected_call_ends_before_the_next_one_begins() -> None:
    pieces = [
        each
        for index, text in enumerate(('["not an object"]', "{}"))
        for each in (ToolCallStart(index, f"c{index}", "f"), ArgumentsDelta(index, text))
    ]
    deltas = (*pieces, ToolCallEnd(0), ToolCallEnd(1), Finish(FinishReason.LENGTH))
    interaction = DIALECTS["anthropic"].interaction(deltas)
    kinds = ToolCallStart | ArgumentsDelta | ToolCallEnd
    indexes = [each.index for each in parse_deltas(interaction) if isinstance(each, kinds)]
    assert indexes == sorted(indexes)
    assert len(set(indexes)) > 1


def _calls(interaction: Interaction) -> list[tuple[str, str]]:
    deltas = parse_deltas(interaction)
    texts: dict[int, str] = {}
    for delta in deltas:
        if isinstance(delta, ArgumentsDelta):
            texts[delta.index] = texts.get(delta.index, "") + delta.fragment
    starts = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
    return [(start.name, texts.get(start.index, "")) for start in starts]


def _fails_at_one_byte(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Crash if the body ends within the name of the tool, and nowhere else."""
    body = b"".join(reads)
    if body.endswith(b'"name": "get_w'):
        raise KeyError("get_weather")
    return reference.normalize(interaction, iter([body]))


def test_bug_of_one_byte_is_shrunk_to_a_small_body() -> None:
    folder = shipped.bundled_folder("scenarios") / "calls" / "as-documented.yaml"
    (seed,) = seeds(select_subjects([folder]), reference)
    at = seed.interaction.body.index(b'"name": "get_w') + len(b'"name": "get_w')
    cut = with_body(seed.interaction, seed.interaction.body[:at])
    step = Mutation(CUT, "", (at, len(seed.interaction.body) - at))
    trial = Trial(seed, MutatedInput(cut, (step,), preserving=False))
    normalizer = Normalizer("one-byte", _fails_at_one_byte, frozenset(("openai-chat",)))
    source = TurnSource(normalizer, (seed,))
    with deadlines():
        (finding,) = (it for it in source.judge(trial)[0] if it.rule == "NO-CRASH")
        needs = needs_of(finding, trial.mutators, trial.quirks)
        location = location_of(finding, trial.dialect_key)
        shrinking = Shrinking(source, SmallestInput(trial, finding, 1, needs), location, 30)
        best = shrinking.run().input
    assert best.mutators == (CUT,)
    events = best.mutated.interaction.body.count(b"data: ")
    assert events <= 2 < cut.body.count(b"data: ")


# What the specification of server-sent events says


def _events(body: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield data and name of each event, by the letter of the specification."""
    data, name = list[bytes](), ""
    for line in SPLIT_EVENTS.split(body.removeprefix(b"\xef\xbb\xbf"))[:-1]:
        field, _, value = line.partition(b":")
        if not line:
            if data:
                yield b"\n".join(data), name
            data, name = [], ""
        elif field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ").decode()


def _by_the_letter(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    body = b"".join(reads)
    events = b"".join(encode(data, event=name) for data, name in _events(body))
    return reference.normalize(interaction, iter([events]))


_UNFINISHED = "unfinished_event"
_LETTER = replace(
    reference,
    normalize=_by_the_letter,
    policies={name: it for name, it in reference.policies.items() if name != _UNFINISHED},
)


def _sse_seeds(area: str) -> list[Seed]:
    subjects = select_subjects([shipped.bundled_folder("scenarios") / area])
    found = seeds(subjects, _LETTER)
    return [it for it in found if it.interaction.body[:5] in (b"data:", b"event", b": ope")]


def test_documents_are_not_mutated() -> None:
    found = seeds(bundled_subjects(), reference)
    documents = {each.parent.id for each in found if "document" in each.parent.id}
    assert documents >= {"anthropic/document", "gemini/document"}
    assert not documents & {each.parent.id for each in varied_seeds(found)}


@pytest.mark.parametrize("area", ["framing", "openai-completions", "tgi"])
def test_client_by_the_letter_has_no_finding_on_seeds(area: str) -> None:
    for seed in _sse_seeds(area):
        trial = Trial(seed, MutatedInput(seed.interaction, (), preserving=True))
        found = [it for it in evaluate(trial, _LETTER).findings if it.level == "MUST"]
        assert found == [], seed.parent.id


@given(data=st.data())
def test_client_by_the_letter_has_no_finding_on_truncated_seeds(data: st.DataObject) -> None:
    seed = data.draw(member_of([*_sse_seeds("finish"), *_sse_seeds("anthropic")]))
    mutated = data.draw(member_of(list(truncated_inputs(seed.interaction))[::2]))
    found = evaluate(Trial(seed, mutated), _LETTER).findings
    assert [it for it in found if it.rule != "TEXT-PROMPT"] == []


def test_a_call_before_lost_arguments_is_not_invented() -> None:
    seed = next(it for it in _sse_seeds("finish") if it.parent.id == "finish/stop-too-early-call")
    body = seed.interaction.body
    end = body.index(b"\n\n", body.index(b'"arguments": ""')) + len(b"\n\ndata: {")
    truncated = replace(seed.interaction, body=body[:end], reads=())
    mutated = MutatedInput(truncated, (Mutation("cut", str(end)),), preserving=False)
    assert evaluate(Trial(seed, mutated), _LETTER).findings == ()


def test_status_is_judged_by_the_failure_alone() -> None:
    seed = _sse_seeds("finish")[0]
    failed = replace(seed.interaction, status=500)
    mutated = MutatedInput(failed, (Mutation("status-other", "500"),), preserving=False)
    expected = evaluate(Trial(seed, mutated), load_normalizer("naive")).expectation
    assert (expected.failure, expected.failure_says) == (ANY_CODE, "")
    assert expected.judged == {"failure"}
