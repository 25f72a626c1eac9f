"""Kill commands at random moments: nothing recorded may be lost, nothing may stay half-written.

Each attempt starts one command, sends it SIGKILL, SIGTERM or SIGINT, and looks at what is left, as
the next start of the command and `harness report` do. Recording commands record a provider in this
process, which knows what it has sent.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Lock, Thread
from traceback import format_tb
from typing import Final

from click.testing import CliRunner

from harness.cli.drift import drift_command
from harness.cli.import_ import import_command
from harness.cli.report import report_command
from harness.conversation.history.jsonl import decode
from harness.errors import HarnessError
from harness.files.write import PARTIAL, partial_path
from harness.fuzzing.saving import adopt_unfinished, replay_saved, unfinished
from harness.measuring.finished import require_complete
from harness.recording.recorder import Recorder
from harness.recording.recorder.options import RecordMode
from harness.results.store import read_run
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import load_cassette
from tests.attack.attack import Attack

_SCRIPT: Final = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from harness.cli import main; main()"
)
_MARK: Final = "HARNESS_ATTEMPT"
_MOST_SECONDS: Final = 10.0
_PATIENCE_SECONDS: Final = 5.0  # of a user, before the second Ctrl-C
_SIGNALS: Final = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_EVENTS: Final = 6
_CLIENTS: Final = 3
_PATH: Final = "/v1/chat/completions"


class Command:
    """A running command, in a folder that is deleted afterwards.

    Attributes:
        lines: what it has printed so far.
    """

    def __init__(self, folder: Path, number: int, *arguments: str) -> None:
        self.lines: list[str] = []
        self._mark = f"{os.getpid()}-{number}"
        environment = {**os.environ, _MARK: self._mark, "CI": ""}
        self._errors = folder / "stderr"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SCRIPT, *arguments],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.started = time.monotonic()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip("\n"))

    def wait_until(self, seconds: float, ready: Callable[[], bool] = lambda: False) -> None:
        """Wait until so long after the start, or until it is ready or has ended."""
        end = self.started + seconds
        while time.monotonic() < end and self._process.poll() is None and not ready():
            time.sleep(0.005)

    def kill(self, number: signal.Signals, *, twice: bool = False) -> Iterator[str]:
        """Send the signal, wait for the end, and yield what is wrong with it."""
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            self._process.send_signal(number)
            self._process.wait(_PATIENCE_SECONDS if not twice else 0.5)
        try:
            self._process.send_signal(number)
            code = self._process.wait(_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            yield f"did not end within {_MOST_SECONDS:.0f} seconds of two {number.name}"
            code = -signal.SIGKILL
        if code == 3 or (code < 0 and code not in (-signal.SIGKILL, -number)):
            said = self._errors.read_text("utf-8", "replace")[-600:]
            yield f"exit code {code} after {number.name}: {said}"
        yield from self._orphans()
        self._reader.join(1)

    def _orphans(self) -> Iterator[str]:
        end = time.monotonic() + 5
        left = list(_marked(self._mark))
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = list(_marked(self._mark))
        for process in left:
            yield f"orphan: {_arguments(process)}"
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes of an attempt that still run."""
    wanted = f"{_MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def _arguments(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:120]
    return "gone"


