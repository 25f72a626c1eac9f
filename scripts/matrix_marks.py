"""The marks of docs/matrix.md at rows that are older than their scenarios or their adapter.

`python -m scripts.matrix_marks` writes them without running a library. A test compares them.
"""

from pathlib import Path

from harness.peers.inputs import current_digests, mark_older

_PATH = Path(__file__).parents[1] / "docs" / "matrix.md"


if __name__ == "__main__":
    page = _PATH.read_text(encoding="utf-8")
    _PATH.write_text(mark_older(page, current_digests()), encoding="utf-8")
