"""Gateways between two APIs are judged by both their ends."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.errors import NormalizerLoadError, UnreadableError
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.gateway import gateway_normalizer
from harness.normalizers.gateway.neutral import OPTIONS, build_request, read_neutral
from harness.normalizers.gateway.process import free_port
from harness.normalizers.gateway.settings import settings_of
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.own_gateway import OwnGateway, own_gateway
from harness.playback.refusals import body_refusal
from harness.playback.upstream import Upstream
from harness.project import DeclaredNormalizer
from harness.runs.load import load_subject
from harness.runs.selection import select_subjects
from harness.shipped import bundled_folder
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Request
from tests.tables import each_row

REQUESTS = [
    load_subject(each) for each in select_subjects((bundled_folder("scenarios") / "requests",))
]
FRONTS = ("anthropic", "gemini", "openai-chat", "openai-responses")
GATEWAYS = [each for name, each in MUTANTS.items() if each.front]

# A gateway that passes through: it sends the body of each request to its upstream unchanged.
FORWARDING = """
import http.client, http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        upstream = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
        path = sys.argv[3] if len(sys.argv) > 3 else self.path
        upstream.request("POST", path, body, {"content-type": "application/json"})
        answer = upstream.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        self.send_header("content-type", answer.getheader("content-type", ""))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def _judge(subject: LoadedSubject, text: str, command: str) -> object:
    declared = DeclaredNormalizer(f"gateway:{text}", command=command)
    gateway = gateway_normalizer(text, declared)
    result, _ = judge_subject(subject, gateway, cuts="whole")
    return result


@pytest.mark.parametrize("front", FRONTS)
def test_the_own_gateway_hands_on_all_parts_of_a_request(front: str) -> None:
    for subject in REQUESTS:
        result, _ = judge_subject(subject, own_gateway(OwnGateway(front)), cuts="whole")
        assert (result.outcome.value, result.findings) == ("pass", ()), subject.id


@pytest.mark.parametrize("gateway", GATEWAYS, ids=lambda each: each.name)
def test_a_faulty_gateway_violates_its_rule_and_no_other(gateway: object) -> None:
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    result, case = judge_subject(subject, gateway, cuts="whole")  # type: ignore[arg-type]
    assert {found.rule for found in result.findings} == gateway.breaks  # type: ignore[attr-defined]
    assert (case is not None) == result.outcome.fails
    if case is not None:
        assert case.crossing
        assert case.crossing.arrived


@pytest.mark.parametrize("front", sorted(OPTIONS))
def test_a_request_says_the_same_in_each_api(front: str) -> None:
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    sent = read_neutral("openai-chat", subject.cassette.interactions[0].request)
    assert sent is not None
    body = build_request(sent, front, "any", "http://gateway.example/")
    came = read_neutral(front, Request(body=encode_json(body)))
    assert came is not None
    assert came.messages == sent.messages
    assert (came.system, came.tools) == (sent.system, sent.tools)
    known = {name: value for name, value in sent.options.items() if name in OPTIONS[front]}
    assert came.options == known


def test_a_gateway_process_that_passes_through_conforms(tmp_path: Path) -> None:
    script = tmp_path / "pass_through.py"
    script.write_text(FORWARDING)
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    url = "http://127.0.0.1:{port}/v1/chat/completions"
    result = _judge(subject, url, f"{sys.executable} {script} {{port}} {{upstream}}")
    assert result.outcome.value == "pass"  # type: ignore[attr-defined]


def test_a_gateway_that_asks_another_api_is_not_judged(tmp_path: Path) -> None:
    script = tmp_path / "wrong_path.py"
    script.write_text(FORWARDING)
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    command = f"{sys.executable} {script} {{port}} {{upstream}} /v1/messages"
    result = _judge(subject, "http://127.0.0.1:{port}/v1/chat/completions", command)
    assert result.outcome.value == "unsupported"  # type: ignore[attr-defined]
    assert "asked /v1/messages (anthropic)" in str(result.unsupported)  # type: ignore[attr-defined]


def test_a_gateway_that_answers_no_plain_text_is_an_error_and_not_judged(tmp_path: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    command = f"{sys.executable} {script} {{port}} {{upstream}}"
    with pytest.raises(NormalizerLoadError, match="plain text with HTTP 500: no headers"):
        _judge(REQUESTS[0], "http://127.0.0.1:{port}/v1/chat/completions", command)


def test_a_gateway_that_does_not_run_is_an_error() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1/messages upstream={free_port()}"
    with pytest.raises(NormalizerLoadError, match="nothing listens there"):
        judge_subject(REQUESTS[0], gateway_normalizer(url), cuts="whole")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a URL"),
        ("http://127.0.0.1:1/unknown upstream=1", "no known endpoint"),
        ("ftp://127.0.0.1/v1/messages upstream=1", "no URL"),
        ("http://127.0.0.1:1/v1/messages", "cannot know the upstream"),
        ("http://127.0.0.1:1/v1/messages upstream=x", "not a port"),
        ("http://127.0.0.1:1/v1/messages port=3", "unknown word"),
    ],
)
def test_settings_that_cannot_be_used_are_errors(text: str, problem: str) -> None:
    with pytest.raises(NormalizerLoadError, match=problem):
        settings_of(text, None)


