"""Kill a recorder and `measure` in forked processes, which cost less than the commands of `kills`.

A recorder that was killed is started again, and killed while it recovers. Each exchange that had
ended is then in the cassette once. `drift` is never green over a measurement that was killed,
also if an earlier one was complete.
"""

import atexit
import hashlib
import json
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory, mkdtemp
from threading import Thread
from typing import Final

from click.testing import CliRunner

from harness.cli.drift import drift_command
from harness.cli.measure import measure_command
from harness.errors import HarnessError
from harness.files.write import partial_path
from harness.measuring.finished import require_complete
from harness.recording.recorder import Recorder
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Request
from tests.attack.attack import Attack

_CLIENTS: Final = 3
_MOST_SECONDS: Final = 60
_FAILED: Final = "failed: "
_TURNS: Final = (120, 90)  # of the killed measurement, and of the one before it


def _killed(work: Callable[[int], None], seconds: float, lines: int = 0) -> list[str]:
    """Fork, kill the child after so many lines or seconds, and return its complete lines.

    The child also ends by itself if it has done its work.
    """
    output, given = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about the threads of pytest
        child = os.fork()
    if not child:
        os.close(output)
        os.setpgid(0, 0)
        try:
            work(given)
        finally:
            os._exit(0)
    os.close(given)
    os.setpgid(child, child)  # the child may not have come so far before it is killed
    with os.fdopen(output, encoding="utf-8") as stream:
        found = [line for _, line in zip(range(lines), stream, strict=False)]
        end = time.monotonic() + seconds
        while (
            time.monotonic() < end
            and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        ):
            time.sleep(0.0005)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found += stream
    return [line.strip() for line in found if line.endswith("\n")]


def _body(name: str) -> bytes:
    return f"data: {json.dumps({'text': name * 20})}\n\ndata: [DONE]\n\n".encode()


def _exchange(recorder: Recorder, name: str) -> None:
    headers = (("authorization", "Bearer a1b2c3d4e5f6-credential"),)
    response = recorder.record(Request("POST", f"http://localhost/{name}", headers, b"{}"))
    response.head(200, (("content-type", "text/event-stream"),))
    for byte in range(0, len(_body(name)), 16):
        response.add(_body(name)[byte : byte + 16])
    response.end("complete")


def _checkpoint(recorder: Recorder, given: int) -> None:
    try:
        recorder.checkpoint()
    except Exception as error:
        os.write(given, f"{_FAILED}{error!r}\n".encode())
        raise


def _record(path: Path, random: Random, round_: int) -> list[str]:
    """Kill a recorder of several clients, and return the names of the exchanges that ended."""
    saves, checkpoints = random.random() < 0.3, random.random() < 0.3
    count = random.randint(1, 12)

    def work(given: int) -> None:
        recorder = Recorder(path, mode=random.choice(("new_episodes", "all")), allow_in_ci=True)

        def stream(client: int) -> None:
            for n in range(count):
                name = f"{round_}.{client}.{n}"
                _exchange(recorder, name)
                os.write(given, f"{name}\n".encode())
                if checkpoints:
                    _checkpoint(recorder, given)

        clients = [Thread(target=stream, args=(n,)) for n in range(_CLIENTS)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
        if saves:
            recorder.save()

    return _killed(work, random.uniform(0, 0.02), random.randint(0, _CLIENTS * count))


def _recorded(folder: Path, random: Random) -> Iterator[str]:
    """Yield which exchanges are lost after one to three kills."""
    path = folder / "c.yaml"
    # The second and third also recover what the one before left.
    ended = [_record(path, random, round_) for round_ in range(random.randint(1, 3))]
    again = Recorder(path, mode="new_episodes", allow_in_ci=True)
    if again.damaged:  # only an unfinished line may be reported, and no complete exchange
        yield f"damaged: {again.damaged}"
    if partial_path(path).exists():
        yield f"the next start left {partial_path(path).name}"
    found: list[tuple[str, bytes]] = []
    for file in sorted(folder.glob("*.yaml")):
        interactions = load_cassette(file).interactions
        found += [(it.request.uri.rpartition("/")[2], it.body) for it in interactions]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        yield "an exchange is in the cassette twice"
    for name in (name for names in ended for name in names):
        if name.startswith(_FAILED):
            yield name
        elif (name, _body(name)) not in found:
            yield f"lost {name} of {sum(map(len, ended))}"


def _logs(path: Path, count: int) -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    body = f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\ndata: [DONE]\n\n"
    rows = ({"model": "m", "body": body, "date": f"2026-11-{1 + n % 20:02}"} for n in range(count))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _measure(logs: Path, folder: Path) -> None:
    arguments = [str(logs), "-o", str(folder), "-j", "1"]
    CliRunner().invoke(measure_command, arguments, standalone_mode=False)


@cache
def _earlier() -> tuple[Path, float]:
    """Return the folder of a complete measurement, and how long it took in a forked process."""
    place = Path(mkdtemp(prefix="forks-"))
    atexit.register(rmtree, place, ignore_errors=True)
    _logs(place / "logs.jsonl", _TURNS[1])
    started = time.monotonic()
    _killed(lambda _: _measure(place / "logs.jsonl", place / "m"), _MOST_SECONDS)
    return place / "m", time.monotonic() - started


def _measured(folder: Path, random: Random) -> Iterator[str]:
    """Yield whether `drift` accepts what a killed measurement left."""
    logs, output = folder / "logs.jsonl", folder / "m"
    earlier, seconds = _earlier()
    if random.random() < 0.5:
        copytree(earlier, output)
    before = _digests(output)
    _logs(logs, _TURNS[0])
    _killed(lambda _: _measure(logs, output), random.uniform(0, 1.2 * seconds))
    done = CliRunner().invoke(drift_command, [str(output)], standalone_mode=False)
    if not isinstance(done.exception, HarnessError | None):
        yield f"drift: {done.exception!r}"
    if done.exception is None and done.return_value == 0:
        turns = require_complete(output).turns
        # A measurement that had not yet begun left the earlier one as it was.
        if turns != _TURNS[0] and _digests(output) != before:
            yield f"drift is green over {turns} of {_TURNS[0]} turns"


def attempt(number: int) -> list[str]:
    """Kill one recorder or measurement; return what is wrong then."""
    kind = (_recorded, _measured)[number % 2]
    random = Random(number)  # noqa: S311 - the same every time
    with TemporaryDirectory(prefix="forks-", ignore_cleanup_errors=True) as place:
        try:
            return [f"{kind.__name__[1:]}: {it}" for it in kind(Path(place), random)]
        except HarnessError as error:
            return [f"{kind.__name__[1:]}: {error}"]


ATTACK = Attack(attempt, full=2_000, part=20, block=10)
