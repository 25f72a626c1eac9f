"""What was measured of the cost of one client in one dialect."""

from harness.files.typed import File


class Cost(File, frozen=True):
    """What one client costs in one dialect. A value that was not measured is None.

    Fields:
        dialect: the dialect of the streams; each delta is one event.
        deltas: the number of deltas in the longest stream.
        shortest: the number of deltas in the stream with which `growth` compares it.
        floor: CPU time of the floor for one delta, in microseconds; it differs between machines.
        time: CPU time of the client for one delta of the longest stream, divided by the floor.
        growth: `time` divided by that of the shortest stream; 1.0 if time is linear.
        memory: bytes by which the peak memory grows for each further byte of the body.
        held_back: bytes that were read after the first text had arrived and before it was emitted.
        body: the number of bytes in the longest stream.
        not_measured: the reason why not; "" if it was measured.
    """

    dialect: str
    deltas: int = 0
    shortest: int = 0
    floor: float | None = None
    time: float | None = None
    growth: float | None = None
    memory: float | None = None
    held_back: int | None = None
    body: int = 0
    not_measured: str = ""
