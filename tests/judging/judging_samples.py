"""Shipped subjects, and small streams and normalizers, for the tests of judging."""

import json
import os
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from typing import Any, Final
from zlib import crc32

from msgspec.structs import replace

from harness.judging.judge import LoadedSubject
from harness.normalizers.protocol import Normalizer
from harness.results.kill_table import KillRow, stored_rows
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs.judge_job import judge_job
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject
from harness.runs.selection import select_subjects
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

WRITING = {
    "type": "function",
    "function": {
        "name": "writing",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}

# Judging every mutant with every scenario takes minutes; the deep profile does it.
IS_DEEP: Final = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
_SAMPLED: Final = 96


@cache
def bundled_subjects() -> tuple[Subject, ...]:
    """Return the subjects of a run without paths, found once in a process."""
    return select_subjects(())


@cache
def shipped_subjects() -> tuple[LoadedSubject, ...]:
    """Load every shipped scenario of turns with its cassette, once in a process."""
    return tuple(load_subject(each) for each in bundled_subjects() if each.of_turns)


@cache
def shipped_conversations() -> tuple[LoadedSubject, ...]:
    """Load every shipped scenario of a conversation with its cassette, once in a process."""
    return tuple(load_subject(each) for each in bundled_subjects() if each.conversation)


def reads_more_than_reference(normalizer: Normalizer, subject: LoadedSubject) -> bool:
    """What reads only some text dialects is `reference` everywhere else."""
    in_text = subject.scenario.text_dialect if subject.scenario else ""
    is_part = normalizer.name in ("tag-extract", "action-protocol")
    return not is_part or in_text in normalizer.text_dialects


@cache
def judged_whole(subject: Subject, agent: str) -> tuple[Result, AnyCase | None]:
    """Judge a cell of a conforming agent without cuts, once in a process."""
    return judge_job(Job(subject, agent), "whole")


def subjects_for_mutant(name: str, subjects: Iterable[LoadedSubject]) -> list[LoadedSubject]:
    """Return the subjects that kill a mutant first and one in 96 of the others, by id.

    The mutants have different samples. The deep profile has all subjects for each mutant, and so
    has a client without stored rows.
    """
    ordered = sorted(subjects, key=lambda each: each.id)
    first = {row.scenario for row in stored_rows() if row.mutant == name}
    if IS_DEEP or not first:
        return ordered
    start = crc32(name.encode()) % _SAMPLED
    return [
        each for place, each in enumerate(ordered) if place % _SAMPLED == start or each.id in first
    ]


def assert_rows_are_stored(name: str, found: Iterable[KillRow], rules: Container[str]) -> None:
    """Check the rows of a mutant, from all subjects or its sample, against the kept kill table.

    A sample has the first scenario of each row and not all the others that kill.
    """
    kept = [row for row in stored_rows() if row.mutant == name and row.rule in rules]
    rows = [
        replace(row, scenarios=stored.scenarios)
        if not IS_DEEP and row.scenarios <= stored.scenarios
        else row
        for row, stored in zip(found, kept, strict=True)
    ]
    told = "the kept table is stale; write it again: harness doctor --write-kill-table"
    assert rows == kept, told


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None) -> bytes:
    """Return one chunk as a server-sent event."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    payload = {"id": "r", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def call(arguments: str | None, *, index: int | None = 0, **other: Any) -> bytes:  # noqa: ANN401 - any JSON
    """Return a chunk with one entry of `tool_calls`; other keys are its id and name."""
    function = {key: other.pop(key) for key in ("name",) if key in other}
    if arguments is not None:
        function["arguments"] = arguments
    return chunk({"tool_calls": [{"index": index, **other, "function": function}]})


DONE = b"data: [DONE]\n\n"
HELLO = chunk({"content": "Hel"}) + chunk({"content": "lo"}) + chunk(None, "stop") + DONE


def an_interaction(
    body: bytes = HELLO, *, status: int = 200, tools: Iterable[Any] | None = (WRITING,)
) -> Interaction:
    """Return `body` in reads of ten bytes; without `tools` the request was not kept."""
    asked = {"model": "m", "stream": True, "tools": list(tools)} if tools is not None else None
    request = Request("POST", "", (), json.dumps(asked).encode() if asked else b"")
    sizes = [len(body[at : at + 10]) for at in range(0, len(body), 10)]
    return Interaction(request, status, (), body, tuple(Read(size) for size in sizes))


def a_cassette(*interactions: Interaction) -> Cassette:
    return Cassette("x/y", interactions or (an_interaction(),), Origin("recorded"), model="m")


Pieces = Callable[[Iterable[bytes]], Iterator[Delta]]


def a_normalizer(normalize: Pieces, **declared: Any) -> Normalizer:  # noqa: ANN401 - its fields
    """Return a normalizer that only looks at the reads."""
    return Normalizer("sample", lambda _interaction, reads: normalize(reads), **declared)


def hello(reads: Iterable[bytes]) -> Iterator[Delta]:
    """Say what `HELLO` says, whatever the bytes are, after the last of them."""
    for _ in reads:
        pass
    yield TextDelta("Hello")
    yield Finish(FinishReason.STOP, "stop")
