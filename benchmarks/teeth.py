"""How many faults the suite catches: wrong turns in recordings, or wrong code in what ships.

    python -m benchmarks.teeth --turns [--sample N] [--seed S] [--json]
    python -m benchmarks.teeth --code [--sample N] [--seed S] [--json]

`--code` is described in `code_teeth.py`; `--only TEXT` selects faults, `--write` keeps the result,
and `-j N` sets the number of processes. `--turns` looks at recordings that have no scenario.

Each stream of the corpus is normalized by `reference`. Each mutation then damages its turn in one
place, if it can, and the damaged turn is judged exactly as the turn of a user's normalizer would
be. A mutant is caught if it causes a finding that the undamaged turn does not cause. For the
others, and for each field of a turn that is not judged, the reasons of the oracle are counted.
The corpus is the folder HARNESS_CORPUS, or ../shared/corpus next to the repository.
"""

import argparse
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import code_teeth
from benchmarks.turn_mutations import MUTATIONS, Part, Response, deltas_of, parts_of
from harness.dialects.table import tool_names
from harness.errors import StreamError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.recording.identify import identify
from harness.recording.importing import Labels, import_file, only_answers
from harness.results.expectation import COUNTED_FIELDS, Field
from harness.results.finding import Finding
from harness.results.result import Result
from harness.turns.deltas import ArgumentsDelta, Delta
from harness.turns.fold import fold
from harness.wire.aws import AWS_FIRST_BYTE
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

CORPUS = Path(
    os.environ.get("HARNESS_CORPUS") or Path(__file__).parents[1] / ".." / "shared/corpus"
)
# The field of the turn that a mutation damages; the others damage the calls.
_DAMAGED_FIELD: Final[dict[str, Field]] = {
    "text-dropped": "text",
    "text-repeated": "text",
    "reasoning-dropped": "reasoning",
    "finish-changed": "finish",
    "usage-changed": "usage",
    "usage-dropped": "usage",
}
# Emits the fragments of arguments at the end; only replays with several reads show it.
_HELD: Final = "arguments-held"
_NO_RULE: Final = "judged, but without a finding"
_NAMES: Final = (*MUTATIONS, _HELD)
# Fewer characters or fragments come at once.
_FEWEST: Final = 64
_FEW: Final = 3


class Stream(msgspec.Struct, frozen=True):
    """One recorded response, as a cassette with only this interaction."""

    source: str
    cassette: Cassette

    @property
    def interaction(self) -> Interaction:
        """The request and its response."""
        return self.cassette.interactions[0]


class Mutant(msgspec.Struct, frozen=True):
    """One damaged turn that was judged.

    Fields:
        must: whether a finding of level MUST caught it, so that its cell fails; a SHOULD finding
            is shown in a cell that passes.
        reason: why it was not caught; "" if it was.
    """

    source: str
    dialect: str
    framing: str
    mutation: str
    caught: bool
    must: bool
    reason: str = ""


class JudgedStream(msgspec.Struct, frozen=True):
    """One stream, its mutants, and why fields of its turn are not judged.

    Fields:
        unjudged: for each field that is not judged, the reason.
        broken: ids of the MUST rules that the undamaged turn violates.
    """

    source: str
    dialect: str
    mutants: tuple[Mutant, ...]
    unjudged: dict[Field, str]
    broken: tuple[str, ...]


# The streams


def corpus_streams(corpus: Path) -> Iterator[Stream]:
    """Yield each stream below `corpus` that the suite imports, always in the same order."""
    for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
        source = path.relative_to(corpus).as_posix()
        for cassette in import_file(path, path.read_bytes(), source, Labels()).cassettes:
            yield from streams_of(identify(only_answers(cassette)), cassette.origin.source)


def streams_of(cassette: Cassette, source: str) -> Iterator[Stream]:
    """Yield each interaction of `cassette` alone."""
    for index, interaction in enumerate(cassette.interactions):
        alone = msgspec.structs.replace(cassette, interactions=(interaction,))
        yield Stream(f"{source}/{index}" if index else source, alone)


# One stream


def judge_stream(stream: Stream, seed: int) -> JudgedStream:
    """Judge the turn of `reference` and each mutant of it."""
    interaction, subject = stream.interaction, LoadedSubject(stream.cassette)
    response = _response(interaction)
    original = fold(deltas_of(response.parts))
    control = _judged(subject, response.parts)
    known = {_key(finding) for finding in control.findings}
    unjudged = control.turns[0].unjudged
    mutants = []
    for name, mutate in MUTATIONS.items():
        parts = mutate(response, random.Random(f"{seed}/{stream.source}/{name}"))  # noqa: S311 - a draw that can be repeated
        if parts is None or fold(deltas_of(parts)) == original:
            continue
        found = [it for it in _judged(subject, parts).findings if _key(it) not in known]
        reason = "" if found else unjudged.get(_DAMAGED_FIELD.get(name, "calls"), _NO_RULE)
        mutants.append(_mutant(stream, name, found, reason))
    mutants += _held_back(stream, subject, unjudged.get("calls", _NO_RULE))
    broken = sorted({finding.rule for finding in control.findings if finding.level == "MUST"})
    return JudgedStream(stream.source, interaction.dialect, tuple(mutants), unjudged, tuple(broken))


