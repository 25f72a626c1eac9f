"""What a normalizer yielded instead of a delta, told so that its author can mend it."""

import msgspec


class DeltaError(Exception):
    """A normalizer yielded something that is no delta, or a delta with a field of a wrong type.

    Annotations do not bind a foreign normalizer: a None for an id or a plain string for a
    finish reason would pass through a run unnoticed, and make a file that nobody can read.
    """

    def __init__(self, delta: object) -> None:
        super().__init__(_told(delta))


def _told(delta: object) -> str:
    kind = type(delta)
    if kind.__module__ != "harness.turns.deltas" or not isinstance(delta, msgspec.Struct):
        return f"expected a delta of harness.turns.deltas, found {kind.__name__}"
    fields = ", ".join(
        f"{name}: {type(value).__name__}" for name, value in msgspec.structs.asdict(delta).items()
    )
    return f"a field of the wrong type in {kind.__name__}({fields})"
