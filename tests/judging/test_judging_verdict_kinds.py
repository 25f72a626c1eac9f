"""Kinds of faults that servers have, in each dialect that has the kind: what the judge demands.

Each row says which turns of a client are right and which are wrong, who is to blame if the turn is
of no use, and what `harness lint` reports.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from harness import shipped
from harness.checks.lint import lint_cassette
from harness.dialects.table import DIALECTS
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.reference import normalizer as reference
from harness.results.catalogue import load_catalogue
from harness.results.outcome import Blame
from harness.results.result import Result
from harness.turns.deltas import Delta, FinishReason, StreamFailure, Usage, UsageDelta
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from tests.judging.verdict_streams import (
    FIRST,
    FRAGMENTED,
    PATHS,
    SECOND,
    A,
    B,
    Call,
    Emitted,
    answer,
    changed,
    early,
    moved_fragments,
    put,
    rejected,
    turn,
    with_text,
    with_values,
    without_arguments,
    without_fragment,
)

CATALOGUE: Final = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
Turns = tuple[tuple[Emitted, ...], ...]


class Kind(msgspec.Struct, frozen=True):
    """One kind of fault.

    Fields:
        stream: returns the stream of the kind in a dialect.
        dialects: the dialects that have the kind.
        right, wrong: the calls of turns that violate no MUST rule, and of those that violate one.
        texts: the same for texts: the right one and wrong ones.
        blame: who is to blame if the turn is not a success; "" if it is one, None if this is open.
        lint: for each tuple, one of these is among the findings, at the level MUST or SHOULD.
    """

    stream: Callable[[str], Interaction]
    dialects: tuple[str, ...]
    right: Turns = ()
    wrong: Turns = ()
    texts: tuple[str, ...] = ()
    blame: Blame | None = ""
    lint: tuple[tuple[str, ...], ...] = ()


_TWICE: Final = (A, ("call_other", *A[1:]))
_LONE: Final = ("DELTA-INDEX-CHANGES",)
_SHARED: Final = (("DELTA-ID-SHARED-BY-SIBLINGS",),)
_MOVED: Final[dict[str, Any]] = {
    "right": ((A, B), (A, rejected(B))),
    "wrong": ((A, without_arguments(B)), (A,), (B,), ()),
}
_ERRORS: Final = {
    "bedrock-converse": {"message": "no such model"},
    "bedrock-llama": {"message": "no such model"},
    "cohere": {"message": "no such model"},
    "ollama": {"error": "no such model"},
    "tgi": {"error": "no such model", "error_type": "validation"},
}
_LISTS: Final = tuple(name for name, paths in PATHS.items() if paths.lists)


def _one_id(dialect: str, *calls: Call) -> Interaction:
    return with_text(answer(dialect, *calls), SECOND.id, FIRST.id)


def _empty_lists(dialect: str) -> Interaction:
    return with_values(answer(dialect), lambda value: put(value, PATHS[dialect].lists, []))


def _error(dialect: str, status: int) -> Interaction:
    error = _ERRORS.get(dialect, {"error": {"message": "no such model"}})
    return replace(answer(dialect), status=status, body=json.dumps(error).encode(), reads=())


def _untyped(dialect: str) -> Interaction:
    member = PATHS[dialect].type
    return with_values(answer(dialect, FIRST), lambda value: value.pop(member, None))


def _trimmed(dialect: str) -> Interaction:
    interaction = answer(dialect, FIRST)
    return replace(interaction, body=interaction.body.rstrip(b"\n"), reads=())


def _early_call(dialect: str) -> Interaction:
    interaction, path = answer(dialect, FIRST), PATHS[dialect].fragment
    return early(dialect, interaction, path=path, piece=FIRST.fragments[0])


def _early_text(dialect: str) -> Interaction:
    return early(dialect, answer(dialect, text=("Hel", "lo")), path="", piece="Hel")


KINDS: Final = {
    "fragments without an owner": Kind(
        lambda name: moved_fragments(name, 7, keep=0),
        tuple(name for name in FRAGMENTED if name != "openai-responses"),
        blame="provider",
        lint=(_LONE, ("NAME-EMPTY",)),
        **_MOVED,
    ),
    "the index changes within a call": Kind(
        lambda name: moved_fragments(name, 2, keep=1),
        tuple(name for name in FRAGMENTED if name != "openai-responses"),
        blame="provider",
        lint=(_LONE, ("NAME-EMPTY",)),
        **_MOVED,
    ),
    # The item id identifies the call.
    "the index changes, the item does not": Kind(
        lambda name: moved_fragments(name, 2, keep=1),
        ("openai-responses",),
        lint=(_LONE,),
        **_MOVED,
    ),
    "one id for two calls": Kind(
        lambda name: _one_id(name, FIRST, SECOND),
        tuple(PATHS),
        right=((A, B),),
        wrong=((A,), (B,), ()),
        lint=_SHARED,
    ),
    "one call twice": Kind(
        lambda name: _one_id(name, FIRST, replace(FIRST, id=SECOND.id)),
        tuple(PATHS),
        right=(_TWICE, (A,)),
        wrong=((), ((*A[:2], '{"city": "Rome"}'),)),
        lint=_SHARED,
    ),
    "an id again without arguments": Kind(
        lambda name: _one_id(name, FIRST, Call(SECOND.id, FIRST.name)),
        tuple(PATHS),
        right=((A, ("call_other", A[1], "")), (A,)),
        wrong=((), (without_arguments(A),)),
        blame=None,
        lint=_SHARED,
    ),
    "arguments never": Kind(
        lambda name: answer(name, Call(FIRST.id, FIRST.name)),
        tuple(PATHS),
        right=((without_arguments(A),),),
        wrong=((A,), ()),
        blame="provider",
        lint=(("ARGS-START-LOST",),),
    ),
    "the start of the arguments lost": Kind(
        lambda name: without_fragment(name, 0),
        FRAGMENTED,
        right=((rejected(A),),),
        wrong=((A,), (without_arguments(A),), ()),
        blame="provider",
        lint=(("ARGS-START-LOST",),),
    ),
    "the end of the arguments lost": Kind(
        lambda name: without_fragment(name, 2),
        FRAGMENTED,
        right=((rejected(A),),),
        wrong=((A,), (without_arguments(A),), ()),
        blame="model or provider",
        lint=(("ARGS-TRUNCATED-FINISH-OK",),),
    ),
    "the limit before the arguments": Kind(
        lambda name: answer(name, Call(FIRST.id, FIRST.name), finish=FinishReason.LENGTH),
        FRAGMENTED,
        right=((rejected(A),),),
        wrong=((without_arguments(A),), (A,)),
        blame="model",
    ),
    "a text that the limit cut": Kind(
        lambda name: answer(name, text=("It snows",), finish=FinishReason.LENGTH),
        # A Live session has no limit: the user interrupts it.
        tuple(name for name in DIALECTS if name != "gemini-live"),
        texts=("It snows", "It", ""),
        blame="model",
    ),
    "an empty turn": Kind(
        answer,
        tuple(DIALECTS),
        right=((),),
        wrong=((A,),),
        blame="model or provider",
        lint=(("turn-empty",),),
    ),
    "an empty list of calls": Kind(
        _empty_lists,
        _LISTS,
        right=((),),
        wrong=((A,),),
        blame="provider",
        lint=(("TOOLCALLS-EMPTY-ARRAY",), ("turn-empty",)),
    ),
    "a fragment before its call": Kind(
        _early_call,
        tuple(name for name in FRAGMENTED if name != "dashscope"),
        right=((A,),),
        wrong=((without_arguments(A),), ()),
        lint=(("DELTA-NAME-LATE", "ANT-DELTA-WITHOUT-BLOCK", "RESP-DELTA-BEFORE-ITEM"),),
    ),
    "a text before its block": Kind(
        _early_text,
        tuple(name for name, paths in PATHS.items() if paths.start),
        texts=("Hello", "lo", "Hel"),
        lint=(("ANT-DELTA-WITHOUT-BLOCK", "RESP-DELTA-BEFORE-ITEM", "content-without-end",
               "step-without-stop"),),
    ),
    "the type in the event line only": Kind(
        _untyped,
        tuple(name for name, paths in PATHS.items() if paths.type),
        right=((A,),),
        wrong=((), (B,)),
        lint=(("SSE-TYPE-IN-NAME-ONLY",),),
    ),
    "the last blank line cut": Kind(
        _trimmed,
        tuple(name for name in PATHS if name != "bedrock-converse"),
        right=((A,),),
        wrong=((), (B,)),
    ),
    "the only call dropped": Kind(
        lambda name: answer(name, FIRST), tuple(PATHS), right=((A,),), wrong=((),)
    ),
    "an error of the caller": Kind(
        lambda name: _error(name, 404), tuple(DIALECTS), wrong=((A,),), blame="request"
    ),
    "an error of the server": Kind(
        lambda name: _error(name, 503), tuple(DIALECTS), wrong=((A,),), blame="provider"
    ),
}  # fmt: skip
CELLS: Final = tuple((kind, name) for kind, row in KINDS.items() for name in row.dialects)


def _subject(interaction: Interaction) -> LoadedSubject:
    return LoadedSubject(Cassette("x/y", (interaction,), Origin("recorded"), model="m"))


def _judged(interaction: Interaction, deltas: Iterable[Delta]) -> Result:
    def normalize(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        for _ in reads:
            pass
        yield from deltas

    client = replace(reference, name="client", normalize=normalize, streams=False)
    return judge_subject(_subject(interaction), client, cuts="whole")[0]


def _broken(interaction: Interaction, deltas: Iterable[Delta]) -> list[str]:
    found = _judged(interaction, deltas).findings
    return [finding.rule for finding in found if finding.level == "MUST"]


@pytest.mark.parametrize(("kind", "dialect"), CELLS)
def test_the_judge_demands_what_the_stream_of_a_kind_means(kind: str, dialect: str) -> None:
    row = KINDS[kind]
    stream = row.stream(dialect)
    for calls in row.right:
        assert _broken(stream, turn(stream, *calls)) == [], calls
    for calls in row.wrong:
        assert _broken(stream, turn(stream, *calls)), calls
    for place, text in enumerate(row.texts):
        assert bool(_broken(stream, turn(stream, text=text))) == bool(place), text


@pytest.mark.parametrize(("kind", "dialect"), CELLS)
def test_reference_conforms_and_the_right_party_is_blamed(kind: str, dialect: str) -> None:
    row = KINDS[kind]
    result, _ = judge_subject(_subject(row.stream(dialect)), reference, cuts="quick")
    assert not result.outcome.fails, result.findings
    assert set(result.turns[0].unjudged) <= {"usage"}
    if row.blame is not None:
        assert (result.turns[0].blame, result.turns[0].success) == (row.blame, not row.blame)


@pytest.mark.parametrize(("kind", "dialect"), [it for it in CELLS if KINDS[it[0]].lint])
def test_lint_reports_the_kind(kind: str, dialect: str) -> None:
    cassette = _subject(KINDS[kind].stream(dialect)).cassette
    levels = {it.quirk: it.level for it in lint_cassette("p", cassette, CATALOGUE).findings}
    for quirks in KINDS[kind].lint:
        assert any(levels.get(quirk) in ("MUST", "SHOULD") for quirk in quirks), levels


@pytest.mark.parametrize("dialect", KINDS["the type in the event line only"].dialects)
def test_lint_reports_a_type_in_the_event_line_once(dialect: str) -> None:
    cassettes = (_subject(it).cassette for it in (answer(dialect, FIRST), _untyped(dialect)))
    before, after = (
        {it.quirk for it in lint_cassette("p", cassette, CATALOGUE).findings}
        for cassette in cassettes
    )
    assert after - before == {"SSE-TYPE-IN-NAME-ONLY"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_wrong_numbers_of_tokens_are_a_finding_in_each_dialect(dialect: str) -> None:
    stream = answer(dialect, text=("Hello",))
    right = turn(stream, text="Hello")
    wrong = [replace(it, usage=Usage(30, 41)) if isinstance(it, UsageDelta) else it for it in right]
    none = [it for it in right if not isinstance(it, UsageDelta)]
    assert _broken(stream, right) == []
    assert _broken(stream, wrong) == ["USAGE-KEPT"]
    assert [it.rule for it in _judged(stream, none).findings] == ["USAGE-KEPT"]


@pytest.mark.parametrize("dialect", KINDS["the type in the event line only"].dialects)
def test_a_client_may_fail_if_only_the_event_line_has_the_type(dialect: str) -> None:
    assert _broken(_untyped(dialect), [StreamFailure("bad_event", "an event without type")]) == []


@pytest.mark.parametrize("lost", [1, 3, 5])
def test_a_stream_that_resumes_has_no_deviation_of_order(lost: int) -> None:
    whole = answer("openai-responses", FIRST, text=("Hel", "lo"))
    stream = changed(whole, lambda frames: frames[lost:])
    found = lint_cassette("p", _subject(stream).cassette, CATALOGUE).findings
    before = lint_cassette("p", _subject(whole).cassette, CATALOGUE).findings
    assert {it.quirk for it in found} <= {it.quirk for it in before}
    assert _broken(stream, turn(stream, A, text="Hello")) == []
    assert _broken(stream, turn(stream, text="Hello"))