def _mutant(stream: Stream, name: str, found: list[Finding], reason: str) -> Mutant:
    must = any(finding.level == "MUST" for finding in found)
    dialect, framing = stream.interaction.dialect, framing_of(stream.interaction.body)
    return Mutant(stream.source, dialect, framing, name, bool(found), must, reason)


def framing_of(body: bytes) -> str:
    """Return the framing of a body: `aws`, `json` (lines, a list or one document) or `sse`."""
    start = body.lstrip()[:1]
    return {AWS_FIRST_BYTE: "aws", b"{": "json", b"[": "json"}.get(start, "sse")


def _held_back(stream: Stream, subject: LoadedSubject, reason: str) -> Iterator[Mutant]:
    """Judge the mutant that holds arguments back, if several events of the stream have some."""
    interaction = stream.interaction
    deltas = reference.normalize(interaction.without_body(), iter([interaction.body]))
    fragments = [delta for delta in deltas if isinstance(delta, ArgumentsDelta)]
    if sum(len(delta.fragment) for delta in fragments) < _FEWEST or len(fragments) <= _FEW:
        return
    found = judge_subject(subject, MUTANTS[_HELD], cuts="quick")[0].findings
    late = [finding for finding in found if finding.rule == "ARGUMENTS-PROMPT"]
    yield _mutant(stream, _HELD, late, "" if late else reason)


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding.rule, finding.path, finding.expected, finding.actual


def _response(interaction: Interaction) -> Response:
    body = interaction.body
    tools = tool_names(interaction)
    return Response(
        parts_of(reference.normalize(interaction.without_body(), iter([body]))),
        tuple(sorted(tools)),
        _events_text(body),
    )


def _events_text(body: bytes) -> str:
    try:
        return "\n".join(frame.data.decode("utf-8", "replace") for frame in iter_frames([body]))
    except StreamError:
        return body.decode("utf-8", "replace")