def test_an_unknown_policy_of_a_gateway_is_an_error() -> None:
    declared = DeclaredNormalizer("gateway:x", upstream=1, policies={"ids": "sufixed"})
    with pytest.raises(UnreadableError, match="ids=sufixed"):
        gateway_normalizer("http://127.0.0.1:1/v1/messages", declared)


@contextmanager
def _asked(
    body: dict[str, object], method: str = "POST", path: str = "/v1/chat/completions"
) -> Iterator[str]:
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    interaction = subject.cassette.interactions[0]
    with Upstream() as upstream, upstream.open(interaction, iter([interaction.body])):
        at = urlsplit(upstream.base_url)
        connection = HTTPConnection(str(at.hostname), at.port)
        connection.request(method, path, encode_json(body), {"content-type": "application/json"})
        yield connection.getresponse().read().decode()
        connection.close()


def test_the_upstream_reports_tokens_to_who_asks_for_them() -> None:
    with _asked({"stream": True, "stream_options": {"include_usage": True}}) as text:
        assert '"usage"' in text
        assert text.rstrip().endswith("[DONE]")
    with _asked({"stream": True}) as text:
        assert '"usage"' not in text


def test_the_upstream_sends_one_document_to_who_wants_no_stream() -> None:
    with _asked({"stream": False}, path="/any/prefix/chat/completions") as text:
        message = json.loads(text)["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "get_weather"


def test_the_upstream_lists_models() -> None:
    with _asked({}, "GET", "/v1/models") as text:
        assert json.loads(text)["data"][0]["id"] == "replay"


def test_each_front_is_an_api_that_the_harness_can_ask() -> None:
    for front in FRONTS:
        assert DIALECTS[front].build_request is not None
    assert replace(OwnGateway("anthropic"), front="gemini").front == "gemini"


def test_gateway_that_drops_retry_after_is_found_and_nothing_else(tmp_path: Path) -> None:
    script = tmp_path / "forwarding.py"
    script.write_text(FORWARDING)
    command = f"{sys.executable} {script} {{port}} {{upstream}}"
    folder = bundled_folder("scenarios") / "timing"
    found = {
        name: _judge(
            load_subject(*select_subjects((folder / f"{name}.yaml",))),
            "http://127.0.0.1:{port}/v1/chat/completions",
            command,
        )
        for name in ("rate-limited", "status-500")
    }
    rules = {name: [each.rule for each in result.findings] for name, result in found.items()}  # type: ignore[attr-defined]
    assert rules == {"rate-limited": ["TIME-RETRY-AFTER"], "status-500": []}


# A gateway whose installation is broken, as reported of a gateway with another release of its
# server: https://github.com/Portkey-AI/gateway/issues/1389
FAILING = """
import http.server, sys

class Failing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(500)
        self.end_headers()
        self.wfile.write(b"no headers")

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Failing).serve_forever()
"""


# A gateway that starts another process outside its group, and never listens. It interrupts who
# starts it while that waits.
INTERRUPTING = "setsid sleep 60 & echo $! $$ > pids; kill -TERM $PPID; wait"
STARTING = """
import atexit, shlex, sys
from harness.cli.interrupts import Interrupts
from harness.normalizers.gateway.process import GatewayProcess

Interrupts(130).watch()
process = GatewayProcess("sh -c " + shlex.quote(sys.argv[1]), 1, 1)
atexit.register(process.close)
process.ensure()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux finds processes outside a group")
def test_an_interrupt_while_a_gateway_starts_ends_all_its_processes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTING, INTERRUPTING],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in done.stderr
    ids = (tmp_path / "pids").read_text().split()
    assert len(ids) == 2
    assert [each for each in ids if _runs(each)] == []


def _runs(process: str) -> bool:
    try:
        state = Path("/proc", process, "stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def _answer_to(dialect: str, body: bytes, path: str, headers: dict[str, str]) -> tuple[int, object]:
    interaction = DIALECTS[dialect].interaction(
        (), request=Request(uri=f"http://any.example{path}")
    )
    with Upstream() as upstream, upstream.open(interaction, iter([b""]), "gemini") as case:
        at = urlsplit(upstream.base_url)
        connection = HTTPConnection(str(at.hostname), at.port)
        connection.request("POST", path, body, {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        value = json.loads(answer.read())
        connection.close()
        assert bool(case.refused) != bool(case.not_played)
    return answer.status, value


_VERSION = {"anthropic-version": "2023-06-01"}
_KEY = {"x-api-key": "none", **_VERSION}
_CHAT = "/v1/chat/completions"
_QUESTION = {"model": "any", "messages": [{"role": "user", "content": "Hi."}]}


_ASKED = encode_json({**_QUESTION, "max_tokens": 9})
_MESSAGES = "/v1/messages"


@each_row(
    "row",
    [
        ("anthropic", _MESSAGES, _KEY, encode_json(_QUESTION), 400, "max_tokens: Field required"),
        ("anthropic", _MESSAGES, _VERSION, _ASKED, 401, "x-api-key header is required"),
        (
            "anthropic",
            _MESSAGES,
            {"x-api-key": "none"},
            _ASKED,
            400,
            "anthropic-version: header is required",
        ),
        (
            "openai-chat",
            _CHAT,
            {},
            encode_json({"messages": []}),
            400,
            "Missing required parameter: 'model'.",
        ),
        (
            "openai-chat",
            _CHAT,
            {},
            encode_json({**_QUESTION, "system": "Be brief."}),
            400,
            "Unknown parameter: 'system'.",
        ),
        (
            "openai-chat",
            _CHAT,
            {"content-type": "text/plain"},
            encode_json(_QUESTION),
            400,
            "Unsupported content type: 'text/plain'. Send 'application/json'.",
        ),
        (
            "openai-responses",
            "/v1/responses",
            {},
            encode_json({"model": "any"}),
            400,
            "Missing required parameter: 'input'.",
        ),
        ("openai-chat", _CHAT, {}, b"Hi.", 400, "The body of the request is not a JSON object."),
    ],
)
def test_the_upstream_refuses_what_its_api_refuses(
    row: tuple[str, str, dict[str, str], bytes, int, str],
) -> None:
    dialect, path, headers, body, status, message = row
    found, error = _answer_to(dialect, body, path, headers)
    assert isinstance(error, dict)
    assert (found, error["error"]["message"]) == (status, message)
    kind = "invalid_request_error" if found == 400 else "authentication_error"
    assert error["error"]["type"] == kind
    assert (error.get("type") == "error") == (dialect == "anthropic")


def test_the_upstream_refuses_in_the_form_of_googles_errors() -> None:
    path = "/v1beta/models/any:streamGenerateContent?key=none"
    found, error = _answer_to("gemini", encode_json(_QUESTION), path, {})
    message = 'Invalid JSON payload received. Unknown name "messages": Cannot find field.'
    error_of = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    assert (found, error) == (400, {"error": error_of})


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("dialect", FRONTS)
def test_an_api_accepts_its_own_requests_and_refuses_those_of_others(
    dialect: str, front: str
) -> None:
    for subject in REQUESTS:
        neutral = read_neutral(
            subject.cassette.interactions[0].dialect, subject.cassette.interactions[0].request
        )
        assert neutral is not None
        body = build_request(neutral, front, "any", "http://gateway.example/")
        refusal = body_refusal(dialect, Request(body=encode_json(body)))
        assert (refusal is None) == (front == dialect), subject.id


def test_a_gateway_configured_to_pass_another_api_on_is_not_judged(tmp_path: Path) -> None:
    script = tmp_path / "pass_through.py"
    script.write_text(FORWARDING)
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    command = f"{sys.executable} {script} {{port}} {{upstream}} /v1/chat/completions"
    result = _judge(subject, "http://127.0.0.1:{port}/v1/messages", command)
    assert result.outcome.value == "unsupported"  # type: ignore[attr-defined]
    assert str(result.unsupported).startswith(  # type: ignore[attr-defined]
        "the gateway's configuration sends a request of anthropic to an upstream of openai-chat"
    )


def test_a_gateway_whose_own_request_is_refused_is_judged_on_the_request_alone(
    tmp_path: Path,
) -> None:
    script = tmp_path / "no_model.py"
    script.write_text(
        FORWARDING.replace(
            '"content-length"]))', '"content-length"])).replace(b\'"model"\', b\'"name"\')', 1
        )
    )
    (subject,) = (each for each in REQUESTS if each.id == "requests/openai-chat")
    command = f"{sys.executable} {script} {{port}} {{upstream}}"
    result = _judge(subject, "http://127.0.0.1:{port}/v1/chat/completions", command)
    assert [each.rule for each in result.findings] == ["REQUEST-ACCEPTED"]  # type: ignore[attr-defined]
