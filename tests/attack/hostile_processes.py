"""Clients that attack through the system: processes, signals, descriptors, limits and files.

The sets are those of `hostile_clients`, and `ENDING`: these end the command, as any process of the
same user can. It must not end with 0 then, and what it leaves must be complete.
"""

from typing import Final

from tests.attack.hostile_source import SLEEP, before, once

HARMLESS: Final = {
    "forks-in-a-loop": once(
        "for each in range(40):", "    if not os.fork(): time.sleep(3600); os._exit(0)"
    ),
    "leaves-zombies": once("for each in range(40):", "    if not os.fork(): os._exit(0)"),
    "disowns-its-orphans": once(
        "libc.prctl(36, 0, 0, 0, 0)",  # PR_SET_CHILD_SUBREAPER
        "subprocess.run(['sh', '-c', 'setsid sleep 3600 >/dev/null 2>&1 &'])",
    ),
    "leaves-its-group": before("os.setpgid(0, os.getpgid(os.getppid()))"),
    "kills-what-guards-it": once(
        "for each in pathlib.Path('/proc').glob('[0-9]*/stat'):",
        "    if each.read_text().rpartition(')')[2].split()[1] == str(os.getpid()):",
        "        os.kill(int(each.parent.name), signal.SIGKILL)",
    ),
    "ignores-all-signals": before(
        "for each in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:",
        "    try: signal.signal(each, signal.SIG_IGN)",
        "    except (OSError, ValueError): pass",
    ),
    "is-nice": once("os.nice(19)"),
    "changes-the-umask": before("os.umask(0o777)"),
    "fills-the-temporary-folder": once(
        "with tempfile.NamedTemporaryFile(delete=False) as file:",
        "    for each in range(200): file.write(bytes(1 << 20))",
    ),
    "poisons-the-environment": before(
        "os.environ.update(PYTHONHOME='/nowhere', PYTHONPATH='/nowhere', PYTHONMALLOC='HOSTILE')",
        "os.environ.update(LD_PRELOAD='/nowhere.so', TMPDIR='/nowhere', PATH='', HOME='/nowhere')",
    ),
    "floods-the-output-from-a-thread": once(
        "def flood():",
        "    while True: os.write(1, b'HOSTILE ' * 8192)",
        "threading.Thread(target=flood, daemon=True).start()",
    ),
    "pauses-the-command": once(
        "os.kill(command(), signal.SIGSTOP)",
        "time.sleep(0.5)",
        "os.kill(command(), signal.SIGCONT)",
    ),
}
FAILING: Final = {
    "leaves-a-bare-session-and-exits": before(
        "if not os.fork():",
        "    os.setsid()",
        f"    os.execve(sys.executable, {SLEEP}, {{}})",
        "time.sleep(0.1)",
        "os._exit(0)",
    ),
    "closes-all-descriptors": before("os.closerange(3, 256)"),
    "kills-its-group": before("os.killpg(0, signal.SIGKILL)"),
    "kills-its-server": before("os.kill(server, signal.SIGKILL)"),
    "leaves-a-session-and-kills-its-server": before(
        f"subprocess.Popen({SLEEP}, start_new_session=True)",
        "os.kill(server, signal.SIGKILL)",
    ),
    "allows-itself-no-files-over-0": before(
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
        "os.write(1, b'HOSTILE')",
        "time.sleep(3600)",
    ),
    "allows-itself-no-cpu": before(
        "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))", "while True: pass"
    ),
    "becomes-another-program": before(f"os.execv(sys.executable, {SLEEP})"),
}
EITHER: Final = {
    "forks-and-reads-in-both": once("os.fork()"),
    "writes-rubbish-to-descriptors": once(
        "for each in range(3, 64):",
        "    try:",
        "        os.set_blocking(each, False)",
        "        os.write(each, b'HOSTILE' * 9)",
        "    except OSError: pass",
    ),
    "reads-all-descriptors": once(
        "for each in range(3, 64):",
        "    try:",
        "        os.set_blocking(each, False)",
        "        os.read(each, 1 << 20)",
        "    except OSError: pass",
    ),
    "allows-itself-no-open-files": before("resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"),
    "allows-itself-no-memory": before("resource.setrlimit(resource.RLIMIT_AS, (0, 0))"),
    "deletes-the-working-folder": once(
        "for each in list(pathlib.Path('.').rglob('*')):",
        "    if each.is_file() and each.suffix != '.py': each.unlink()",
    ),
    "handles-the-alarm": before(
        "signal.signal(signal.SIGALRM, fails)",
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)",
    ),
    "deletes-the-other-output": once(
        "import shutil",
        "for each in pathlib.Path(tempfile.gettempdir()).glob('harness-*'): shutil.rmtree(each)",
    ),
}
SLOW: Final = {
    "stops-itself": before("os.kill(os.getpid(), signal.SIGSTOP)"),
    "stops-its-group": before("os.killpg(0, signal.SIGSTOP)"),
    "is-traced": before("libc.ptrace(0, 0, 0, 0)", "os.kill(os.getpid(), signal.SIGUSR1)"),
}
ENDING: Final = {
    "interrupts-the-command": before("os.kill(command(), signal.SIGINT)"),
    "terminates-the-command": before("os.kill(command(), signal.SIGTERM)"),
    "interrupts-the-command-twice": before(
        "os.kill(command(), signal.SIGINT)", "time.sleep(0.2)", "os.kill(command(), signal.SIGINT)"
    ),
    "hangs-up-the-command": before("os.kill(command(), signal.SIGHUP)", "time.sleep(3600)"),
    "kills-the-command": before("os.kill(command(), signal.SIGKILL)", "time.sleep(3600)"),
    "kills-the-command-and-leaves-a-session": before(
        f"subprocess.Popen({SLEEP}, start_new_session=True)",
        "os.kill(command(), signal.SIGKILL)",
        "time.sleep(3600)",
    ),
    "terminates-the-group-of-the-command": before(
        "os.killpg(os.getpgid(command()), signal.SIGTERM)"
    ),
    "kills-the-group-of-the-command": before(
        "os.killpg(os.getpgid(command()), signal.SIGKILL)", "time.sleep(3600)"
    ),
    "interrupts-the-command-at-import": before("pass").replace(
        "times =", "os.kill(command(), signal.SIGINT); time.sleep(1)\ntimes ="
    ),
}
