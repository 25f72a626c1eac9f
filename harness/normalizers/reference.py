"""`reference`: each dialect's own reader with its default policies, and nothing else.

What the suite itself believes a stream to mean; judged like every other normalizer.
"""

from harness.dialects.table import DIALECTS
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import respond

normalizer = Normalizer(
    name="reference",
    normalize=respond,
    dialects=frozenset(DIALECTS),
    capabilities=frozenset(CAPABILITIES),
    summary="the suite's own reader: every catalogued quirk of each dialect, default policies",
    policies={
        "names": "by-tools",
        "arguments": "auto",
        "nameless": "reject",
        "unfinished_event": "use",
        "done_without_finish": "finished",
    },
)
