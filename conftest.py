"""This repository's own gate: `pytest` runs the unit tests and judges what ships.

Hypothesis profiles: `dev` by default, `ci` (derandomised, bounded) where CI is set, `deep` by
HYPOTHESIS_PROFILE=deep.
"""

import os

from hypothesis import HealthCheck, settings

# A loaded machine is slow now and then; time is never an assertion here.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=25, **_COMMON)
settings.register_profile("ci", max_examples=30, derandomize=True, database=None, **_COMMON)
settings.register_profile("deep", max_examples=2_000, **_COMMON)
_DEFAULT = "ci" if "CI" in os.environ else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _DEFAULT)
