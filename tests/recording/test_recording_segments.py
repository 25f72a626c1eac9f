"""A body that is searched in many small segments loses no secret, and no other byte changes."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness.recording.secrets import scan, segments
from harness.recording.secrets.scan import secrets_in, without_secrets
from tests.attack.planted import TEXTS

_AROUND = ("words ", "\n", "\\", '"', "%41", "é", '"content":"', '",', '{"index": 1}\n', "\\u0041")
_IMAGE = "data:image/png;base64,"
_MOST_TIMES = 10
# Name -> what quotes a text in a body.
_TEXTS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "nested once": lambda text: json.dumps({"a": text}),
    "nested twice": lambda text: json.dumps({"a": json.dumps({"b": text})}),
    "backslashes": lambda text: "\\" * len(text),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (segments, scan):
        monkeypatch.setattr(module, "CONTEXT", 1 << 11)
    monkeypatch.setattr(segments, "SEGMENT", 1 << 10)


def _body(number: int) -> bytes:
    """Return a body with a planted secret, quoted as JSON up to three times."""
    source = random.Random(number)  # noqa: S311 - the same every time
    made = TEXTS[sorted(TEXTS)[number % len(TEXTS)]](source)
    before, after = ("".join(source.choices(_AROUND, k=source.randint(100, 1_500))) for _ in "ab")
    body = before + made.text + after
    for _ in range(source.randint(0, 3)):
        body = json.dumps({"content": body})
    return body.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("number", range(12))
def test_segments_find_what_a_search_of_the_complete_body_finds(
    number: int, request: pytest.FixtureRequest
) -> None:
    body = _body(number)
    clean = without_secrets(body, "a test")
    offsets = [secret.offset for secret in secrets_in(body)]
    request.getfixturevalue("small")
    assert without_secrets(body, "a test") == clean
    assert [secret.offset for secret in secrets_in(body)] == offsets


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("place", range(900, 1_200, 30))
def test_a_secret_on_a_boundary_is_gone(place: int) -> None:
    body = b'"a": "' + b" " * place + b"sk-aB3dE6gH9jK2mN5pQ8sT" + b" " * 9_000
    assert b"aB3d" not in without_secrets(body, "a test")


@pytest.mark.usefixtures("small")
def test_a_secret_longer_than_the_context_is_gone() -> None:
    body = b"a " * 3_000 + b"eyJhbGciOiJIUzI1NiJ9." + b"aB3dE6gH" * 1_000 + b" end"
    assert without_secrets(body, "a test") == b"a " * 3_000 + b"eyJ" + b"x" * 17 + b"." + (
        b"x" * 8_000 + b" end"
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("slash", ["/", "\\/", "\\\\/", "%2F"])
def test_the_base64_of_an_image_is_one_text_in_all_segments(slash: str) -> None:
    key = "sk-aB3dE6gH9jK2mN5pQ8sT"
    image = _IMAGE + (f"AKIA{slash}Q3EGSKZ7VBNM2XYW" + slash + key + slash) * 300
    body = f'{{"url": "{image}", "b": "{key}"}}'.encode()
    clean = without_secrets(body, "a test")
    assert clean.endswith(b'"b": "sk-xxxxxxxxxxxxxxxxxxxx"}')
    assert [each.offset for each in secrets_in(body)] == [each.offset for each in _unsplit(body)]
    if slash == "/":
        assert clean.count(key.encode()) == 300


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("run", [5_000, 5_001, 5_002, 5_003, 5_032, 5_063])
def test_a_run_of_backslashes_keeps_its_meaning_over_segments(run: int) -> None:
    body = b"\\" * run + b"u0073k-aB3dE6gH9jK2mN5pQ8sT"
    assert [each.offset for each in secrets_in(body)] == [each.offset for each in _unsplit(body)]


def _unsplit(body: bytes) -> tuple[scan.Secret, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT", 1 << 20)
        return secrets_in(body)


_MEASURED = """
import json, sys, tracemalloc
from harness.recording.secrets.scan import without_secrets
body = sys.stdin.buffer.read()
without_secrets(b"{}", "a test")
tracemalloc.start()
without_secrets(body, "a test")
print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.parametrize("shape", _TEXTS)
def test_the_memory_for_one_long_string_is_bounded(shape: str) -> None:
    text = 'the "weather" in Oslo\n' * 60_000
    body = json.dumps({"content": _TEXTS[shape](text)}).encode()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED],
        input=body,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert int(done.stdout) < _MOST_TIMES * len(body)
