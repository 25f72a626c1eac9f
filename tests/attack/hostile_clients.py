"""Source of clients that attack the harness: each is a module with `normalize`.

`HARMLESS` leave something behind and read the stream right; `FAILING` must fail their cells;
`UNLOADABLE` cannot be imported. Those of `SLOW` are ended by the watchdog, after a minute.
`EITHER`, of other modules, may read it right or fail.
"""

from typing import Final

from tests.attack.hostile_source import HEAD, SLEEP, at_import, before

HARMLESS: Final = {
    "leaves-a-thread": before("threading.Thread(target=time.sleep, args=(3600,)).start()"),
    "leaves-a-fork": before("if not os.fork(): time.sleep(3600)"),
    "leaves-a-daemon": before(
        "if not os.fork():",
        "    os.setsid()",
        "    if not os.fork(): time.sleep(3600)",
        "    os._exit(0)",
    ),
    "leaves-a-process": before(f"subprocess.Popen({SLEEP})"),
    "leaves-a-session": before(f"subprocess.Popen({SLEEP}, start_new_session=True)"),
    "leaves-a-process-at-import": at_import(f"subprocess.Popen({SLEEP}, start_new_session=True)"),
    "sleeps-at-exit": at_import("atexit.register(time.sleep, 3600)"),
    "prints": before(
        "print('HOSTILE', flush=True)", "os.write(1, b'HOSTILE')", "os.system('echo HOSTILE')"
    ),
    "prints-at-import": at_import("print('HOSTILE', flush=True); os.write(1, b'HOSTILE')"),
    "logs": before("logging.basicConfig(force=True, stream=sys.stdout); logging.error('HOSTILE')"),
    "prints-much": before("os.write(1, b'HOSTILE ' * 5_000_000)"),
    "closes-the-standard-streams": before(
        "for each in (0, 1, 2):", "    try: os.close(each)", "    except OSError: pass"
    ),
    "has-no-standard-output": before("sys.stdout = sys.stderr = None"),
    "reads-the-standard-input": before("sys.stdin.read()"),
    "changes-the-folder": before("os.chdir('/')"),
    "clears-the-environment": before("os.environ.clear()"),
    "clears-the-path": before("sys.path.clear()"),
    "stops-the-timer": before("signal.setitimer(signal.ITIMER_REAL, 0)"),
    "stops-the-watchdog": before("faulthandler.cancel_dump_traceback_later()"),
    "disables-the-garbage-collection": before("gc.disable()"),
}
FAILING: Final = {
    "exits-with-0": before("os._exit(0)"),
    "exits-with-1": before("os._exit(1)"),
    "raises-system-exit": before("sys.exit(0)"),
    "raises-keyboard-interrupt": before("raise KeyboardInterrupt"),
    "raises-generator-exit": before("raise GeneratorExit"),
    "raises-memory-error": before("raise MemoryError"),
    "raises-without-text": before(
        "class Odd(Exception):", "    def __str__(self): raise self", "raise Odd"
    ),
    "raises-what-cannot-be-pickled": before(
        "class Odd(Exception):", "    def __reduce__(self): raise self", "raise Odd('HOSTILE')"
    ),
    "kills-itself": before("os.kill(os.getpid(), signal.SIGKILL)"),
    "terminates-itself": before("os.kill(os.getpid(), signal.SIGTERM)"),
    "aborts": before("os.abort()"),
    "has-a-segmentation-fault": before("ctypes.string_at(0)"),
    "recurses": before("return normalize(interaction, reads)"),
    "uses-all-memory": before("kept = []", "while True: kept.append(bytes(1 << 30))"),
    "breaks-the-modules": before("sys.modules.clear(); import re"),
    "breaks-the-builtins": before("import builtins; builtins.len = builtins.isinstance = None"),
    "loops": before("while True: pass"),
    "loops-and-catches-all": before(
        "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
    ),
    "sleeps": before("time.sleep(3600)"),
    "gives-no-deltas": f"{HEAD}def normalize(interaction, reads):\n    return iter(())\n",
    "gives-deltas-without-end": f"{HEAD}def normalize(interaction, reads):\n"
    "    from harness.turns.deltas import TextDelta\n    while True: yield TextDelta('x')\n",
    "gives-odd-objects": f"{HEAD}def normalize(interaction, reads):\n    yield object()\n",
    "gives-nothing": f"{HEAD}def normalize(interaction, reads):\n    return None\n",
}
SLOW: Final = {
    "loops-in-c": before("collections.deque(itertools.count(), maxlen=0)"),
    "ignores-the-deadline": before(
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)", "time.sleep(3600)"
    ),
    "blocks-all-signals": before(
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())", "time.sleep(3600)"
    ),
    "waits-for-itself": before("threading.Lock().acquire() and _lock.acquire()")
    + "\n_lock = threading.Lock(); _lock.acquire()\n",
}
UNLOADABLE: Final = {
    "exits-at-import": at_import("os._exit(0)"),
    "raises-system-exit-at-import": at_import("sys.exit(0)"),
    "raises-at-import": at_import("raise ValueError('HOSTILE')"),
    "kills-itself-at-import": at_import("os.kill(os.getpid(), signal.SIGKILL)"),
    "has-no-syntax": "def normalize(:\n",
    "has-no-function": "normalise = None\n",
}
SLOW_AT_IMPORT: Final = {"sleeps-at-import": at_import("time.sleep(3600)")}
