"""This repository's own gate: `pytest` runs the unit tests and judges what ships.

Hypothesis profiles: `dev` by default, `ci` (derandomised, bounded) where CI is set, `deep` by
HYPOTHESIS_PROFILE=deep.
"""

import os
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow now and then; time is never an assertion here.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=25, **_COMMON)
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, **_COMMON)
settings.register_profile("deep", max_examples=2_000, **_COMMON)
_DEFAULT = "ci" if "CI" in os.environ else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _DEFAULT)


def pytest_configure(config: pytest.Config) -> None:
    """Compile once for all processes of the tests, where nothing may be kept beside the code.

    Containers often forbid that, and then each of some hundred processes would compile anew.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept = TemporaryDirectory(prefix="harness-bytecode-", ignore_cleanup_errors=True)
        config.add_cleanup(kept.cleanup)
        os.environ["PYTHONPYCACHEPREFIX"] = kept.name
