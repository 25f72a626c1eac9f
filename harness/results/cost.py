"""Define the measured cost of a client in a dialect, and the limits that cost rules check.

A limit is a ratio or a number of bytes, because these are similar on different machines.
"""

from typing import Final

from harness.files.typed import File

# The floor is the CPU time of only finding and decoding the payloads of a stream, which is about
# 1 microsecond for a delta. At 500, one core reads 2,000 deltas in a second, which is about what
# the fastest providers send in one stream.
MOST_TIME: Final = 500.0
# 1.0 is linear, and 8.0 quadratic if the longest stream has 8 times the deltas. Beyond 1.75, half
# of the time of the longest stream is quadratic. A garbage collector alone takes up to 1.4.
MOST_GROWTH: Final = 1.75
# Once the body, and its text again. More is needed only by a client that keeps decoded events.
MOST_MEMORY: Final = 2.0
# One TLS record (RFC 8446, section 5.1): a client cannot decrypt less, so it may wait for it.
MOST_HELD_BACK: Final = 1 << 14


class Cost(File, frozen=True):
    """What one client costs in one dialect: CPU time, memory and delay.

    A value is None if the harness did not measure it.

    Fields:
        dialect: the dialect of the streams. Each delta is one event.
        deltas: the number of deltas in the longest stream.
        shortest: the number of deltas in the shortest stream, with which `growth` compares.
        floor: CPU time of only finding and decoding the payloads, in microseconds for one delta.
            It differs between machines.
        time: CPU time of the client for one delta of the longest stream, divided by `floor`.
        growth: `time` divided by the same ratio for the shortest stream; 1.0 if time is linear.
        memory: bytes by which the peak memory grows for each further byte of the body.
        held_back: bytes that the client read after the first text arrived, before it emitted text.
        body: the number of bytes in the longest stream.
        not_measured: why the harness measured nothing; "" if it measured the client.
        held_arguments: as `held_back`, for the arguments of a call.
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
    held_arguments: int | None = None


def beyond_limits(cost: Cost) -> dict[str, tuple[str, str]]:
    """Return the expected and the measured value as text, for each field of `cost` over its limit.

    The time is checked for the shortest stream, because `growth` checks what longer streams add.
    """
    growth, memory = cost.growth or 0.0, cost.memory or 0.0
    time = (cost.time or 0.0) / (cost.growth or 1.0)
    lengths = f"from {cost.shortest} to {cost.deltas} deltas"
    found = {
        "time": (time > MOST_TIME, f"{MOST_TIME:g} times the floor", f"{time:.0f} times"),
        "growth": (growth > MOST_GROWTH, f"{MOST_GROWTH:g} times {lengths}", f"{growth:.2f} times"),
        "memory": (
            *(memory > MOST_MEMORY, f"{MOST_MEMORY:g} bytes for each byte of the body"),
            f"{memory:.1f} bytes",
        ),
        **{
            field: (
                *((held or 0) > MOST_HELD_BACK, f"{MOST_HELD_BACK} bytes held back"),
                f"{held} of {cost.body} bytes",
            )
            for field, held in (
                ("held_back", cost.held_back),
                ("held_arguments", cost.held_arguments),
            )
        },
    }
    return {
        field: (f"at most {most}", measured)
        for field, (is_beyond, most, measured) in found.items()
        if is_beyond
    }
