"""Real recordings, where they lie beside the repository: every stream is taken or counted."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.recording.importing import Imported
from harness.recording.secrets.scrubber import Scrubber
from harness.wire.cassette_file import parse_cassette
from harness.wire.cassette_text import format_cassette
from tests.recording.corpus import CORPUS, files, import_anew, imported, needs_corpus, source_of

# What the corpus calls a wire -> the dialect, where the two names differ.
DIALECTS = {
    "bedrock": "bedrock-converse",
    "other:bedrock-invoke": "bedrock-llama",
    "other:google-interactions": "google-interactions",
    "other:hf-tgi": "tgi",
    "other:openai-completions": "openai-completions",
    "other:realtime": "openai-responses",
}
# Its own providers' names, and ours.
PROVIDERS = {"alibaba-dashscope": "dashscope"}
UNTOLD = {"vllm/nim(dynamo)", "open-responses"}  # by nothing in the file

pytestmark = needs_corpus

Taken = dict[str, dict[str, tuple[str, str]]]


def expected_streams() -> Taken:
    """Return file -> place -> dialect and provider of each stream that another reader counted."""
    found: Taken = defaultdict(dict)
    for row in map(json.loads, (CORPUS / "streams.jsonl").read_text().splitlines()):
        streams = found[row["file"]]
        place = row["n"] if str(row["n"]) not in streams else len(streams)
        provider = PROVIDERS.get(row["provider"], row["provider"])
        streams[str(place)] = (DIALECTS.get(row["wire"], row["wire"]), provider)
    return found


def test_every_stream_is_taken_byte_exact_in_its_dialect() -> None:
    expected = expected_streams()
    taken: Taken = defaultdict(dict)
    for path in files():
        source = source_of(path)
        for cassette in imported(path).cassettes:
            again = parse_cassette(format_cassette(cassette).encode(), cassette.id, where=source)
            assert again == cassette
            places = cassette.origin.source.rpartition("#")[2].split(",")
            if cassette.session is not None:  # the place of its first response
                places = [str(int(places[0]) + n) for n in range(len(cassette.interactions))]
            for place in places:
                taken[source][place] = (cassette.dialect, cassette.provider)
    for source, streams in expected.items():
        for place, (dialect, provider) in streams.items():
            found = taken[source].get(place)
            assert found, (source, place)
            assert found[0] == dialect, (source, place)
            assert provider in UNTOLD or found[1] == provider, (source, place)
    more = Counter({source: len(taken[source]) - len(expected[source]) for source in taken})
    # Chunks of Gemini CLI that the other reader left out, as it had seen them before.
    assert set(+more) <= {source for source in taken if source.endswith(".responses")}


def test_no_dialect_is_guessed() -> None:
    for path in files():
        for _, found in imported(path).detected:
            assert not found.doubtful, (path, found)


def test_bodies_without_secrets_are_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def bodies(read: Callable[[Path], Imported]) -> list[bytes]:
        cassettes = (cassette for path in files() for cassette in read(path).cassettes)
        return [
            body for it in cassettes for i in it.interactions for body in (i.request.body, i.body)
        ]

    clean = bodies(imported)
    monkeypatch.setattr(Scrubber, "interaction", lambda _self, given, _known, _where: given)
    changed = [body for body, mine in zip(bodies(import_anew), clean, strict=True) if body != mine]
    assert len(changed) <= len(clean) // 500  # an e-mail address and an account of an organization
