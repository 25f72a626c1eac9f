"""This repository's own gate: `pytest` runs the unit tests and judges what ships.

Hypothesis profiles: `dev` by default, `ci` (derandomised, bounded) where CI is set, `deep` by
HYPOTHESIS_PROFILE=deep.
"""

import gc
import os
import ssl
from collections.abc import Generator
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow now and then; time is never an assertion here.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=6, **_COMMON)
settings.register_profile("ci", max_examples=6, derandomize=True, database=None, **_COMMON)
settings.register_profile("deep", max_examples=2_000, **_COMMON)
_DEFAULT = "ci" if "CI" in os.environ else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _DEFAULT)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare this process and those that it starts, so that none does again what another did."""
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
        import tests.bundled_once  # noqa: F401, PLC0415 - before any test is imported
        from tests.bytecode import compile_share  # noqa: PLC0415 - as above

        compile_share(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Judge a client that reads some text dialects only where it is not the same as `reference`.

    Of the scenarios with many texts, one in three is judged. `harness run` and `harness doctor`
    judge all cells, and so does the deep profile.
    """
    from harness.normalizers import discovery  # noqa: PLC0415 - as above
    from harness.runs.load import load_subject  # noqa: PLC0415 - as above
    from harness.testing.items import CellItem  # noqa: PLC0415 - as above
    from tests.judging.judging_samples import (  # noqa: PLC0415
        IS_DEEP,
        is_left_out,
        reads_more_than_reference,
    )

    load_normalizer = cache(discovery.load_normalizer)
    same: list[pytest.Item] = []
    is_asked = IS_DEEP or config.getoption("--harness-normalizer")
    for item in () if is_asked else items:
        if isinstance(item, CellItem) and not item.job.subject.conversation:
            client = load_normalizer(item.job.normalizer)
            subject = load_subject(item.job.subject)
            if not reads_more_than_reference(client, subject) or is_left_out(subject):
                same.append(item)
    if same:
        config.hook.pytest_deselected(items=same)
        left_out = set(same)
        items[:] = [item for item in items if item not in left_out]


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
