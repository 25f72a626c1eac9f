"""This repository's own gate: `pytest` runs the unit tests and judges the bundled scenarios.

Hypothesis profiles, chosen by HYPOTHESIS_PROFILE: `fixed`, the default, always tries the same
examples, so that the tests of two clones agree. `search` and `deep` try random examples.
"""

import gc
import os
import shlex
import ssl
from collections.abc import Generator
from random import SystemRandom

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow now and then; time is never an assertion here.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# No property may try fewer: tests/test_layout.py checks it.
settings.register_profile("fixed", max_examples=25, derandomize=True, database=None, **_COMMON)
_RANDOM = {"database": None, "print_blob": True, **_COMMON}
settings.register_profile("search", max_examples=100, **_RANDOM)
settings.register_profile("deep", max_examples=2_000, **_RANDOM)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "fixed"
settings.load_profile(_PROFILE)


@pytest.hookimpl(tryfirst=True)  # Hypothesis and the processes of pytest-xdist take the seed later
def pytest_configure(config: pytest.Config) -> None:
    """Prepare this process and those that it starts, so that none does again what another did."""
    if _PROFILE != "fixed" and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SystemRandom().getrandbits(32))
    # Containers often forbid bytecode next to the code; some hundred processes would compile.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")
    # Where Hypothesis keeps what it reads of modules and Unicode; a fuzzing process that starts in
    # a folder of a test would read all of it again.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(config.rootpath / ".hypothesis"))
    is_controller = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    if not is_controller:  # which only hands out the tests
        # pytest rewrites the assertions of each package that has a plugin; this one has none.
        config.pluginmanager.rewrite_hook._must_rewrite.discard("harness")  # noqa: SLF001 - see above
        from tests.bytecode import compile_share  # noqa: PLC0415 - before any test is imported

        compile_share(config)


# Each client of httpx reads the certificates of all authorities, which takes longer than most
# tests; no test reaches a server that has one.
ssl.SSLContext.load_verify_locations = lambda *_args, **_options: None


# How many new objects there are at a collection of the youngest, and how many collections of a
# generation before one of the next.
_SELDOM = (5_000, 10, 100)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what collection makes from garbage collection, and collect seldom afterwards.

    Items and bundled files live as long as the process, and each full collection would visit
    some million objects in vain. So would it those that tests keep, such as the parsed bodies.
    `benchmarks` starts one before each measurement, and pytest some at the end, which show what
    was not closed.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*_SELDOM)
        gc.enable()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the commands that try the random examples of the failed tests again."""
    if _PROFILE == "fixed":
        return
    again = (
        f"HYPOTHESIS_PROFILE={_PROFILE} pytest --hypothesis-seed={config.option.hypothesis_seed}"
    )
    terminalreporter.write_line(f"the same examples again: {again} -m hypothesis")
    for report in terminalreporter.getreports("failed"):
        terminalreporter.write_line(f"{again} -n 0 -m '' {shlex.quote(report.nodeid)}")
