"""Workers for the tests of the executors: a job's normalizer says how it behaves.

Run as a script, it executes jobs in parallel and prints what came of them.
"""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from harness.errors import StreamError, UnreadableError
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import UnreadableFile
from harness.runs.execute import Judged, execute
from harness.runs.plan import Job, Subject, plan
from harness.workers import process_limits
from tests.runs.runs_samples import a_case, a_result

# A process that a client starts: it holds the named pipe open for as long as it lives.
LEFT_RUNNING = """
import sys, time
pipe = open(sys.argv[1], "w")
print(flush=True)
time.sleep(60)
"""
RAISED: dict[str, BaseException] = {
    "broken-cassette": UnreadableError("damaged", where="c.yaml", hint="Mend it."),
    "broken-stream": StreamError("too long", offset=7),
    "bug": KeyError("bug"),
    "exits": SystemExit(0),
    "interrupts": KeyboardInterrupt(),
}
SLEEPS: dict[str, float] = {"slow": 0.02, "slower": 0.05, "stuck": 60}


def _no_memory(*_: object, **__: object) -> None:
    raise MemoryError


def _misbehave(job: Job) -> None:
    match job.normalizer:
        case "unstoppable":
            process_limits.GRACE_SECONDS = process_limits._RENEWED_AFTER = 0.1  # type: ignore[misc]
            process_limits._WORK_SECONDS = 0.1  # type: ignore[misc]
            process_limits.watch(lambda _seconds: None)
            deque(itertools.count(), maxlen=0)  # a loop in C that no signal handler interrupts
        case "starts-a-thread":
            threading.Thread(target=time.sleep, args=(3_600,)).start()
        case "cannot-send-its-result":
            threading.Thread(target=time.sleep, args=(3_600,)).start()
            Connection.send_bytes = _no_memory  # type: ignore[method-assign]
        case "stops-itself":
            process_limits.GRACE_SECONDS = process_limits._RENEWED_AFTER = 0.1  # type: ignore[misc]
            process_limits._end = 0.0
            process_limits.renew(0.0)
            os.kill(os.getpid(), signal.SIGSTOP)
        case name if name.startswith("starts-a-process"):
            process = subprocess.Popen(
                [sys.executable, "-c", LEFT_RUNNING, job.subject.roots[0]],
                stdout=subprocess.PIPE,
                start_new_session="session" in job.normalizer,
            )
            assert process.stdout is not None
            process.stdout.readline()  # it has opened the pipe
            if name.endswith("and-ends"):
                os._exit(0)
        case "prints":
            print("print of the client", flush=True)  # noqa: T201 - as a client may
            os.write(1, b"write of the client\n")
            subprocess.run(["echo", "process of the client"], check=True)  # noqa: S607 - of the system
        case "prints-much":
            os.write(1, b"first" + b"-" * 100_000 + b"last")


def _is_first(job: Job) -> bool:
    """Return whether the job was not tried before."""
    marker = Path(job.subject.roots[0]) / job.subject.path
    seen = marker.exists()
    marker.touch()
    return not seen


def _result(job: Job) -> Result:
    hangs = job.normalizer == "hangs" or (job.normalizer == "hangs-once" and _is_first(job))
    title = str(os.getpid()) if job.normalizer.startswith("process-id") else ""
    found = a_result(
        job.subject.path, job.normalizer, outcome=Outcome.HANG if hangs else Outcome.PASS
    )
    return msgspec.structs.replace(found, title=title or found.title)


def worker(job: Job) -> Judged:
    """Behave as the job's normalizer is called."""
    match job.normalizer:
        case "dies-if-supported" if int(job.subject.path[1:]) % 3 == 1:
            found = a_result(job.subject.path, job.normalizer, outcome=Outcome.UNSUPPORTED)
            return found, None
        case "dies" | "dies-if-supported":
            os.write(2, b"before the end of the client\n")
            os._exit(3)
        case "keeps-a-pipe":
            os.open(os.environ["HARNESS_TEST_PIPE"], os.O_WRONLY)
            time.sleep(60)
        case "uses-up-memory":
            bytearray(5 << 30)
        case "dies-once":
            if _is_first(job):
                os.kill(os.getpid(), signal.SIGKILL)
        case name if name in SLEEPS:
            time.sleep(SLEEPS[name])
        case name if name in RAISED:
            raise RAISED[name]
    _misbehave(job)
    return _read(job)


def _read(job: Job) -> Judged:
    if job.normalizer == "cannot-read-once" and _is_first(job):
        return UnreadableFile(job.subject.path, "it cannot be read")
    result = _result(job)
    return result, a_case(result.cell) if job.normalizer == "with-case" else None


def crashed(job: Job, reason: str) -> Result:
    """Return the result of a job that took its process with it."""
    result = a_result(job.subject.path, job.normalizer, outcome=Outcome.CRASH)
    return msgspec.structs.replace(result, title=reason)


def a_plan(count: int, *normalizers: str, root: str = "") -> tuple[Job, ...]:
    """Return a plan of `count` subjects."""
    return plan(
        (Subject("scenario", f"s{i:03}", (root,)) for i in range(count)), normalizers or ("fine",)
    )


def announce(done: int, _total: int) -> None:
    """Tell the test that the execution has come as far as it waits for."""
    if done == int(sys.argv[3]):
        print("going", flush=True)  # noqa: T201 - the test reads it


def main() -> None:
    """Execute jobs named by argv until SIGINT, then print done, results, and the flag."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    handed: list[str] = []
    progress = execute(
        a_plan(2000, sys.argv[1]),
        worker,
        jobs_in_parallel=int(sys.argv[2]),
        on_result=lambda result, _case, _output: handed.append(result.cell),
        on_progress=announce,
        crashed=crashed,
    )
    print(progress.done, len(set(handed)), progress.total, progress.interrupted)  # noqa: T201 - as above; four words


if __name__ == "__main__":
    main()
