"""The row of a dialect: what shared code needs to know of one API."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from harness.dialects.kit.build_request import RequestForm
from harness.dialects.kit.detect import Detection
from harness.dialects.kit.options import Options
from harness.dialects.kit.oracle.dispatch import Oracle
from harness.dialects.kit.parse_request import ChatRequest
from harness.turns.deltas import Delta
from harness.wire.frames import Frame

Read: TypeAlias = Callable[[Iterable[Frame], tuple[str, ...]], Iterator[Delta]]
Write: TypeAlias = Callable[..., tuple[bytes, ...]]
ParseRequest: TypeAlias = Callable[[str, dict[str, Any]], ChatRequest]


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One provider API: the row that registers it for import, runs, recording and fuzzing.

    Fields:
        name: such as `openai-chat`.
        title: of the API, human-readable.
        read: frames of a response and the names of the declared tools -> deltas; lazy, and
            it never raises for what a stream contains.
        write: deltas and options -> the frames' bytes; joined, they are a body.
        writer_options: the options of `write`; each is a quirk, and its default is what the
            API documents.
        oracle: reads a body from the API contract alone; a new one for each body.
        parse_request: address and JSON body -> what the request contains; never raises.
        request_forms: variant -> requests of emulated cassettes; the variant "" is the usual one.
        detection: how the API is recognized by requests and events.
        record_path: where a server answers, below its address, for `harness record`; "" if it
            cannot send requests to this API.
        content_type: of its streams.
    """

    name: str
    title: str
    read: Read
    write: Write
    writer_options: type[Options]
    oracle: type[Oracle]
    parse_request: ParseRequest
    request_forms: Mapping[str, RequestForm]
    detection: Detection
    record_path: str = ""
    content_type: str = "text/event-stream"
