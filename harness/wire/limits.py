"""How large one frame may be, whatever the framing."""

from typing import Final

from harness.errors import StreamError

# Larger than any event seen in the field (quirk SSE-HUGE-EVENT asks for at least 16 MiB).
MAX_EVENT_BYTES: Final = 64 * 1024 * 1024


def check_size(size: int, what: str, offset: int) -> None:
    """Refuse a frame of more than `MAX_EVENT_BYTES`.

    Raises:
        StreamError: it is larger.
    """
    if size > MAX_EVENT_BYTES:
        raise StreamError(f"{what} is larger than {MAX_EVENT_BYTES} bytes", offset=offset)
