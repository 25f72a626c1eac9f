"""A frame: one server-sent event, one NDJSON line, one AWS event-stream message."""

import msgspec


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a framing decoder cuts out of the body.

    Fields:
        data: the payload; the data lines of one event joined by a newline.
        event: the event's name; "" where the stream gives none.
        offset: bytes from the start of the body to the first payload line, the thread that
            leads a report back to the wire.
        complete: False where the stream ended inside this frame (WHATWG drops such an
            event; for an LLM stream it is a sign of truncation, so it is handed on marked).
        failure: the code with which the framing itself says that the stream failed: the type
            of an AWS exception, or `bad_event` for a message whose checksum is wrong; ""
            where it does not. Such a frame is never complete.
    """

    data: bytes
    event: str = ""
    offset: int = 0
    complete: bool = True
    failure: str = ""