class _Provider(BaseHTTPRequestHandler):
    """Streams an answer that repeats the last message, and notes what it has sent."""

    protocol_version = "HTTP/1.1"
    sent: Final[list[str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        key = json.loads(body)["messages"][-1]["content"]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in _events(key):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            time.sleep(0.002)
        self.wfile.write(b"0\r\n\r\n")
        self.sent.append(key)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server names it
        del format, args


def _events(key: str) -> list[bytes]:
    deltas: list[dict[str, object]] = [{"content": f"{key}-{n}"} for n in range(_EVENTS)]
    last: dict[str, object] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks = [*({"index": 0, "delta": each, "finish_reason": None} for each in deltas), last]
    events = [json.dumps({"id": "c", "model": "m", "choices": [each]}) for each in chunks]
    return [f"data: {each}\n\n".encode() for each in (*events, "[DONE]")]


@cache
def _provider() -> str:
    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            del request, client_address  # a killed client

    server = Server(("127.0.0.1", 0), _Provider)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _keys(cassette: Cassette) -> dict[str, bytes]:
    """Return the bodies of the complete interactions, by what their requests ask."""
    found = {}
    for each in cassette.interactions:
        if each.ended == "complete":
            found[json.loads(each.request.body)["messages"][-1]["content"]] = each.body
    return found


def _proxy(folder: Path, number: int, random: Random) -> Iterator[str]:
    """Three clients stream through the proxy; it is killed meanwhile."""
    path = folder / "c.yaml"
    arguments = ("record", "--proxy", "0", "--upstream", _provider(), "-o", str(path))
    command = Command(folder, number, *arguments)
    early = random.random() < 0.1
    command.wait_until(random.uniform(0.1, 0.8) if early else 60, lambda: bool(command.lines))
    answered: list[str] = []
    lock = Lock()

    def stream(client: int) -> None:
        connection = HTTPConnection(command.lines[0].removeprefix("http://"), timeout=20)
        with suppress(OSError, HTTPException), closing(connection):
            for n in range(10_000):
                key = f"{client}.{n}"
                message = {"model": "m", "stream": True, "messages": [{"content": key}]}
                headers = {"authorization": "Bearer k", "content-type": "application/json"}
                connection.request("POST", _PATH, json.dumps(message), headers)
                with connection.getresponse() as response:
                    complete = response.read() == b"".join(_events(key))
                if complete:
                    with lock:
                        answered.append(key)

    clients = [Thread(target=stream, args=(n,), daemon=True) for n in range(_CLIENTS)]
    if command.lines:
        for client in clients:
            client.start()
        time.sleep(random.uniform(0.0, 0.9))
    yield from command.kill(sent := random.choice(_SIGNALS))
    for client in clients if command.lines else ():
        client.join(5)
    if sent is not signal.SIGKILL and partial_path(path).exists():
        yield f"{sent.name} left {partial_path(path).name}"
    yield from _lost(path, answered)
    if command.lines and sent is not signal.SIGKILL and not command.lines[1:]:
        yield f"no summary after {sent.name}"


def _lost(path: Path, answered: list[str]) -> Iterator[str]:
    """Start as the next recorder, and yield what it does not have."""
    with suppress(HarnessError):  # yielded below, if it is still damaged
        Recorder(path, mode=RecordMode.NEW_EPISODES, allow_in_ci=True)
    if partial_path(path).exists():
        yield f"the next start left {partial_path(path).name}"
    found: dict[str, bytes] = {}
    if path.exists():
        try:
            cassette = load_cassette(path)
            found = _keys(cassette)
            if len(cassette.interactions) > len({each.request for each in cassette.interactions}):
                yield "an interaction is in the cassette twice"
        except HarnessError as error:
            yield f"cassette: {error}"
    missing = [key for key in answered if found.get(key) != b"".join(_events(key))]
    if missing:
        yield f"lost {len(missing)} of {len(answered)} exchanges: {missing[:5]}"


def _record(folder: Path, number: int, random: Random) -> Iterator[str]:
    """Questions are sent one after the other; all answers but the last are on the disk."""
    count = 40
    questions = (f"- {{id: q{n}, question: '{number}.{n}'}}\n" for n in range(count))
    (folder / "p.yaml").write_text("".join(questions))
    before = len(_Provider.sent)
    arguments = ("record", _provider(), "--prompts", "p.yaml", "--model", "m", "-o", "out")
    command = Command(folder, number, *arguments)
    command.wait_until(60, lambda: len(_Provider.sent) > before or random.random() < 0.001)
    time.sleep(random.uniform(0.0, 0.7))
    yield from command.kill(random.choice(_SIGNALS))
    sent = [key for key in _Provider.sent[before:] if key.startswith(f"{number}.")]
    for key in sent[:-1]:
        yield from _lost(folder / "out" / f"q{key.partition('.')[2]}.yaml", [key])
    shown = [line.partition(":")[0] for line in command.lines]
    yield from (f"printed and not there: {each}" for each in shown if not (folder / each).exists())


@cache
def _recordings() -> tuple[Path, dict[str, bytes]]:
    """Return a folder of recordings of other tools, and what an import of it writes."""
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    for name in ("anthropic", "cohere", "dashscope", "mistral", "ollama", "openai"):
        shutil.copytree(bundled_folder("cassettes") / name, folder / "in" / name)
    lines = [{"messages": [{"role": "user", "content": "Hi"}]}]
    (folder / "in" / "talk.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    _import(folder / "in", folder / "out")
    return folder / "in", _written(folder / "out")


def _import(source: Path, output: Path) -> None:
    CliRunner().invoke(import_command, [str(source), "-o", str(output)], catch_exceptions=False)


def _written(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _imported(folder: Path, number: int, random: Random) -> Iterator[str]:
    """An import is killed; each of its files is complete, and the next import writes the rest."""
    source, complete = _recordings()
    command = Command(folder, number, "import", str(source), "-o", "out")
    if random.random() < 0.1:
        command.wait_until(random.uniform(0.1, 0.8))
    else:
        command.wait_until(60, (folder / "out").exists)
        time.sleep(random.uniform(0.0, 1.5))
    yield from command.kill(random.choice(_SIGNALS))
    found = _written(folder / "out")
    for name, data in found.items():
        if data != complete.get(name):
            yield f"half-written: {name}"
        if name.endswith(".jsonl"):
            decode(data, name)
    if number % 10 == 0:
        _import(source, folder / "out")
        if _written(folder / "out") != complete:
            yield "the next import did not write the rest"


def _run(folder: Path, number: int, random: Random) -> Iterator[str]:
    """A run is killed; what it had written is in the file that `harness report` reads."""
    scenarios = bundled_folder("scenarios") / random.choice(("dashscope", "ollama", "errors"))
    jobs = random.choice(("1", "2"))
    command = Command(
        folder, number, "run", str(scenarios), "-n", "reference", "-n", "naive", "-j", jobs,
        "-o", ".", "--no-report",
    )  # fmt: skip
    path, partial = folder / "run.jsonl", folder / f"run.jsonl{PARTIAL}"
    if random.random() < 0.1:
        command.wait_until(random.uniform(0.1, 1.2))
    else:
        command.wait_until(60, lambda: len(_bytes(partial)) > 10_000)
        time.sleep(random.uniform(0.0, 0.8))
    before = _cells(_bytes(partial))
    yield from command.kill(random.choice(_SIGNALS))
    after: set[str] = set()
    for file in (path, partial):
        if file.exists() and file.stat().st_size:
            try:
                after |= {each.cell for each in read_run(file).results}
            except HarnessError as error:
                yield f"run: {error}"
            yield from _unreported(file, folder / "report") if number % 5 == 0 else ()
    if before - after:
        yield f"lost {len(before - after)} of {len(before)} cells"
    if (folder / "run.jsonl.sealing").exists() and not partial.exists():
        yield "run.jsonl.sealing without its lines"


def _bytes(path: Path) -> bytes:
    """Return what is in a file, nothing if the command has finished it meanwhile."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _cells(data: bytes) -> set[str]:
    lines = (json.loads(line) for line in data.split(b"\n")[:-1])
    return {f"{it['scenario']}/{it['normalizer']}" for it in lines if it["type"] == "result"}


def _unreported(file: Path, output: Path) -> Iterator[str]:
    done = CliRunner().invoke(report_command, [str(file), "-o", str(output)])
    if done.exception is not None:
        yield f"report of {file.name}: {done.exception!r}"
    elif not (output / "index.html").read_text("utf-8").rstrip().endswith("</html>"):
        yield f"report of {file.name}: the page is not complete"


def _fuzz(folder: Path, number: int, random: Random) -> Iterator[str]:
    """A search is killed; what it had found is where the next search looks first."""
    database = folder / ".harness-fuzz"
    scenarios = bundled_folder("scenarios") / "dashscope"
    command = Command(
        folder, number, "fuzz", str(scenarios), "-n", "naive", "--seed", str(number),
        "--seconds", "20", "-j", random.choice(("1", "2")),
    )  # fmt: skip
    if random.random() < 0.2:
        command.wait_until(random.uniform(0.1, 1.5))
    else:
        command.wait_until(30, (unfinished(database) / "scenarios").exists)
        if not unfinished(database).exists():
            yield "nothing is kept while it searches"
        time.sleep(random.uniform(0.0, 0.5))
    found = list(unfinished(database).rglob("*.yaml"))
    yield from command.kill(sent := random.choice(_SIGNALS))
    if sent is signal.SIGKILL or not list(database.glob("scenarios/**/*.yaml")):
        # A search that a busy machine does not end in time is killed as well.
        yield from (f"lost {each.name}" for each in found if not each.exists())
    try:
        adopt_unfinished(database, "naive")
        if number % 5 == 0:
            list(replay_saved(database, "naive"))
        for path in database.glob("cassettes/**/*.yaml"):
            load_cassette(path)
    except HarnessError as error:
        yield f"the next search: {error}"
    if found and not list(database.glob("scenarios/fuzz/naive/*.yaml")):
        yield "the next search has nothing"


_STUCK: Final = """
import itertools, subprocess

def normalize(interaction, reads):
    subprocess.Popen(["sleep", "60"])
    open("stuck", "w").close()
    sum(itertools.count())
"""


def _stuck(folder: Path, number: int, random: Random) -> Iterator[str]:
    """A search or a run is killed while its client, which no thread can stop, runs."""
    (folder / "stuck.py").write_text(_STUCK)
    scenarios = str(bundled_folder("scenarios") / "dashscope")
    kind = random.choice(("fuzz", "run"))
    command = Command(folder, number, kind, scenarios, "-n", "stuck:normalize", "-j", "2")
    command.wait_until(60, (folder / "stuck").exists)
    time.sleep(random.uniform(0.0, 0.1))
    yield from command.kill(random.choice(_SIGNALS), twice=True)


def _measure(folder: Path, number: int, random: Random) -> Iterator[str]:
    """A measurement is killed; `drift` refuses its rows unless all are there."""
    count = 3_000
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    body = f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\ndata: [DONE]\n\n"
    rows = ({"model": "m", "body": body, "date": f"2026-11-{1 + n % 20:02}"} for n in range(count))
    (folder / "logs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = Command(folder, number, "measure", "logs.jsonl", "-o", "m", "--no-samples")
    if random.random() < 0.1:
        command.wait_until(random.uniform(0.1, 0.8))
    else:
        command.wait_until(60, (folder / "m").exists)
        time.sleep(random.uniform(0.0, 1.5))
    yield from command.kill(random.choice(_SIGNALS))
    done = CliRunner().invoke(drift_command, [str(folder / "m")], standalone_mode=False)
    if done.return_value == 0 and require_complete(folder / "m").turns != count:
        yield f"drift is green over {require_complete(folder / 'm').turns} of {count} turns"


def _serve(folder: Path, number: int, random: Random) -> Iterator[str]:
    """A client reads slowly from a server that is interrupted twice."""
    cassette = bundled_folder("cassettes") / "dashscope" / "qwen-plus"
    path = next(iter(sorted(cassette.glob("*.yaml"))))
    command = Command(folder, number, "serve", str(path), "--delay", "2000")
    command.wait_until(60, lambda: bool(command.lines))

    def stream() -> None:
        with suppress(OSError, HTTPException):
            host = command.lines[0].removeprefix("http://")
            with closing(HTTPConnection(host, timeout=20)) as connection:
                connection.request("POST", _PATH, b'{"model":"m","messages":[]}')
                with connection.getresponse() as response:
                    response.read()

    client = Thread(target=stream, daemon=True)
    if command.lines:
        client.start()
    time.sleep(random.uniform(0.0, 0.3))
    yield from command.kill(random.choice((signal.SIGTERM, signal.SIGINT)), twice=True)


_KINDS: Final = (
    *(_proxy, _record, _imported, _run, _fuzz),
    *(_proxy, _run, _proxy, _stuck, _serve, _measure),
)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="kill-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def attempt(number: int) -> list[str]:
    """Kill one command; return what is wrong then."""
    kind = _KINDS[number % len(_KINDS)]
    with _folder() as folder:
        name, random = kind.__name__.strip("_"), Random(number)  # noqa: S311 - the same every time
        try:
            return [f"{name}: {problem}" for problem in kind(folder, number, random)]
        except Exception as error:  # noqa: BLE001 - one broken attempt must not end the attack
            return [f"{name}: {error!r}", *format_tb(error.__traceback__)]


ATTACK = Attack(attempt, full=1_000, part=4)
