"""`harness new`: whatever is written is a cassette and a scenario that `reference` conforms to."""

import errno
import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from harness.cli.new import parse_writer_options
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.scenario import Scenario
from harness.judging.scenario_file import load_scenario
from harness.normalizers.discovery import load_normalizer
from harness.results.outcome import Outcome
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from tests.cli.conftest import Harness

QUIRK = "DELTA-ID-EMPTY-LATER"
# A cassette of each dialect: named, so that none has to be looked for.
LIKE = {
    "anthropic": "anthropic/claude-sonnet-4-5/call",
    "bedrock-converse": "aws-bedrock/anthropic.claude-haiku-4-5/call",
    "bedrock-llama": "aws-bedrock/meta.llama3-70b-instruct-v1/text",
    "cohere": "cohere/command-a-03-2025/single-call",
    "dashscope": "dashscope/qwen-plus/native-single-call",
    "gemini": "google-gemini/gemini-2.5-flash/call",
    "google-interactions": "google-gemini/gemini-3-flash-preview/interaction-call",
    "mistral": "mistral/mistral-small-latest/done-missing",
    "ollama": "ollama/gpt-oss/call-in-the-last-line",
    "openai-chat": "openai/gpt-4o-mini/multi-byte",
    "openai-completions": "compatible/any/completion-http-502",
    "openai-responses": "openai/gpt-5-mini/responses-call",
    "tgi": "huggingface/any/tokens",
}
CHAT = ("--like", LIKE["openai-chat"])
CUT = 'get_weather={"city": "Os'


def written(harness: Harness, folder: Path, *words: str, quirk: str = QUIRK) -> LoadedSubject:
    left = harness("new", *filter(None, [quirk]), "-o", str(folder), *words)
    assert left.code == 0, left.err
    cassette, scenario = map(Path, left.out.splitlines())
    assert "harness show" in left.err
    assert "harness run" in left.err
    return LoadedSubject(
        load_cassette(cassette, folder / "cassettes"), load_scenario(scenario, folder / "scenarios")
    )


def scenario_of(made: LoadedSubject) -> Scenario:
    assert made.scenario is not None
    return made.scenario


def outcome(made: LoadedSubject, name: str) -> Outcome:
    result, _ = judge_subject(made, load_normalizer(name))
    return result.outcome


@pytest.mark.parametrize("dialect", LIKE)
def test_reference_conforms_to_a_new_cassette_of_each_dialect(
    harness: Harness, tmp_path: Path, dialect: str
) -> None:
    made = written(harness, tmp_path, "--like", LIKE[dialect])
    assert made.cassette.dialect == dialect
    assert scenario_of(made).cassette == made.cassette.id
    assert scenario_of(made).quirks == (QUIRK,)
    assert outcome(made, "reference") is Outcome.PASS


def test_writer_options_make_a_known_bad_client_fail(harness: Harness, tmp_path: Path) -> None:
    made = written(harness, tmp_path, "--set", "later_id=empty", "--set", "later_name=empty")
    assert outcome(made, "reference") is Outcome.PASS
    assert outcome(made, "naive") is Outcome.LOST_CALL


def test_broken_arguments_are_expected_as_a_parse_error(harness: Harness, tmp_path: Path) -> None:
    made = written(harness, tmp_path, *CHAT, "--call", CUT, "--finish", "length", "--name", "cut")
    assert scenario_of(made).id.endswith("/cut")
    assert scenario_of(made).expect[0].rejected[0].snippet == '{"city": "Os'
    assert outcome(made, "reference") is Outcome.PARSE_ERROR
    assert "# Add `blame:" in (tmp_path / f"scenarios/{scenario_of(made).id}.yaml").read_text()


def test_origin_of_a_new_cassette_has_the_command_that_repeats_it(
    harness: Harness, tmp_path: Path
) -> None:
    words = (*CHAT, "--text", "Oslo: 4 °C")
    first = written(harness, tmp_path / "a", *words).cassette
    assert first.origin.by == "harness new"
    assert str(tmp_path) not in first.origin.source
    assert "--text 'Oslo: 4 °C'" in first.origin.source
    again: Cassette = written(harness, tmp_path / "b", *words).cassette
    assert again == first


def test_without_like_the_request_is_that_of_a_cassette_with_tools(
    harness: Harness, tmp_path: Path
) -> None:
    made = written(harness, tmp_path, "--dialect", "dashscope")
    assert (made.cassette.provider, made.cassette.dialect) == ("dashscope", "dashscope")
    assert scenario_of(made).expect[0].calls


