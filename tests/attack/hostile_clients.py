"""Source of clients that attack the harness: each is a module with `normalize`.

`HARMLESS` leave something behind and read the stream right; `FAILING` must fail their cells;
`UNLOADABLE` cannot be imported. Those of `SLOW` are ended by the watchdog, after a minute.
"""

from typing import Final

_HEAD: Final = """
import atexit, collections, ctypes, faulthandler, gc, itertools, logging, os, signal
import subprocess, sys, threading, time
from harness.normalizers.reference import normalizer as right

def read(interaction, reads):
    return right.normalize(interaction, reads)

"""


def _before(*lines: str) -> str:
    """Return a client that runs `lines` and reads the stream right."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{_HEAD}def normalize(interaction, reads):\n{body}    return read(interaction, reads)\n"


def _at_import(*lines: str) -> str:
    return _HEAD + "\n".join((*lines, "normalize = read", ""))


_SLEEP: Final = "[sys.executable, '-c', 'import time; time.sleep(3600)']"

HARMLESS: Final = {
    "leaves-a-thread": _before("threading.Thread(target=time.sleep, args=(3600,)).start()"),
    "leaves-a-fork": _before("if not os.fork(): time.sleep(3600)"),
    "leaves-a-daemon": _before(
        "if not os.fork():",
        "    os.setsid()",
        "    if not os.fork(): time.sleep(3600)",
        "    os._exit(0)",
    ),
    "leaves-a-process": _before(f"subprocess.Popen({_SLEEP})"),
    "leaves-a-session": _before(f"subprocess.Popen({_SLEEP}, start_new_session=True)"),
    "leaves-a-process-at-import": _at_import(f"subprocess.Popen({_SLEEP}, start_new_session=True)"),
    "sleeps-at-exit": _at_import("atexit.register(time.sleep, 3600)"),
    "prints": _before(
        "print('HOSTILE', flush=True)", "os.write(1, b'HOSTILE')", "os.system('echo HOSTILE')"
    ),
    "prints-at-import": _at_import("print('HOSTILE', flush=True); os.write(1, b'HOSTILE')"),
    "logs": _before("logging.basicConfig(force=True, stream=sys.stdout); logging.error('HOSTILE')"),
    "prints-much": _before("os.write(1, b'HOSTILE ' * 5_000_000)"),
    "closes-the-standard-streams": _before(
        "for each in (0, 1, 2):", "    try: os.close(each)", "    except OSError: pass"
    ),
    "has-no-standard-output": _before("sys.stdout = sys.stderr = None"),
    "reads-the-standard-input": _before("sys.stdin.read()"),
    "changes-the-folder": _before("os.chdir('/')"),
    "clears-the-environment": _before("os.environ.clear()"),
    "clears-the-path": _before("sys.path.clear()"),
    "stops-the-timer": _before("signal.setitimer(signal.ITIMER_REAL, 0)"),
    "stops-the-watchdog": _before("faulthandler.cancel_dump_traceback_later()"),
    "disables-the-garbage-collection": _before("gc.disable()"),
}
FAILING: Final = {
    "exits-with-0": _before("os._exit(0)"),
    "exits-with-1": _before("os._exit(1)"),
    "raises-system-exit": _before("sys.exit(0)"),
    "raises-keyboard-interrupt": _before("raise KeyboardInterrupt"),
    "raises-generator-exit": _before("raise GeneratorExit"),
    "raises-memory-error": _before("raise MemoryError"),
    "raises-without-text": _before(
        "class Odd(Exception):", "    def __str__(self): raise self", "raise Odd"
    ),
    "raises-what-cannot-be-pickled": _before(
        "class Odd(Exception):", "    def __reduce__(self): raise self", "raise Odd('HOSTILE')"
    ),
    "kills-itself": _before("os.kill(os.getpid(), signal.SIGKILL)"),
    "terminates-itself": _before("os.kill(os.getpid(), signal.SIGTERM)"),
    "aborts": _before("os.abort()"),
    "has-a-segmentation-fault": _before("ctypes.string_at(0)"),
    "recurses": _before("return normalize(interaction, reads)"),
    "uses-all-memory": _before("kept = []", "while True: kept.append(bytearray(1 << 30))"),
    "breaks-the-modules": _before("sys.modules.clear(); import re"),
    "breaks-the-builtins": _before("import builtins; builtins.len = builtins.isinstance = None"),
    "loops": _before("while True: pass"),
    "loops-and-catches-all": _before(
        "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
    ),
    "sleeps": _before("time.sleep(3600)"),
    "gives-no-deltas": f"{_HEAD}def normalize(interaction, reads):\n    return iter(())\n",
    "gives-deltas-without-end": f"{_HEAD}def normalize(interaction, reads):\n"
    "    from harness.turns.deltas import TextDelta\n    while True: yield TextDelta('x')\n",
    "gives-odd-objects": f"{_HEAD}def normalize(interaction, reads):\n    yield object()\n",
    "gives-nothing": f"{_HEAD}def normalize(interaction, reads):\n    return None\n",
}
SLOW: Final = {
    "loops-in-c": _before("collections.deque(itertools.count(), maxlen=0)"),
    "ignores-the-deadline": _before(
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)", "time.sleep(3600)"
    ),
    "blocks-all-signals": _before(
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())", "time.sleep(3600)"
    ),
    "waits-for-itself": _before("threading.Lock().acquire() and _lock.acquire()")
    + "\n_lock = threading.Lock(); _lock.acquire()\n",
}
UNLOADABLE: Final = {
    "exits-at-import": _at_import("os._exit(0)"),
    "raises-system-exit-at-import": _at_import("sys.exit(0)"),
    "raises-at-import": _at_import("raise ValueError('HOSTILE')"),
    "kills-itself-at-import": _at_import("os.kill(os.getpid(), signal.SIGKILL)"),
    "has-no-syntax": "def normalize(:\n",
    "has-no-function": "normalise = None\n",
}
SLOW_AT_IMPORT: Final = {"sleeps-at-import": _at_import("time.sleep(3600)")}
