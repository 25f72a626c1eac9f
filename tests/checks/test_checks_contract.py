"""The tables of the wire contract: each duty is found, and nothing else is."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from harness import shipped
from harness.dialects.table import DIALECTS
from harness.judging.contract.judge import judge_stream
from harness.judging.contract.table import (
    ENOUGH_STREAMS,
    HEADERS,
    ContractTable,
    Order,
    ValueRule,
    load_tables,
)
from harness.results.catalogue import load_catalogue
from harness.results.server_duties import load_server_duties
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction, Request
from tests.checks.deletions import as_lines, count_objects, without_member

TABLES = load_tables()
CASSETTES = shipped.bundled_folder("cassettes")
VALUES: dict[str, Any] = {
    "text": "x", "number": 0, "boolean": False, "null": None, "list": [], "object": {},
}  # fmt: skip


def interaction(dialect: str, body: bytes, content_type: str = "") -> Interaction:
    headers = (("content-type", content_type),) if content_type else ()
    return Interaction(Request("POST", "/", (), b""), 200, headers, body, (), dialect=dialect)


@cache
def bundled(dialect: str) -> tuple[Interaction, ...]:
    """Return the bundled streams of a dialect."""
    return tuple(
        as_lines(each, TABLES[dialect])
        for path in sorted(CASSETTES.rglob("*.yaml"))
        for each in load_cassette(path).interactions
        if each.dialect == dialect and each.status == 200
    )


@cache
def streams_by_member(dialect: str) -> dict[str, Interaction]:
    """Return `KIND.MEMBER` -> a bundled stream in which no object of the kind lacks it."""
    found: dict[str, Interaction] = {}
    for each in bundled(dialect):
        lacking = {it.duty for it in judge_stream(each)}
        for kind, row in TABLES[dialect].duties.items():
            for name in row:
                path = f"{kind}.{name}"
                is_wanted = path not in found and path not in lacking
                if is_wanted and count_objects(each, TABLES[dialect], kind, name):
                    found[path] = each
    return found


def synthetic(table: ContractTable, kind: str) -> bytes:
    """Return an event with an object of `kind` that has all its required members."""
    path, *types = kind.split(":")
    head = next(it for it in sorted(table.members, key=len) if is_event(it, path))
    inner: Any = members_of(table, path) | (members_of(table, kind) if types else {})
    if types:
        inner |= typed(table, types[0])
    for step in reversed(path[len(head) :].split(".")[1:]):
        name = step.removesuffix("[]")
        inner = {name: [inner] if step.endswith("[]") else inner}
    event = members_of(table, head) | inner | typed(table, head)
    return msgspec.json.encode({head: event} if table.events else event)


def is_event(kind: str, path: str) -> bool:
    return "[" not in kind and (path == kind or path.startswith((f"{kind}.", f"{kind}[")))


def typed(table: ContractTable, kind: str) -> dict[str, Any]:
    """Return the members that make an object one of `kind`."""
    if "=" in kind:
        name, _, value = kind.partition("=")
        return {name: value == "true"}
    return {} if kind == "chunk" or table.events else {table.types[-1]: kind}


def members_of(table: ContractTable, kind: str) -> dict[str, Any]:
    return {
        name: VALUES[table.members[kind][name].types[-1]] for name in table.duties.get(kind, {})
    }


def deletions(dialect: str) -> Iterator[tuple[str, str, Interaction]]:
    """Yield each duty of the table with a stream that lacks its member."""
    table = TABLES[dialect]
    for kind, row in table.duties.items():
        for name in row:
            each = streams_by_member(dialect).get(f"{kind}.{name}")
            if each is None:
                each = interaction(dialect, b"data: " + synthetic(table, kind) + b"\n\n")
                if table.events or "=" in kind.partition(".")[0]:
                    each = interaction(dialect, synthetic(table, kind) + b"\n")
            yield kind, name, without_member(each, table, kind, name, range(99999))


@pytest.mark.parametrize("dialect", sorted(TABLES))
def test_each_duty_of_a_member_is_found_if_the_member_is_deleted(dialect: str) -> None:
    table = TABLES[dialect]
    missed = []
    for kind, name, stream in deletions(dialect):
        path = f"{kind}.{name}"
        base = f"{kind.rpartition(':')[0]}.{name}"
        event = f"event.{name}"  # an event without its type has no kind
        due = {path, base, event, *(table.quirks.get(it, it) for it in (path, base))}
        if due.isdisjoint(it.duty for it in judge_stream(stream)):
            missed.append(path)
    assert missed == []


@pytest.mark.parametrize("dialect", sorted(TABLES))
def test_a_must_of_a_member_rests_on_enough_streams_or_a_client_that_was_run(dialect: str) -> None:
    table = TABLES[dialect]
    for kind, row in table.duties.items():
        for name, level in row.items():
            have, streams = table.members[kind][name].seen
            was_run = any(not it.source for it in table.failures_without(kind, name))
            assert level != "MUST" or was_run or have == streams >= ENOUGH_STREAMS, (kind, name)
            assert level == "MAY" or have == streams
    have, streams = table.headers["content-type"].seen
    was_run = any(not it.source for it in table.failures_without(HEADERS, "content-type"))
    due = table.level(HEADERS, "content-type")
    assert due != "MUST" or was_run or have == streams >= ENOUGH_STREAMS


@pytest.mark.parametrize("dialect", sorted(TABLES))
def test_each_duty_about_order_or_values_names_what_it_rests_on(dialect: str) -> None:
    table = TABLES[dialect]
    rows: tuple[Order | ValueRule, ...] = (*table.orders, *table.values)
    for each in rows:
        assert each.by or each.sources or each.clients, each
        assert {*each.by} <= table.documents.keys()


def test_each_duty_that_is_not_a_quirk_of_the_catalogue_names_a_report() -> None:
    assert [name for name, it in load_server_duties().items() if it.title and not it.sources] == []


@pytest.mark.parametrize("dialect", sorted(TABLES))
def test_a_table_names_only_what_exists(dialect: str) -> None:
    table = TABLES[dialect]
    known = {f"{kind}.{name}" for kind, row in table.members.items() for name in row}
    known |= {f"{HEADERS}.content-type", f"{HEADERS}.status"}
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    assert dialect in DIALECTS
    assert table.meaning.keys() <= known
    assert table.quirks.keys() <= known
    assert {*table.quirks.values()} <= catalogue.keys()
    assert {it for order in table.orders for it in order.same} <= catalogue.keys()
    assert {it for each in table.failures for it in each.members} <= known
    cited = {by for row in table.members.values() for it in row.values() for by in it.by}
    assert cited <= table.documents.keys()


START, STOP = "content_block_start", "content_block_stop"
CREATED = "response.created"
ORDERS = [
    ("anthropic", "blocks-overlap", "content_block_start:0 content_block_start:1"),
    ("anthropic", "blocks-overlap", "content_block_start:0 content_block_delta:1"),
    ("anthropic", "blocks-overlap", "content_block_stop:0"),
    ("anthropic", "block-index-gap", f"{START}:0 {STOP}:0 {START}:2"),
    ("anthropic", "message-lifecycle", "content_block_start:0"),
    ("anthropic", "message-lifecycle", "message_start message_start"),
    ("anthropic", "message-lifecycle", "message_start message_stop ping message_delta"),
    ("cohere", "tool-call-without-end", "tool-call-start:0 message-end"),
    ("cohere", "message-lifecycle", "message-start message-end content-start:0"),
    ("openai-responses", "output-index-gap", "response.output_item.added:1"),
    ("openai-responses", "RESP-NO-ITEM-DONE", "response.created response.output_item.done:0"),
    ("openai-responses", "response-lifecycle", f"{CREATED} response.completed {CREATED}"),
    ("google-interactions", "interaction-lifecycle", "step.start:0 interaction.completed"),
    ("google-interactions", "step-without-stop", "step.start:0 interaction.completed"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "duty", "events"), ORDERS)
def test_each_order_is_found(dialect: str, duty: str, events: str) -> None:
    table = TABLES[dialect]
    key = "output_index" if dialect == "openai-responses" else "index"
    lines = []
    for each in events.split():
        kind, _, number = each.partition(":")
        index = {key: int(number)} if number else {}
        payload = msgspec.json.encode({table.types[-1]: kind, **index})
        lines.append(b"data: %b\n\n" % payload)
    assert duty in {it.duty for it in judge_stream(interaction(dialect, b"".join(lines)))}


def test_an_end_without_a_finish_reason_is_found_in_each_api_with_one() -> None:
    deltas = (TextDelta("Hi."), Finish(FinishReason.STOP))
    for dialect, member, duty in (
        ("openai-chat", "finish_reason", "FINISH-MISSING-BEFORE-DONE"),
        ("mistral", "finish_reason", "FINISH-MISSING-BEFORE-DONE"),
        ("gemini", "finishReason", "candidate-finish-missing"),
        ("anthropic", "stop_reason", "stop-reason-missing"),
    ):
        body = DIALECTS[dialect].interaction(deltas).body
        assert duty not in {it.duty for it in judge_stream(interaction(dialect, body))}
        nulled = re.sub(rf'"{member}": ?"'.encode(), f'"{member}":null,"was":"'.encode(), body)
        assert nulled != body
        assert duty in {it.duty for it in judge_stream(interaction(dialect, nulled))}


@pytest.mark.parametrize(
    ("given", "is_found"),
    [("text/plain", True), ("text/event-stream; charset=utf-8", False), ("", False)],
)
def test_the_content_type_is_judged_if_it_was_recorded(given: str, *, is_found: bool) -> None:
    body = DIALECTS["openai-chat"].interaction((Finish(FinishReason.STOP),)).body
    found = judge_stream(interaction("openai-chat", body, given))
    assert ("content-type" in {it.duty for it in found}) == is_found


@pytest.mark.parametrize(
    ("dialect", "level", "client"),
    [
        ("cohere", "MUST", "cohere-python"),
        ("mistral", "MUST", "mistralai-node"),
        ("openai-chat", "MUST", "open-webui"),
        ("bedrock-converse", "SHOULD", ""),
        ("ollama", "MAY", ""),
    ],
)
def test_the_level_of_the_content_type_follows_from_documents_streams_and_clients(
    dialect: str, level: str, client: str
) -> None:
    stream = DIALECTS[dialect].interaction((Finish(FinishReason.STOP),))
    for headers in ((("server", "x"),), (("content-type", "text/html"),)):
        found = judge_stream(msgspec.structs.replace(stream, headers=headers))
        (finding,) = [it for it in found if it.duty == "content-type"]
        assert finding.level == level
        assert any(it.startswith(client) for it in (*finding.clients, ""))


def test_streams_of_an_earlier_version_are_not_judged_by_members() -> None:
    body = b'data: {"type":"response.created","response":{"id":"r","created_at":%d}}\n\n'
    old, new = (interaction("openai-responses", body % at) for at in (1743082657, 1760000000))
    duty = "response.created.sequence_number"
    assert duty not in {it.duty for it in judge_stream(old)}
    assert duty in {it.duty for it in judge_stream(new)}
