"""An interaction with another body: its reads are those of a server that flushes each event."""

from msgspec.structs import replace

from harness.wire.interaction import Interaction
from harness.wire.reads import synthetic


def with_body(interaction: Interaction, body: bytes) -> Interaction:
    """Return `interaction` with `body`, one read for each frame."""
    return replace(interaction, body=body, reads=synthetic(body), reads_kept=False)
