"""The smoke cases are answers as servers send them, so that no library fails them over a number."""

from pathlib import Path

from harness.dialects.table import DIALECTS
from harness.normalizers.reference import normalizer
from harness.peers.smoke import write_smoke_cases
from harness.turns.deltas import Usage
from harness.turns.fold import fold
from harness.wire.cassette_file import load_cassette


def test_each_smoke_case_is_a_complete_answer_with_counts(tmp_path: Path) -> None:
    counts = {}
    for path in write_smoke_cases(DIALECTS, tmp_path):
        (answer,) = load_cassette(path).interactions
        turn = fold(normalizer.normalize(answer, iter([answer.body])))
        counts[path.stem] = turn.usage
        assert turn.failure is None, path.stem
    assert counts == dict.fromkeys(counts, Usage(52, 14))
    assert counts.keys() >= {f"{dialect}-text" for dialect in DIALECTS}
