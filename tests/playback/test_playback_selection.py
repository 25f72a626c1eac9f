"""Each recording has its own base URL; options in the path change how it is delivered."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.errors import UsageError
from harness.playback.delivery import CUTS, OPTIONS, Delivery
from harness.playback.selection import Recording, SelectionServer
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request
from tests.playback.playback_samples import interaction, interactions, reads_of
from tests.tables import each_row

CHAT = "/v1/chat/completions"
IDS = ("a/first", "a/first/second", "cassette:é/b c", "gemini/one", "talk")


def answer(
    text: str, dialect: str = "openai-chat", uri: str = "", sent: object = ()
) -> Interaction:
    """Return an answer of one text, to a request for `uri`."""
    row = DIALECTS[dialect]
    deltas = (TextDelta(text), Finish(FinishReason.STOP, "stop"))
    request = Request("POST", uri or f"https://a.example{CHAT}", (), msgspec.json.encode(sent))
    return row.interaction(deltas, request=request)


def history(replies: int) -> dict[str, Any]:
    """Return the body of a request with as many turns of the model."""
    messages = [{"role": "user", "content": "Hi"}]
    for number in range(replies):
        messages += [
            {"role": "assistant", "content": f"{number}"},
            {"role": "user", "content": "On"},
        ]
    return {"model": "m", "messages": messages}


def recording(name: str, *answers: Interaction) -> Recording:
    return Recording(name, Cassette(name, answers, Origin("emulated", by="tests")))


def selection(**options: Any) -> SelectionServer:  # noqa: ANN401 - as the server takes them
    """Return a server of the recordings `IDS`."""
    gemini = "https://g.example/v1beta/models/g:streamGenerateContent"
    talk = [answer(f"talk {turn}", sent=history(turn)) for turn in range(3)]
    return SelectionServer(
        (
            *(recording(name, answer(name)) for name in IDS[:3]),
            recording(IDS[3], answer(IDS[3], "gemini", gemini)),
            recording(IDS[4], *talk),
        ),
        **options,
    )


def post(server: SelectionServer, path: str, body: object = ()) -> httpx.Response:
    return httpx.post(server.base_url + path, json=body or {}, trust_env=False, timeout=30)


def get(server: SelectionServer, path: str) -> httpx.Response:
    return httpx.get(server.base_url + path, trust_env=False, timeout=30)


def error(response: httpx.Response) -> Any:  # noqa: ANN401 - any JSON
    return response.json()["error"]


@each_row("name", IDS[:3])
@each_row("rest", ["", CHAT, "/chat/completions", "/openai/deployments/m" + CHAT])
def test_the_longest_id_in_a_path_answers_every_time(name: str, rest: str) -> None:
    with selection() as server:
        for _ in range(2):
            assert post(server, f"/{quote(name)}{rest}").content == answer(name).body


@each_row("name", IDS[:3])
def test_an_id_is_a_model_name_too_with_options_or_without(name: str) -> None:
    with selection() as server:
        for model in (name, f"cuts=whole/{name}"):
            assert post(server, CHAT, {"model": model}).content == answer(name).body


def test_an_id_that_looks_like_an_option_is_an_id() -> None:
    with SelectionServer([recording("delay=x/a", answer("a"))]) as server:
        for path, model in (("/delay=x/a", "m"), ("/delay=1/delay=x/a", "m"), (CHAT, "delay=x/a")):
            assert post(server, path, {"model": model}).content == answer("a").body


def test_options_in_the_path_hold_for_a_model_too() -> None:
    with selection() as server:
        for path, model in (
            (f"/fault=truncate@3{CHAT}", "a/first"),
            (f"/cuts=whole{CHAT}", "fault=truncate@3/a/first"),
        ):
            with pytest.raises(httpx.RemoteProtocolError):
                post(server, path, {"model": model})
        assert post(server, f"/turn=2{CHAT}", {"model": "talk"}).text.count("talk 1")


@pytest.mark.parametrize("model", ["gemini/one", "gemini%2Fone"])
def test_a_model_in_the_path_is_found_too(model: str) -> None:
    with selection() as server:
        found = post(server, f"/v1beta/models/{model}:streamGenerateContent?alt=sse")
    assert found.status_code == 200
    assert b"gemini/one" in found.content


@pytest.mark.parametrize("replies", [0, 1, 2])
def test_the_turns_in_a_request_choose_the_interaction(replies: int) -> None:
    with selection() as server:
        assert f"talk {replies}" in post(server, f"/talk{CHAT}", history(replies)).text
        assert f"talk {replies}" in post(server, f"/turn={replies + 1}/talk{CHAT}").text


def test_a_turn_too_many_is_surplus() -> None:
    with selection() as server:
        surplus = post(server, f"/talk{CHAT}", history(3))
        assert (surplus.status_code, error(surplus)["code"]) == (410, "no_interaction_left")
        assert "contain 0, 1, 2" in error(surplus)["message"]
        assert post(server, "/turn=4/talk").status_code == 404


def test_an_unknown_id_gets_the_nearest_ones_and_the_index() -> None:
    with selection() as server:
        for refused in (
            post(server, f"/a/frist{CHAT}", {"model": "gpt-x"}),
            post(server, CHAT, {"model": "a/frist"}),
        ):
            assert refused.status_code == 404
            found = error(refused)
            assert found["code"] == "unknown_id"
            assert "'a/first'" in found["message"]
            assert found["nearest"][0]["base_url"] == f"{server.base_url}/a/first"
            assert get(server, "/index.json").json()["base_url"] in found["index"]
        assert error(post(server, "/zzzzzzzz"))["nearest"] == []


@pytest.mark.parametrize(
    "path", ["/a/first/v1/messages", "/a/first/v1/embeddings", "/gemini/one" + CHAT]
)
def test_a_request_to_another_api_is_refused(path: str) -> None:
    with selection() as server:
        refused = post(server, path)
    assert (refused.status_code, error(refused)["code"]) == (404, "wrong_endpoint")


@each_row(
    "option", ["cuts=often", "cuts=", "delay=-1", "delay=60001", "fault=fire", "fault=reset@x",
               "turn=0", "speed=9"],
)  # fmt: skip
def test_an_invalid_option_is_refused_with_what_is_expected(option: str) -> None:
    with selection() as server:
        refused = post(server, f"/{option}/a/first")
    assert refused.status_code == 400
    assert error(refused)["message"]


def test_the_index_lists_every_recording_and_its_base_url_answers() -> None:
    with selection() as server:
        for path in ("/", "/index.json"):
            index = get(server, path).json()
            assert [row["id"] for row in index["recordings"]] == list(IDS)
        assert tuple(index["options"]) == OPTIONS
        for row in index["recordings"]:
            assert get(server, row["path"]).json() == row
            played = httpx.post(row["base_url"] + row["endpoint"], json={}, trust_env=False)
            assert played.status_code == 200
            assert row["dialect"] == ("gemini" if row["id"] == "gemini/one" else "openai-chat")
        assert (server.played, server.refused) == (len(IDS), 0)


def test_a_large_index_is_whole_and_made_once() -> None:
    made = []

    def describe() -> dict[str, Any]:
        made.append(1)
        return {"title": "x" * 100_000}

    cassette = Cassette("a", (answer("a"),), Origin("emulated"))
    rows = [Recording(f"a{number}", cassette, describe) for number in range(9)]
    with SelectionServer(rows) as server, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: get(server, "/").json(), range(16)))
    assert len(found[0]["recordings"]) == 9
    assert all(each == found[0] for each in found)
    assert len(made) == 9


def test_clients_that_list_the_models_first_find_the_ids() -> None:
    with selection() as server:
        everything = get(server, "/v1/models").json()
        assert [each["id"] for each in everything["data"]] == list(IDS)
        assert [each["name"] for each in get(server, "/api/tags").json()["models"]] == list(IDS)
        below = get(server, "/a/first/v1/models").json()
        assert [each["id"] for each in below["data"]] == ["a/first"]
        assert get(server, "/v1/models/a/first").json()["id"] == "a/first"
        assert get(server, "/v1/models/none").status_code == 404


@given(
    interactions(),
    st.sampled_from(list(CUTS)) | st.lists(st.integers(0, 90), min_size=1, max_size=5),
    st.sampled_from(["reset", "stall", "truncate"]),
    st.integers(0, 90),
)
def test_a_fault_keeps_the_bytes_before_it_and_breaks_off(
    played: Interaction, cuts: str | list[int], kind: str, offset: int
) -> None:
    chunking = cuts if isinstance(cuts, str) else ",".join(map(str, cuts))
    delivery = Delivery().with_option("cuts", chunking)
    whole = list(delivery.reads(played))
    assert b"".join(whole) == played.body
    assert all(whole)
    waits: list[float] = []
    broken, reads = delivery.with_option("fault", f"{kind}@{offset}").deliver(
        played, iter(whole), waits.append
    )
    found = list(reads)
    assert b"".join(found) == played.body[:offset]
    assert found[:-1] == whole[: len(found[:-1])]
    assert broken.ended == ("reset" if kind == "reset" else "truncated")
    assert waits == ([60] if kind == "stall" else [])


@given(interactions(), st.integers(0, 60_000))
def test_a_delay_precedes_each_read(played: Interaction, delay: int) -> None:
    waits: list[float] = []
    _, reads = (
        Delivery()
        .with_option("delay", str(delay))
        .deliver(played, iter(reads_of(played)), waits.append)
    )
    assert list(reads) == reads_of(played)
    assert waits == ([delay / 1_000] * len(reads_of(played)) if delay else [])


@each_row("name", OPTIONS)
def test_a_value_of_an_option_is_checked(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        Delivery().with_option(name, "\x1b")


@pytest.mark.parametrize(("fault", "raised"), [("reset", OSError), ("truncate", IncompleteRead)])
def test_a_client_sees_the_fault_as_one_of_the_network(fault: str, raised: type[Exception]) -> None:
    body = answer("a/first").body
    with selection() as server:
        address = server.base_url.removeprefix("http://")
        with closing(HTTPConnection(address, timeout=30)) as connection:
            connection.request("POST", f"/fault={fault}@50/a/first", b"{}")
            response = connection.getresponse()
            assert response.read(50) == body[:50]
            with pytest.raises(raised):
                response.read()


def test_a_stall_lasts_until_the_server_stops() -> None:
    with selection() as server:
        address = server.base_url.removeprefix("http://")
        connection = HTTPConnection(address, timeout=0.3)
        connection.request("POST", "/fault=stall@50/a/first", b"{}")
        response = connection.getresponse()
        assert len(response.read(50)) == 50
        with closing(connection), pytest.raises(TimeoutError):
            response.read(1)


def test_clients_at_once_get_their_own_stream_over_kept_connections() -> None:
    names = [f"s{number}" for number in range(12)]
    texts = {name: answer(f"{name} " * 200) for name in names}
    threads = threading.active_count()
    with SelectionServer(recording(*each) for each in texts.items()) as server:

        def read(name: str) -> bool:
            with httpx.Client(base_url=server.base_url, trust_env=False, timeout=30) as client:
                got = [client.post(f"/cuts=each-byte/{name}{CHAT}", json={}) for _ in range(3)]
                return all(each.content == texts[name].body for each in got)

        with ThreadPoolExecutor(12) as pool:
            assert all(pool.map(read, names * 2))
    assert threading.active_count() == threads


SERVER = selection()


@given(st.binary(max_size=60), st.text(max_size=40))
def test_no_path_and_no_body_breaks_the_server(body: bytes, path: str) -> None:
    request = Request("POST", f"http://127.0.0.1/{quote(path)}", (), body)
    found, reads = SERVER._answer(request, lambda _: None)
    document = json.loads(b"".join(reads))
    assert found.status in (400, 404)
    assert document["error"]["message"]


def test_a_history_too_large_to_count_is_refused() -> None:
    with selection() as server:
        body = b" " * (2 * 1024 * 1024 + 1)
        refused = httpx.post(f"{server.base_url}/talk", content=body, trust_env=False, timeout=30)
        assert (refused.status_code, error(refused)["code"]) == (413, "request_too_large")


def test_the_delivery_of_the_server_is_that_of_urls_without_options() -> None:
    body = interaction(b"data: 1\n\ndata: 2\n\n")
    with SelectionServer(
        [recording("a", body)], Delivery().with_option("fault", "truncate@3")
    ) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            post(server, "/a")
        with pytest.raises(httpx.RemoteProtocolError):
            post(server, "/cuts=whole/a")
