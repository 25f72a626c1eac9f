"""Clients that attack the interpreter that they share with the harness; sets as before.

Those of `FORGING` change how their own cells are judged, which no process can prevent that runs
the code of both: the cells of the other client must be right.
"""

from typing import Final

from tests.attack.hostile_source import after, at_import, before, module

_ODD_STREAM: Final = """
class Odd:
    def write(self, text): raise OSError('HOSTILE')
    def flush(self): {flush}
    def __getattr__(self, name): raise ValueError('HOSTILE')

def normalize(interaction, reads):
    sys.stdout = sys.stderr = Odd()
    return read(interaction, reads)
"""
_SENDS_A_PICKLE: Final = """
from harness.workers.batch import RESULTS

class Exit:
    def __reduce__(self): return os._exit, (0,)

def normalize(interaction, reads):
    for each in gc.get_objects():
        if isinstance(each, multiprocessing.connection.Connection):
            try: each.send_bytes(RESULTS + bytes(8) + pickle.dumps(Exit()))
            except (OSError, ValueError): pass
    return read(interaction, reads)
"""

HARMLESS: Final = {
    "has-an-odd-standard-output": module(_ODD_STREAM.format(flush="raise KeyboardInterrupt")),
    "stops-the-clock": before("time.monotonic = time.time = time.perf_counter = lambda: 0.0"),
    "breaks-the-exit": before("os._exit = sys.exit = os.abort = fails"),
    "breaks-the-subprocesses": before("subprocess.Popen = os.fork = os.kill = os.killpg = fails"),
    "has-hooks-that-hang": before(
        "sys.excepthook = threading.excepthook = hangs", "threading.Thread(target=fails).start()"
    ),
    "exits-with-0-at-exit": at_import("atexit.register(os._exit, 0)"),
    "has-a-finalizer-that-hangs": at_import(
        "import multiprocessing.util",
        "multiprocessing.util.Finalize(None, hangs, exitpriority=1000)",
    ),
    "raises-in-a-destructor": before(
        "class Odd:", "    def __del__(self): fails()", "odd = Odd(); del odd"
    ),
    "leaves-a-running-loop": before("asyncio._set_running_loop(asyncio.new_event_loop())"),
    "makes-warnings-errors": before("warnings.simplefilter('error')"),
    "changes-the-numbers": before(
        "decimal.getcontext().prec = 1", "sys.set_int_max_str_digits(640)"
    ),
}
FAILING: Final = {
    "recurses-in-c": before(
        "sys.setrecursionlimit(1 << 30)",
        "nested = []",
        "for each in range(1_000_000): nested = [nested]",
        "repr(nested)",
    ),
    "breaks-the-pickles": before(
        "import multiprocessing.reduction",
        "multiprocessing.reduction.ForkingPickler.dumps = pickle.dumps = pickle.Pickler = fails",
        "import pickle as module; module._dumps = fails",
    ),
    "exits-in-a-hook": before(
        "sys.unraisablehook = lambda problem: os._exit(0)",
        "class Odd:",
        "    def __del__(self): fails()",
        "odd = Odd(); del odd",
    ),
    "needs-a-missing-library": before("ctypes.CDLL('libhostile.so')"),
}
EITHER: Final = {
    "sends-a-pickle": module(_SENDS_A_PICKLE),
    "breaks-the-standard-modules": before("json.dumps = json.loads = json.JSONDecoder = fails"),
    "breaks-the-system-calls": before("os.write = os.read = os.dup2 = os.ftruncate = fails"),
    "breaks-open": before("builtins.open = os.open = os.stat = fails"),
    "breaks-the-signals": before("signal.signal = signal.setitimer = signal.getitimer = fails"),
    "breaks-the-threads": before("threading.Thread.start = threading.get_ident = fails"),
    "breaks-msgspec": after(
        "import msgspec", "msgspec.structs.replace = msgspec.json.encode = fails"
    ),
    "lowers-the-recursion-limit": after(
        "depth = 0",
        "frame = sys._getframe()",
        "while frame: depth, frame = depth + 1, frame.f_back",
        "sys.setrecursionlimit(depth + 4)",
    ),
    "traces-with-errors": before("sys.settrace(fails)"),
    "profiles-with-exits": before("sys.setprofile(lambda *arguments: sys.exit(0))"),
    "calls-the-deadline": after(
        "from harness.judging.replaying import DeadlineExceeded", "raise DeadlineExceeded"
    ),
    "holds-the-import-lock": before(
        "import _imp",
        "def hold():",
        "    _imp.acquire_lock(); time.sleep(3600)",
        "threading.Thread(target=hold, daemon=True).start()",
    ),
    "stops-the-batch": before(
        "from harness.runs import interruption", "interruption.stop_if(lambda: True)"
    ),
    # It hangs only if there is a collection.
    "hangs-in-the-garbage-collection": before("gc.callbacks.append(hangs)"),
    "has-no-harness-in-the-modules": before("sys.modules['harness'] = None"),
    "closes-its-connections": before(
        "for each in gc.get_objects():",
        "    if isinstance(each, multiprocessing.connection.Connection): each.close()",
    ),
}
FORGING: Final = {
    "removes-the-rules": before("from harness.judging.rules import RULES", "RULES.clear()"),
    "changes-the-fold": before(
        "from harness.turns.fold import Folder", "Folder.add = lambda *arguments: None"
    ),
    "changes-the-judge": before(
        "from harness.runs import judge_job",
        "from harness.judging import judge, examine",
        "examine.examine = judge.examine = judge_job.judge_subject = fails",
    ),
}
SLOW: Final = {
    "holds-the-way-to-the-parent": before(
        "for each in gc.get_objects():",
        "    if type(each).__name__ == '_ToParent': each._lock.acquire()",
    ),
    "hangs-in-the-flush": module(_ODD_STREAM.format(flush="hangs()")),
    "swallows-its-results": before(
        "multiprocessing.connection.Connection.send_bytes = lambda *arguments: None",
        "multiprocessing.connection.Connection._send_bytes = lambda *arguments: None",
    ),
    "breaks-the-watchdog-and-loops": before(
        "faulthandler.dump_traceback_later = lambda *arguments, **options: None",
        "faulthandler.cancel_dump_traceback_later()",
        "signal.setitimer(signal.ITIMER_REAL, 0)",
        "collections.deque(itertools.count(), maxlen=0)",
    ),
}
