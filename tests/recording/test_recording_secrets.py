"""No secret survives, wherever a stream splits, escapes or repeats it; nothing else changes."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import UnscrubbedError
from harness.recording.recorder import Recorder
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.secrets.detectors import KINDS
from harness.recording.secrets.known import literal_detectors
from harness.recording.secrets.scan import secrets_in, without_secrets
from harness.recording.secrets.scrubber import Scrubber
from harness.recording.secrets.views import URL_ESCAPE
from harness.wire.aws import encode_event, wrap_chunk
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request

# Kind -> spellings of it, what must be gone marked by braces.
PLANTED = {
    "key": (
        "sk-{aB3dE6gH9jK2mN5pQ8sT}",
        "sk-ant-{api03-aB3dE6gH9jK2mN5pQ8sT_-AA}",
        "gsk_{aB3dE6gH9jK2mN5pQ8sTaB3dE6}",
        "AIza{aB3dE6gH9jK2mN5pQ8sTaB3dE6gH9jK2mN5}",
        "AKIA{Q3EGSKZ7VBNM2XYW}",
        "LTAI{5tAbCdEfGhJkMn7}",
        "hf_{aBcDeFgHiJkLmNoPqRsT}",
        "ghp_{aB3dE6gH9jK2mN5pQ8sTaB3d}",
        "{7qT2mZ8vK4xN1cR9bW5yH3jL6pD0sF2gA8uE+AStQ4rX9k==}",
    ),
    "token": (
        "Bearer {aB3dE6gH9jK2mN5pQ8sT}",
        "eyJ{hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN}",
        "api_key={aB3dE6gH9jK2mN5pQ8sT}",
        "organization_id: {6f1c2d3e-1111-4222-8333-944455566677}",
    ),
    "e-mail address": ("{carol.jones+llm@corp-mail.io}", "mailto:{c@q3.cn}"),
    "home folder": (
        "/home/{carol}/notes",
        "/Users/{carol.jones}/x",
        "C:\\Users\\{Carol Jones}\\x",
        "/home/{café}/x",
    ),
    "account": (
        "org-{aB3dE6gH9jK2mN5pQ8sTaB3d}",
        "proj_{aB3dE6gH9jK2mN5pQ8sT}",
        "projects/{739154826400}/x",
        "arn:aws:iam::{739154826400}:role",
        "/subscriptions/{6f1c2d3e-1111-4222-8333-944455566677}/x",
    ),
    "password": (
        "postgresql://app:{s3cr3tWord}@db.corp.io/x",
        "Basic {Ym9iOnMzY3IzdA==}",
        "PASSWORD={s3cr3tWord}",
        "password: {s3cr3tWord9}",
        "AccountKey={aB3dE6gH9jK2mN5pQ8sT}==",
    ),
    "webhook": (
        "https://hooks.slack.com/services/{T0AB/B0CD/aB3dE6gH9jK2mN5pQ8sT}",
        "https://discord.com/api/webhooks/{118200/aB3dE6gH9jK2mN5pQ8sT}",
        "https://api.telegram.org/bot{110201543:aB3dE6gH9jK2mN5pQ8sT}/x",
        "https://chat.corp.io/hooks/{r4nd0mlettersqwzxkjvbp}",
    ),
    "one-time code": ("otp={482963}", '"verification_code": "{482963}"'),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\n{MIIEowIBAAKCAQEA7\n3kP9sQ2}\n-----END",),
}
SECRETS = [(kind, text) for kind, texts in PLANTED.items() for text in texts]

Spell = Callable[[str], str]


def _escaped(text: str) -> str:
    return '"' + "".join(f"\\u{ord(char):04x}" for char in text) + '"'


def _nested(text: str) -> str:
    return json.dumps(json.dumps(text)[1:-1])


def _mixed(text: str) -> str:
    """Escape each letter in the JSON inside the JSON, in the JSON, or not at all, in turn."""
    ways = (lambda char: f"\\\\u{ord(char):04x}", lambda char: f"\\u{ord(char):04x}", str)
    spelled = (
        ways[n % 3](char) if char.isalnum() else _nested(char)[1:-1] for n, char in enumerate(text)
    )
    return f'"{"".join(spelled)}"'


SPELLINGS: dict[str, Spell] = {
    "plain": lambda text: json.dumps(text, ensure_ascii=False),
    "ascii": json.dumps,
    "escaped": _escaped,
    "slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "nested": _nested,
    "mixed": _mixed,
    "nested twice": lambda text: json.dumps(json.dumps(json.dumps(text)[1:-1])[1:-1]),
    "nested, escaped": lambda text: json.dumps(_escaped(text)[1:-1]),
}
SHAPES: dict[str, Callable[[str], str]] = {
    "openai": 'data: {{"choices":[{{"index":0,"delta":{{"content":{}}}}}]}}\n\n'.format,
    "anthropic": (
        'event: content_block_delta\ndata: {{"type":"content_block_delta","index":1,'
        '"delta":{{"type":"input_json_delta","partial_json":{}}}}}\n\n'.format
    ),
    "ollama": '{{"message":{{"content":{}}},"done":false}}\n'.format,
}


def without_braces(planted: str) -> tuple[str, str]:
    """Return the text that is planted, and what of it must be gone."""
    before, _, rest = planted.partition("{")
    secret, _, after = rest.partition("}")
    return before + secret + after, secret


def stream(pieces: list[str], shape: str, spell: Spell) -> bytes:
    return b"".join(SHAPES[shape](spell(piece)).encode() for piece in pieces)


def said(body: bytes) -> str:
    """Return the text that a client makes of the deltas of `body`."""
    return "".join(_texts(body))


def _texts(body: bytes) -> Iterator[str]:
    for line in body.decode().split("\n"):
        found = line.removeprefix("data: ")
        if found.startswith("{"):
            yield from _leaves(json.loads(found))


def _leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and key in {"content", "partial_json"}:
                yield item
            else:
                yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def unescaped(text: str) -> str:
    """Undo what escapes `json.loads` can, as often as it can."""
    for _ in range(3):
        try:
            text = json.loads(f'"{text}"', strict=False)
        except ValueError:
            return text
    return text


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("kind", "planted"), SECRETS)
def test_a_secret_split_anywhere_is_gone(kind: str, planted: str, spelling: str) -> None:
    text, secret = without_braces(planted)
    whole = f"Here: {text} ok"
    spell = SPELLINGS[spelling]
    for cut in range(0, len(whole), {"plain": 1, "nested": 3}.get(spelling, 9)):
        body = stream([whole[:cut], whole[cut:]], "openai", spell)
        scrubbed = without_secrets(body, "here")
        assert len(scrubbed) == len(body)
        assert not secrets_in(scrubbed), kind
        shown = unescaped(said(scrubbed))
        assert secret not in shown
        start = whole.index(secret)
        region = shown[start : len(shown) - (len(whole) - start - len(secret))]
        # A code may be a number of JSON, which must stay one.
        filler = r"[\W1]" if kind == "one-time code" else r"[\W_x]"
        assert not re.sub(filler, "", region), "a letter or digit of the secret is left"
        assert shown.startswith("Here: ")
        assert shown.endswith(" ok")


@given(data=st.data())
def test_planted_secrets_cut_by_reads_never_reach_a_file(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kind, planted = data.draw(st.sampled_from(SECRETS))
    text, secret = without_braces(planted)
    whole = f"你好 \n{text}\n好"
    shape = data.draw(st.sampled_from(sorted(SHAPES)))
    spell = SPELLINGS[data.draw(st.sampled_from(sorted(SPELLINGS)))]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=6)))
    body = stream(_cut(whole, cuts), shape, spell)
    reads = sorted(data.draw(st.sets(st.integers(1, len(body) - 1), max_size=9)))
    path = tmp_path_factory.mktemp("kept") / "a.yaml"
    _record(path, _cut(body, reads), text)
    kept = load_cassette(path).interactions[0]
    assert len(kept.body) == len(body)
    assert kept.recorded_cuts() == tuple(reads)
    for part in (kept.body, kept.request.body, kept.request.uri.encode(), path.read_bytes()):
        assert not secrets_in(part), kind
    shown = unescaped(said(kept.body))
    assert secret not in shown
    assert secret not in unescaped(kept.request.body.decode())
    assert shown.startswith("你好 \n")


@pytest.mark.parametrize(("kind", "planted"), [(kind, many[-1]) for kind, many in PLANTED.items()])
def test_reads_at_every_offset_stay_true(kind: str, planted: str) -> None:
    text, secret = without_braces(planted)
    body = stream(["ab ", text[:3], text[3:]], "anthropic", json.dumps)
    scrubbed: set[bytes] = set()
    for reads in (*([cut] for cut in range(1, len(body))), [*range(1, len(body))]):
        tape = ResponseRecorder(Request())
        tape.head(200, ())
        for piece in _cut(body, reads):
            tape.add(piece)
        (kept,) = Scrubber().cleaned([tape.interaction()], "here")
        assert kept.recorded_cuts() == tuple(reads)
        scrubbed.add(kept.body)
    for each in scrubbed:  # mostly one, which is searched once
        assert not secrets_in(each), kind
        assert secret not in unescaped(said(each))


def _cut(whole: Any, cuts: list[int]) -> list[Any]:  # noqa: ANN401 - text or bytes
    return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def _record(path: Path, pieces: list[bytes], text: str) -> None:
    with Recorder(path, mode="all", allow_in_ci=True) as recorder:
        sent = json.dumps({"messages": [{"content": text}]}).encode()
        tape = recorder.record(Request("POST", "http://localhost/v1/chat/completions", (), sent))
        tape.head(200, (("content-type", "text/event-stream"),))
        for piece in pieces:
            tape.add(piece)
        tape.end("complete")


# Letters that begin escapes, and the escapes themselves, right before and after a secret.
_AROUND = st.text(st.sampled_from('nrtbfux0 \\"/\n\t@.é'), max_size=6)


@given(
    before=_AROUND,
    after=_AROUND,
    cuts=st.sets(st.integers(0, 60), max_size=4),
    planted=st.sampled_from([text for _, text in SECRETS]),
)
@example(before="\n", after="\\", cuts={1, 2}, planted="{carol.jones+llm@corp-mail.io}")
@example(before=":\t", after="\n", cuts=set(), planted="{carol.jones+llm@corp-mail.io}")
def test_escapes_around_a_secret_stay_whole(
    before: str, after: str, cuts: set[int], planted: str
) -> None:
    text, _ = without_braces(planted)
    whole = f"{before}{text}{after}"
    for spell in (SPELLINGS["ascii"], SPELLINGS["nested"]):
        body = stream(_cut(whole, sorted(cut for cut in cuts if cut < len(whole))), "openai", spell)
        scrubbed = without_secrets(body, "here")
        assert len(scrubbed) == len(body)
        assert not secrets_in(scrubbed)
        assert len(said(scrubbed)) == len(said(body))  # every frame still reads as JSON
        assert len(unescaped(said(scrubbed))) == len(unescaped(said(body)))  # and what it holds
        assert without_secrets(scrubbed, "again") == scrubbed


@given(st.binary(max_size=200))
def test_what_holds_no_secret_stays(body: bytes) -> None:
    if not secrets_in(body):
        assert without_secrets(body, "here") == body


@pytest.mark.parametrize(
    "text",
    [
        "sk-xxxxxxxxxxxxxxxxxxxx",
        "you@example.com",
        "bob@mail.example.org",
        "/home/user/x",
        "/Users/alice/x",
        "C:\\Users\\me\\x",
        "task-1234567890abcdef1234",
        "Bearer your_api_key_goes_here",
        "x@y",
        "@app.route('/home/')",
    ],
)
def test_placeholders_are_no_secrets(text: str) -> None:
    assert not secrets_in(text.encode())


def test_each_kind_is_planted() -> None:
    assert set(PLANTED) == set(KINDS)
    for kind, planted in SECRETS:
        text, _ = without_braces(planted)
        assert kind in {secret.kind for secret in secrets_in(text.encode())}, planted


def test_parallel_parts_do_not_hide_each_other() -> None:
    events = [(0, "sk-aB3dE6g"), (1, "/home/ca"), (0, "H9jK2mN5pQ8sT"), (1, "rol/x")]
    body = "".join(
        f'data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":{n},"function":{{"arguments":'
        f'"{text}"}}}}]}}}}]}}\n\n'
        for n, text in events
    ).encode()
    scrubbed = without_secrets(body, "here").decode()
    for gone in ("aB3dE6g", "H9jK2m", "carol", "/ca", "rol/"):
        assert gone not in scrubbed


def test_known_credentials_go_wherever_they_stand() -> None:
    known = tuple(literal_detectors("hunter2-is-secret"))
    body = stream(["you sent hunter2-", "is-secret!"], "openai", json.dumps)
    scrubbed = without_secrets(body, "here", known)
    assert "hunter" not in said(scrubbed)
    assert not secrets_in(scrubbed, known)
    assert secrets_in(body, known)[0].kind == "credential"


def test_addresses_spell_characters_in_their_own_way() -> None:
    uri = b"https://api.example.com/u/carol%40corp.io?next=%2Fhome%2Fcarol%2Fx"
    scrubbed = without_secrets(uri, "here", (), URL_ESCAPE)
    assert scrubbed == b"https://api.example.com/u/xxxxx%40xxxx.xx?next=%2Fhome%2Fxxxxx%2Fx"


@pytest.mark.parametrize("inside", [bytes, wrap_chunk], ids=["payload", "base64"])
def test_a_secret_in_an_encoded_message_is_refused(inside: Callable[[bytes], bytes]) -> None:
    body = encode_event(inside(b'{"text": "sk-aB3dE6gH9jK2mN5pQ8sT"}'), "chunk")
    assert secrets_in(body)
    with pytest.raises(UnscrubbedError, match="inside an encoded message"):
        without_secrets(body, "here")


def test_a_report_never_holds_the_secret() -> None:
    found = secrets_in(b"key sk-aB3dE6gH9jK2mN5pQ8sT")[0]
    assert (found.kind, found.offset) == ("key", 7)
    assert "aB3dE6g" not in repr(found)
