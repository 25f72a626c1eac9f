"""Miniatures: tiny normalizers, each wrong in one way, that prove the rules have teeth.

Each is `reference` with one edit of its deltas (or of its reads), modelled on a bug that
clients really had, and declares the rules that must catch it: those, and no other.
"""

from harness.normalizers.mutants import arguments, calls, endings, replays, text, text_calls
from harness.normalizers.protocol import Normalizer

MUTANTS: dict[str, Normalizer] = {
    miniature.name: miniature
    for room in (calls, arguments, text, text_calls, endings, replays)
    for miniature in room.MINIATURES
}