def test_new_overwrites_no_file(harness: Harness, tmp_path: Path) -> None:
    written(harness, tmp_path, *CHAT)
    left = harness("new", QUIRK, *CHAT, "-o", str(tmp_path))
    assert left.code == 2
    assert "file already exists" in left.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("DELTA-ID-EMTY-LATER",), f"did you mean '{QUIRK}'"),
        ((QUIRK, *CHAT, "--set", "later_ids=empty"), "did you mean 'later_id'"),
        ((QUIRK, *CHAT, "--set", "later_id"), "expected OPTION=VALUE"),
        ((QUIRK, *CHAT, "--set", "later_id=gone"), "Expected absent, empty, null"),
        ((QUIRK, *CHAT, "--set", "bom=perhaps"), "Expected true or false"),
        ((QUIRK, *CHAT, "--call", "get_weather"), "expected NAME=ARGUMENTS"),
        ((QUIRK, "--like", "no/such/cassette"), "no/such/cassette"),
        ((QUIRK, "--like", LIKE["tgi"], "--call", "f={}"), "cannot write"),
    ],
)
def test_new_rejects_unusable_options_with_a_hint(
    harness: Harness, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    left = harness("new", *words, "-o", str(tmp_path))
    assert (left.code, left.out) == (2, "")
    assert said in left.err
    assert list(tmp_path.iterdir()) == []


def test_options_take_the_type_that_the_writer_declares() -> None:
    made = parse_writer_options("openai-chat", ["name_pieces=2", "bom=true", "choice=null"], "m")
    assert (made.name_pieces, made.bom, made.choice, made.model) == (2, True, None, "m")


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_written(
    harness: Harness, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    left = harness("new", QUIRK, "-o", str(tmp_path / "file/below"), *CHAT)
    assert left.code == 2
    assert left.err.startswith("error: ")
    assert "cannot write the file: Not a directory" in left.err
    assert "Choose another folder with -o." in left.err


def test_a_read_only_file_system_is_named(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("harness.cli.run_files.TemporaryFile", refuse)
    left = harness("new", QUIRK, "-o", str(tmp_path), *CHAT)
    assert (left.code, "Read-only file system" in left.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


# A pasted stream


PASTED = Path(__file__).parents[1] / "recording/formats/stream.sse"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = PASTED.read_text().split("\n")
    path = tmp_path / "weather.log"
    path.write_text("".join(f"12:00 DEBUG got {line}\n" for line in lines if line) + "12:01 end\n")
    return path


def test_a_pasted_log_becomes_a_cassette_and_a_scenario(
    harness: Harness, tmp_path: Path, log: Path
) -> None:
    left = harness("new", "--from", str(log), "-o", str(tmp_path), "--provider", "avian")
    assert left.code == 0, left.err
    cassette, scenario = map(Path, left.out.splitlines())
    assert cassette == tmp_path / "cassettes/avian/deepseek-v3/weather.yaml"
    assert "recognized: 1 response, 4 events" in left.err
    assert "check it" not in left.err
    assert "framing rebuilt, 1 line left out" in left.err
    assert "response 0: openai-chat (likely: the first events" in left.err
    made = LoadedSubject(
        load_cassette(cassette, tmp_path / "cassettes"),
        load_scenario(scenario, tmp_path / "scenarios"),
    )
    assert made.cassette.origin.by == "harness new"
    assert scenario_of(made).expect[0].calls[0].arguments == {"city": "Ålesund"}
    assert scenario.read_text().startswith("# Read from the bytes alone: confirm")
    assert f"confirm it: check `expect` in {scenario}, then remove its first line" in left.err
    assert outcome(made, "reference") is Outcome.PASS


def test_the_scenario_of_a_pasted_stream_names_the_quirks_of_its_bytes(
    harness: Harness, tmp_path: Path, log: Path
) -> None:
    call = '{"id": "", "index": 0, "function": {"name": null, "arguments": ""}}'
    event = f'{{"choices": [{{"index": 0, "delta": {{"tool_calls": [{call}]}}}}]}}'
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:2], f"data: {event}\n", *lines[2:]]))
    made = written(harness, tmp_path, "--from", str(log), "--name", "shown", quirk="")
    assert "DELTA-ID-EMPTY-LATER" in scenario_of(made).quirks


def test_events_that_a_log_has_cut_are_counted(harness: Harness, tmp_path: Path, log: Path) -> None:
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:1], f"{lines[1][:80]}...", *lines[2:]]))
    left = harness("new", "--from", str(log), "-o", str(tmp_path))
    assert "check it: 1 of 4 events are not JSON: a log may cut its lines" in left.err


def test_a_quirk_names_what_a_pasted_stream_shows(
    harness: Harness, tmp_path: Path, log: Path
) -> None:
    made = written(harness, tmp_path, "--from", str(log), "--name", "shown")
    assert scenario_of(made).quirks == (QUIRK,)
    assert made.cassette.id == "unknown/deepseek-v3/shown"


