"""A cassette from Python: normalized to turns, or judged, without the command line.

The functions behind `harness.normalize` and `harness.judge`. They write no file and apply no
gate; `harness run` and `harness.testing.conformance_suite` do.
"""

from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import Cuts
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.results.result import Result
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette
from harness.wire.cuts import UNSPLIT, Chunking, split


def normalize(
    cassette: Cassette, normalizer: Normalizer | str = "reference", *, cuts: Chunking = UNSPLIT
) -> tuple[Turn, ...]:
    """Return the turn that `normalizer` makes of each interaction of `cassette`.

    Args:
        cassette: as `harness.load_cassette` returns it.
        normalizer: a `Normalizer`, a name, or `module:callable`.
        cuts: byte offsets at which each body is split into reads; those outside a body do
            not count.

    Raises:
        UsageError: no normalizer has this name.
        Exception: whatever the normalizer raises; `judge` reports that as an outcome instead.
    """
    used = load_normalizer(normalizer) if isinstance(normalizer, str) else normalizer
    turns = []
    for each in cassette.interactions:
        inside = tuple(cut for cut in sorted(set(cuts)) if 0 < cut < len(each.body))
        turns.append(fold(used.normalize(each, split(each.body, inside))))
    return tuple(turns)


def judge(
    cassette: Cassette, normalizer: Normalizer | str = "reference", *, cuts: Cuts = "standard"
) -> Result:
    """Replay `cassette` through `normalizer` and judge its turns by the oracle.

    The interactions have no scenario here, so that the expected result is what the oracle
    reads in their bytes; what the bytes leave ambiguous is not judged.

    Args:
        cassette: as `harness.load_cassette` returns it.
        normalizer: a `Normalizer`, a name, or `module:callable`.
        cuts: which chunkings are replayed, as for `harness run --cuts`.

    Raises:
        UsageError: no normalizer has this name.
    """
    used = load_normalizer(normalizer) if isinstance(normalizer, str) else normalizer
    return judge_subject(LoadedSubject(cassette), used, cuts=cuts)[0]
