"""`harness import`: every file is accounted for, and nothing is written outside the folder."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli.import_ import import_command
from harness.conversation.history.jsonl import (
    ConversationLabels,
    LoggedConversation,
    decode,
    encode,
)
from harness.errors import UsageError
from harness.files import load
from harness.results.conversation import Conversation
from harness.wire.cassette_file import load_cassette

CHUNK = '{"id":"1","object":"chat.completion.chunk","model":"a/b:free","choices":[]}'
STREAM = f"data: {CHUNK}\n\ndata: [DONE]\n\n"


def run(*args: object) -> Result:
    return CliRunner().invoke(import_command, [str(arg) for arg in args])


def told(*args: object) -> dict[str, Any]:
    result = run(*args, "--format", "json")
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    for name in ("deepseek/a.sse", "deepseek/A.SSE.txt", "groq/a.chunks.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STREAM if "chunks" not in name else f"{CHUNK}\n{CHUNK}\n")
    (folder / "other.sse").write_text('data: {"hello": 1}\n\n')
    (folder / "README.md").write_text("hello")
    (folder / "bad.yaml").write_text("interactions: [")
    (folder / ".hidden.sse").write_text(STREAM)
    return folder


def test_a_folder_becomes_cassettes(recordings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(recordings, "-o", out, "--licence", "MIT")
    assert result.exit_code == 2  # of bad.yaml, which costs no other file
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.yaml"))
    assert found == [
        "deepseek/a-b-free/deepseek/A.SSE.txt.yaml",
        "deepseek/a-b-free/deepseek/a.sse.yaml",
        "groq/a-b-free/groq/a.chunks.txt.yaml",
    ]
    cassette = load_cassette(out / found[1], out)
    assert (cassette.provider, cassette.model) == ("deepseek", "a/b:free")
    assert (cassette.origin.source, cassette.origin.licence) == ("deepseek/a.sse#0", "MIT")
    assert "3 cassettes with 3 streams" in result.stdout
    assert "       3  openai-chat (3 likely)" in result.stdout
    assert "       1  no recognized dialect" in result.stdout
    assert "  README.md: not a recording in a supported format" in result.stdout
    assert "  bad.yaml: YAML syntax error" in result.stdout
    assert result.stdout.splitlines()[-1] == f"judge them: harness run {out}"
    assert result.stderr == ""


def test_import_says_which_labels_are_unknown(recordings: Path, tmp_path: Path) -> None:
    (recordings / "bad.yaml").unlink()
    (recordings / "deepseek").rename(recordings / "local")
    out = tmp_path / "out"
    unknown = "the provider of 2 cassettes is unknown. Import again with --provider to name it."
    assert unknown in run(recordings, "-o", out).stdout
    assert told(recordings, "-o", out)["unlabelled"] == {"provider": 2}
    assert "unknown" not in run(recordings, "-o", out, "--provider", "acme").stdout


def test_the_same_files_give_the_same_bytes(recordings: Path, tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        run(recordings, "-o", tmp_path / "out")
        texts.append({path: path.read_bytes() for path in (tmp_path / "out").rglob("*.yaml")})
    assert texts[0] == texts[1]


def test_import_json_has_the_same_counts(recordings: Path, tmp_path: Path) -> None:
    answer = told(recordings, "-o", tmp_path / "out")
    assert (answer["cassettes"], answer["streams"]) == (3, 3)
    assert answer["containers"] == {"chunk-list": 1, "raw-sse": 2}
    assert answer["dialects"] == {"openai-chat": {"likely": 3}}
    assert (answer["doubtful"], answer["skipped"]) == ([], {"no recognized dialect": 1})
    assert [item["file"] for item in answer["unusable"]] == ["README.md", "bad.yaml"]


def test_the_output_is_not_imported_again(recordings: Path) -> None:
    inside = recordings / "imported"
    assert told(recordings, "-o", inside) == told(recordings, "-o", inside)


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "..", "", "a\x1b[31m/b", "中" * 300])
def test_import_writes_only_below_the_output_folder(
    recordings: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "deep" / "out"
    (recordings / "bad.yaml").unlink()
    result = run(recordings, "-o", out, "--model", name, "--provider", name)
    assert result.exit_code == 0
    assert not [path for path in tmp_path.rglob("*evil*") if out not in path.parents]
    assert len(list(out.rglob("*.yaml"))) == 3


def test_import_lists_streams_with_a_doubtful_dialect(tmp_path: Path) -> None:
    (tmp_path / "error.sse").write_text('data: {"error": {"message": "no"}}\n\n')
    out = tmp_path / "out"
    why = "the first events (error)"
    assert told(tmp_path, "-o", out)["doubtful"] == [
        {
            "stream": "error.sse#0",
            "dialect": "openai-chat",
            "confidence": "guess",
            "because": why,
        }
    ]
    text = run(tmp_path, "-o", out).stdout
    assert "1 stream to check" in text
    assert f"error.sse#0: openai-chat (guess: {why})" in text


def test_dialect_option_replaces_detection(recordings: Path, tmp_path: Path) -> None:
    answer = told(recordings / "other.sse", "-o", tmp_path / "out", "--dialect", "anthropic")
    assert (answer["dialects"], answer["skipped"]) == ({"anthropic": {"certain": 1}}, {})
    wrong = run(recordings, "-o", tmp_path / "out", "--dialect", "morse")
    assert (wrong.exit_code, "openai-chat" in wrong.output) == (2, True)


def test_exit_codes(recordings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(recordings / "other.sse", "-o", out).exit_code == 5
    assert run(recordings / "bad.yaml", "-o", out).exit_code == 2
    assert run(recordings / "README.md", "-o", out).exit_code == 2
    assert run(recordings / "none", "-o", out).exit_code == 2
    assert run("-o", out).exit_code == 2


def test_a_huge_file_is_not_read(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 3)
    result = run(recordings / "deepseek" / "a.sse", "-o", recordings / "out")
    assert (result.exit_code, "at most 3 bytes" in result.stdout) == (2, True)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_without_an_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 1000)
    result = run("/dev/zero", "-o", tmp_path / "out")
    assert (result.exit_code, "at most 1000 bytes" in result.stdout) == (2, True)


def test_import_reports_an_unwritable_folder(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deepseek").write_text("a file where a folder must go")
    result = run(recordings, "-o", tmp_path / "out")
    assert isinstance(result.exception, UsageError)
    assert "-o" in result.exception.hint


def test_a_link_in_the_output_is_not_followed_out_of_it(recordings: Path, tmp_path: Path) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.mkdir()
    (out / "groq").symlink_to(victim)
    result = run(recordings, "-o", out)
    assert isinstance(result.exception, UsageError)
    assert "the folder is outside" in str(result.exception)
    assert list(victim.rglob("*")) == []


def test_damaged_entry_is_reported_with_its_location(tmp_path: Path) -> None:
    answers = {"status": "x"}, {"status": 200, "content": {"text": STREAM}}
    entries = [{"response": answer} for answer in answers]
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    result = run(tmp_path, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "1 cassette with 1 stream " in result.stdout
    assert "1 stream skipped" in result.stdout
    assert "damaged: expected a status code, found text 'x' (at log.entries[0]" in result.stdout


def test_damaged_file_is_reported_with_its_location(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_text('{"log": {"entries": [{"response": {"status": "x"}}]}}')
    (item,) = told(tmp_path, "-o", tmp_path / "out")["unusable"]
    assert "log.entries[0].response.status" in item["reason"]
    assert str(tmp_path) not in item["reason"]


def test_counts_of_one_are_singular(recordings: Path, tmp_path: Path) -> None:
    text = run(recordings / "deepseek" / "a.sse", "-o", tmp_path / "out").stdout
    assert text.startswith("1 cassette with 1 stream in ")


CHAT = [
    {"role": "user", "content": "Why?"},
    {"role": "assistant", "content": "So."},
]


def test_logged_conversations_become_no_cassettes(tmp_path: Path) -> None:
    given = tmp_path / "chat.jsonl"
    given.write_text("".join(json.dumps(message) + "\n" for message in CHAT))
    output = tmp_path / "out"
    result = run(given, "-o", output, "--model", "qwen-plus")
    assert result.exit_code == 0
    assert "1 conversation without response bytes: `harness run` counts" in result.stdout
    assert [path.name for path in output.rglob("*.yaml")] == []
    written = output / "unknown/qwen-plus/chat.jsonl"
    (logged,) = decode(written.read_bytes())
    assert list(logged.conversation.messages) == CHAT
    assert logged.about.model == "qwen-plus"
    again = told(written, "-o", tmp_path / "again")
    assert (again["conversations"], again["cassettes"]) == (1, 0)
    copied = tmp_path / "again/unknown/qwen-plus/chat.jsonl"
    assert copied.read_bytes() == written.read_bytes()


def test_damaged_conversation_is_reported_with_its_location(tmp_path: Path) -> None:
    given = tmp_path / "chat.jsonl"
    logged = LoggedConversation(ConversationLabels(), Conversation(tuple(CHAT), (), "done", "So."))
    given.write_bytes(b"".join(encode(logged).splitlines(keepends=True)[:-1]))
    (unusable,) = told(given, "-o", tmp_path / "out")["unusable"]
    assert unusable["reason"] == ("expected 2 messages, as in the header, found 1 (at line 1)")


# Names, and what was not imported


def names_in(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*.*l") if path.is_file()}


def test_names_do_not_depend_on_what_else_is_in_the_folder(tmp_path: Path) -> None:
    files = ["a.sse", "a.txt", "a.b/c.sse", "a b.sse", "a-b.sse", "a/b.sse", "b.sse", "x/b.sse"]
    alone: set[str] = set()
    for n, name in enumerate(files):
        for folder in (tmp_path / "all", tmp_path / str(n)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(STREAM)
        run(tmp_path / str(n), "-o", tmp_path / "one" / str(n))
        alone |= names_in(tmp_path / "one" / str(n))
    run(tmp_path / "all", "-o", tmp_path / "out")
    assert names_in(tmp_path / "out") == alone
    assert len(alone) == len(files)
    assert all(re.fullmatch(r"[A-Za-z0-9._/-]+", name) for name in alone)
    assert "unknown/a-b-free/a/b.sse.yaml" in alone


def test_a_common_file_name_gets_the_name_of_its_folder(tmp_path: Path) -> None:
    for name in ("weather/recording.sse", "news/recording.sse"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(STREAM)
    out = tmp_path / "out"
    run(tmp_path / "weather/recording.sse", tmp_path / "news/recording.sse", "-o", out)
    model = "unknown/a-b-free"
    assert names_in(out) == {
        f"{model}/weather/recording.sse.yaml",
        f"{model}/news/recording.sse.yaml",
    }


def test_two_dialects_of_one_file_are_in_the_names(tmp_path: Path) -> None:
    other = '{"type":"message_start","message":{"model":"a/b:free","role":"assistant"}}'
    bodies = (STREAM, f"event: message_start\ndata: {other}\n\n")
    answers = [{"status": 200, "content": {"text": body}} for body in bodies]
    entries = [{"response": answer} for answer in answers]
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    run(tmp_path / "a.har", "-o", tmp_path / "out")
    model = "unknown/a-b-free"
    assert names_in(tmp_path / "out") == {
        f"{model}/a.har.anthropic.yaml",
        f"{model}/a.har.openai-chat.yaml",
    }


def test_what_was_not_imported_is_listed_by_file_and_reason(tmp_path: Path) -> None:
    (tmp_path / "stubs/mappings").mkdir(parents=True)
    (tmp_path / "stubs/__files").mkdir()
    (tmp_path / "stubs/__files/body.txt").write_text(STREAM)
    (tmp_path / "empty.har").write_text('{"log": {"entries": []}}')
    (tmp_path / "other.sse").write_text('data: {"hello": 1}\n\n')
    (tmp_path / "notes.md").write_text("hello")
    (tmp_path / "weather.sse").write_text(STREAM)
    assert told(tmp_path, "-o", tmp_path / "out")["not_imported"] == [
        {"file": "empty.har", "reason": "contains no response", "streams": 0},
        {"file": "notes.md", "reason": "not a recording in a supported format", "streams": 0},
        {"file": "other.sse", "reason": "no recognized dialect", "streams": 1},
        {
            "file": "stubs/__files/body.txt",
            "reason": "a body that a recording next to it names",
            "streams": 0,
        },
    ]
    text = run(tmp_path, "-o", tmp_path / "out").stdout
    assert "3 files not used\nnot imported, by file\n  empty.har: contains no response" in text
    assert "  other.sse: no recognized dialect (1 stream)" in text


def test_a_long_list_of_files_is_cut(tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / f"{n:02}.md").write_text("hello")
    text = run(tmp_path, "-o", tmp_path / "out").stdout
    assert "  49.md: not a recording" in text
    assert "50.md" not in text
    assert "  and 10 more: --format json lists all" in text