def _judged(subject: LoadedSubject, parts: Iterable[Part]) -> Result:
    """Judge a normalizer that emits `parts` once the body has ended."""
    deltas = tuple(deltas_of(parts))

    def normalize(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        for _ in reads:
            pass
        yield from deltas

    replayed: Normalizer = msgspec.structs.replace(
        reference, name="mutated-turn", normalize=normalize, streams=False
    )
    return judge_subject(subject, replayed, cuts="whole")[0]


# The figures


def measure(streams: Iterable[JudgedStream], seed: int) -> dict[str, Any]:
    """Return all figures as one object."""
    judged = list(streams)
    mutants = [mutant for stream in judged for mutant in stream.mutants]
    survivors = [mutant for mutant in mutants if not mutant.caught]
    return {
        "seed": seed,
        "streams": len(judged),
        **_counts(mutants),
        "by_mutation": {
            name: _counts(it for it in mutants if it.mutation == name) for name in _NAMES
        },
        "calls_dropped_by_framing": {
            framing: _counts(
                it for it in mutants if it.mutation == "calls-dropped" and it.framing == framing
            )
            for framing in sorted({it.framing for it in mutants})
        },
        "by_dialect": {
            name: _counts(it for it in mutants if it.dialect == name)
            for name in sorted({stream.dialect for stream in judged})
        },
        "by_mutation_and_dialect": _table(mutants),
        "judged": dict(_shares(judged)),
        "unjudged": {field: list(_unjudged(judged, field)) for field in COUNTED_FIELDS},
        "survivors": [
            {name: getattr(it, name) for name in ("source", "dialect", "mutation", "reason")}
            for it in survivors
        ],
        "broken": {stream.source: stream.broken for stream in judged if stream.broken},
    }


def _counts(mutants: Iterable[Mutant]) -> dict[str, int]:
    found = list(mutants)
    caught = sum(mutant.caught for mutant in found)
    must = sum(mutant.must for mutant in found)
    return {
        "mutants": len(found),
        "caught": caught,
        "survived": len(found) - caught,
        "caught_by_should": caught - must,
    }


def _table(mutants: Iterable[Mutant]) -> dict[str, dict[str, dict[str, int]]]:
    found: defaultdict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        found[mutant.mutation, mutant.dialect].append(mutant)
    table: dict[str, dict[str, dict[str, int]]] = {name: {} for name in _NAMES}
    for (mutation, dialect), cell in sorted(found.items()):
        table[mutation][dialect] = _counts(cell)
    return table


def _shares(streams: list[JudgedStream]) -> Iterator[tuple[str, dict[str, float]]]:
    together: list[tuple[Field, ...]] = [*((field,) for field in COUNTED_FIELDS), ("calls", "text")]
    for fields in together:
        count = sum(stream.unjudged.keys().isdisjoint(fields) for stream in streams)
        share = count / len(streams) if streams else 1.0
        yield " and ".join(fields), {"turns": count, "share": share}


def _unjudged(streams: list[JudgedStream], field: Field) -> Iterator[dict[str, Any]]:
    """Yield each reason, most frequent first, with its dialects and a turn as an example."""
    found: defaultdict[str, list[JudgedStream]] = defaultdict(list)
    for stream in streams:
        if field in stream.unjudged:
            found[stream.unjudged[field]].append(stream)
    for reason, turns in sorted(found.items(), key=lambda it: -len(it[1])):
        yield {
            "reason": reason,
            "turns": len(turns),
            "dialects": dict(Counter(turn.dialect for turn in turns).most_common()),
            "example": turns[0].source,
        }


# The command


def as_text(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the tables of mutants, of judged turns and of reasons."""
    yield f"{measured['streams']} streams, seed {measured['seed']}"
    yield f"{'':<24}{'mutants':>9}{'caught':>9}{'survived':>10}{'share':>9}{'by SHOULD':>11}"
    for title in ("by_mutation", "calls_dropped_by_framing", "by_dialect"):
        yield from (_row(name, counts) for name, counts in measured[title].items())
        yield ""
    yield _row("all", measured)
    yield ""
    yield from (
        f"{field:<24}{row['turns']:>9}{row['share']:>9.2%}"
        for field, row in measured["judged"].items()
    )
    for field, rows in measured["unjudged"].items():
        yield f"\n{field} not judged: turns, reason, example"
        yield from (f"{row['turns']:>6}  {row['reason']}  {row['example']}" for row in rows)
    for source, rules in measured["broken"].items():
        yield f"\nreference does not conform: {source}: {', '.join(rules)}"


def _row(name: str, counts: Mapping[str, int]) -> str:
    mutants, caught = counts["mutants"], counts["caught"]
    share = f"{caught / mutants:.2%}" if mutants else "-"
    by_should = counts["caught_by_should"]
    return f"{name:<24}{mutants:>9}{caught:>9}{counts['survived']:>10}{share:>9}{by_should:>11}"


def drawn(streams: list[Stream], count: int | None, seed: int) -> list[Stream]:
    """Return `count` of the streams, drawn with `seed`; all if it is None or there are fewer."""
    if count is None or count >= len(streams):
        return streams
    chosen = random.Random(seed).sample(range(len(streams)), count)  # noqa: S311 - as above
    return [streams[index] for index in sorted(chosen)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--turns", action="store_true", help="mutate turns")
    kind.add_argument("--code", action="store_true", help="mutate what ships")
    parser.add_argument("--sample", type=int, metavar="N", help="streams or faults; without, all")
    parser.add_argument("--seed", type=int, default=0, help="of all draws")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count(), help="processes of --code"
    )
    parser.add_argument(
        "--examples", type=int, default=2_000, help="generated inputs, per normalizer"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="TEXT",
        help="parts of the names of faults",
    )
    parser.add_argument(
        "--paths", nargs="+", type=Path, default=(), help="ask the cells of these scenarios only"
    )
    parser.add_argument("--write", action="store_true", help="keep the result of --code")
    options = parser.parse_args()
    if options.code:
        faults = code_teeth.measure(
            code_teeth.Options(
                options.sample,
                options.seed,
                options.jobs,
                options.examples,
                tuple(options.only),
                tuple(options.paths),
            )
        )
        if options.write:
            code_teeth.KEPT.write_text(json.dumps(faults, indent=1) + "\n", encoding="utf-8")
        print(
            json.dumps(faults, indent=2) if options.json else "\n".join(code_teeth.as_text(faults))
        )
        return
    if not (CORPUS / "streams.jsonl").is_file():
        sys.exit(
            f"no corpus of real streams in {CORPUS.resolve()}\nSet HARNESS_CORPUS to its folder."
        )
    streams = drawn(list(corpus_streams(CORPUS)), options.sample, options.seed)
    measured = measure(map(partial(judge_stream, seed=options.seed), streams), options.seed)
    print(json.dumps(measured, indent=2) if options.json else "\n".join(as_text(measured)))


if __name__ == "__main__":
    main()