def test_standard_input_may_be_pasted(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(PASTED.read_bytes())))
    left = harness("new", "--from", "-", "-o", str(tmp_path), "--model", "m")
    assert left.out.splitlines()[0] == str(tmp_path / "cassettes/unknown/m/pasted.yaml")


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        ((), None, "expected a quirk or --from"),
        (("--call", "f={}"), "x", "--from cannot be used with --call"),
        (("--set", "bom=true", "--text", "a"), "x", "--from cannot be used with --set, --text"),
        ((), "hello\nworld\n", "no stream recognized\n  Paste the lines of the response"),
        ((), 'data: {"hello": 1}\n\n', "no stream recognized: no recognized dialect"),
        ((), '[{"scope": "a", "path": "/", "status": "x"}]', "expected a status code"),
    ],
)
def test_a_text_without_a_stream_is_refused_with_a_hint(
    harness: Harness, tmp_path: Path, words: tuple[str, ...], text: str | None, said: str
) -> None:
    out, given = tmp_path / "out", tmp_path / "pasted.txt"
    given.write_text(text or "")
    source = () if text is None else ("--from", str(given))
    left = harness("new", *source, *words, "-o", str(out))
    assert (left.code, left.out) == (2, "")
    assert said in left.err
    assert not out.exists()


def test_streams_of_several_models_are_refused(harness: Harness, tmp_path: Path) -> None:
    bodies = [PASTED.read_text(), PASTED.read_text().replace("deepseek-v3", "other")]
    given = tmp_path / "a.json"
    given.write_text(json.dumps([{"status": 200, "headers": {}, "body": body} for body in bodies]))
    left = harness("new", "--from", str(given), "-o", str(tmp_path))
    assert left.code == 2
    assert "found 2: unknown/deepseek-v3, unknown/other" in left.err
    assert "harness import" in left.err


START = '{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":'
CALL = START + '{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}'
KEY = "sk-" + "a1B2" * 12


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ((CALL[:-40], CALL), "the first event does not close"),
        ((CALL, CALL[:-9]), "the event with the name of a call does not close"),
    ],
)
@pytest.mark.parametrize("prefix", ["data: ", "INFO chunk="])
def test_a_cut_start_is_refused(
    harness: Harness, tmp_path: Path, lines: tuple[str, ...], what: str, prefix: str
) -> None:
    given, out = tmp_path / "a.log", tmp_path / "out"
    given.write_text("\n\n".join(f"{prefix}{line}" for line in lines))
    left = harness("new", "--from", str(given), "-o", str(out))
    assert left.code == 2
    assert what in left.err
    assert not out.exists()


@pytest.mark.parametrize(
    "form", ["{}", f"curl https://a.b/v1/chat/completions?key={KEY} -d '{{}}'"]
)
def test_the_request_of_a_pasted_stream_is_stored_without_secrets(
    harness: Harness, tmp_path: Path, log: Path, form: str
) -> None:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": KEY}]}
    request = tmp_path / "request.json"
    request.write_text(form.replace("{}", json.dumps(body)))
    left = harness(
        "new", "--from", str(log), "-o", str(tmp_path), "--request", str(request), "--name", "asked"
    )
    assert left.code == 0, left.err
    assert "masked: 0: request body:" in left.err
    assert KEY not in left.err
    made = load_cassette(Path(left.out.splitlines()[0]))
    stored = json.loads(made.interactions[0].request.body)
    assert (stored["model"], stored["stream"]) == ("m", True)
    assert KEY not in Path(left.out.splitlines()[0]).read_text()


def test_the_draft_proposes_the_text_dialect_and_says_why_parts_are_open(
    harness: Harness, tmp_path: Path
) -> None:
    given = tmp_path / "a.log"
    text = json.dumps('Now <tool_call>{"name": "f", "arguments": {}}</tool_call> or not')
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    body = json.dumps({"model": "m", "messages": [], "tools": tools, "stream": True})
    events = (f'{START}{{"content":{text}}}}}]}}', f'{START}{{}},"finish_reason":"stop"}}]}}')
    pasted = "".join(f"data: {event}\n\n" for event in events)
    given.write_text(f"curl http://localhost/v1/chat/completions -d '{body}'\n{pasted}")
    left = harness("new", "--from", str(given), "-o", str(tmp_path))
    assert left.code == 0, left.err
    assert "open: calls: markup in the text" in left.err
    draft = Path(left.out.splitlines()[1]).read_text()
    assert "text_dialect: tagged-json\n" in draft
    assert "# - calls: markup in the text\n" in draft


def test_a_request_without_a_body_is_refused(harness: Harness, tmp_path: Path, log: Path) -> None:
    request = tmp_path / "request.txt"
    request.write_text("curl https://api.example.com\n")
    left = harness("new", "--from", str(log), "--request", str(request), "-o", str(tmp_path))
    assert left.code == 2
    assert "expected the JSON body of a request" in left.err
