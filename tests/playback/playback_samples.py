"""Cassettes of any bodies under any cuts, for the tests of `harness.playback`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st

from harness.playback.playback import Playback
from harness.shipped import bundled_folder
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Headers, Interaction, Read, Request

PATH = "/v1/chat/completions"
URI = f"https://api.example.com{PATH}"
STREAM: Headers = (
    ("Content-Type", "text/event-stream"),
    ("Content-Encoding", "gzip"),
    ("Content-Length", "7"),
    ("Transfer-Encoding", "chunked"),
    ("X-Request-Id", "é-1"),
)
NEVER_CLAIMED = ("content-encoding", "content-length")

BODIES = st.binary(max_size=80) | st.sampled_from(
    (b"data: {}\n\ndata: [DONE]\n\n", "data: é\r\n\r\n".encode(), b"0\r\n\r\n", b"\x1f\x8b\0")
)


def interaction(
    body: bytes, cuts: Sequence[int] = (), sent: bytes = b"{}", status: int = 200
) -> Interaction:
    """Return an interaction whose body was read in the pieces that `cuts` make."""
    ends = [0, *cuts, len(body)]
    reads = tuple(Read(after - before) for before, after in pairwise(ends) if after > before)
    request = Request("POST", URI, (("content-type", "application/json"),), sent)
    return Interaction(request, status, STREAM, body, reads)


def cassette(*interactions: Interaction) -> Cassette:
    """Return a cassette of `interactions`."""
    return Cassette("a/b", interactions, Origin("emulated", by="tests"))


@st.composite
def interactions(draw: st.DrawFn) -> Interaction:
    """Draw an interaction with any body, cuts and status that has a body."""
    body = draw(BODIES)
    cuts = draw(st.sets(st.integers(1, max(1, len(body) - 1)), max_size=8))
    status = draw(st.sampled_from((200, 201, 400, 429, 500, 529)))
    return interaction(body, sorted(cut for cut in cuts if cut < len(body)), status=status)


CASSETTES = st.lists(interactions(), min_size=1, max_size=3).map(lambda many: cassette(*many))


def reads_of(answer: Interaction) -> list[bytes]:
    """Return the reads of `answer` as they were recorded."""
    starts = [0, *answer.recorded_cuts()]
    ends = [*answer.recorded_cuts(), len(answer.body)]
    pieces = (answer.body[start:end] for start, end in zip(starts, ends, strict=True))
    return [piece for piece in pieces if piece]


class Watched(Playback):
    """A playback that counts the reads that were pulled from its answers."""

    pulled = 0

    def reads(self, interaction: Interaction) -> Iterator[bytes]:
        """Count each read as it is pulled."""
        for read in super().reads(interaction):
            self.pulled += 1
            yield read


def shipped_in(dialect: str) -> Iterable[Path]:
    """Return the files of the shipped cassettes of one dialect."""
    root = bundled_folder("cassettes")
    named = f"\n  dialect: {dialect}\n"
    return [path for path in sorted(root.rglob("*.yaml")) if named in path.read_text("utf-8")]


def load_shipped(path: Path) -> Cassette:
    """Return a cassette that ships."""
    return load_cassette(path, bundled_folder("cassettes"))
