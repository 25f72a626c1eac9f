"""Normalize or judge a cassette from Python, without the command line.

These are the functions `harness.normalize` and `harness.judge`. They write no file and apply no
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
    """Return one turn for each interaction of `cassette`, as `normalizer` reads the interaction.

    Args:
        cassette: the cassette, for example from `harness.load_cassette`.
        normalizer: a `Normalizer`, a name, or `module:callable`.
        cuts: byte offsets at which each body is split into reads. Offsets outside a body are
            ignored.

    Raises:
        UsageError: no normalizer has this name.
        Exception: any exception of the normalizer; `judge` reports it as an outcome instead.
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

    Without a scenario, the expected result is what the oracle reads in the bytes. Parts of the
    bytes that are ambiguous are not judged.

    Args:
        cassette: the cassette, for example from `harness.load_cassette`.
        normalizer: a `Normalizer`, a name, or `module:callable`.
        cuts: the mode of the chunkings to replay, as in `harness run --cuts`.

    Raises:
        UsageError: no normalizer has this name.
    """
    used = load_normalizer(normalizer) if isinstance(normalizer, str) else normalizer
    return judge_subject(LoadedSubject(cassette), used, cuts=cuts)[0]
