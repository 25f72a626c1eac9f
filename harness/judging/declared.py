"""What a strict reading expects, as far as the declared policies of a normalizer leave it.

A normalizer that says that it drops calls without a name is not asked to report them, and not
what a turn is without them. What an author expects stands as it is.
"""

from collections.abc import Mapping

import msgspec

from harness.judging.expectation import Expectation, Field

_OF_THE_END: frozenset[Field] = frozenset(("failure", "finish", "finish_raw"))


def as_declared(expectation: Expectation, policies: Mapping[str, str]) -> Expectation:
    """Return `expectation` without what a normalizer with `policies` does not undertake."""
    if expectation.source != "strict" or policies.get("nameless") != "drop":
        return expectation
    named = [each for each in expectation.rejected if each.name]
    if len(named) == len(expectation.rejected):
        return expectation
    judged = expectation.judged - {"rejected"}
    if not named and not expectation.calls and expectation.failure is None:
        judged -= _OF_THE_END
    return msgspec.structs.replace(expectation, judged=judged)
