"""A cassette: the interactions of one conversation, and where they come from."""

from typing import Any, Literal

import msgspec

from harness.wire.interaction import Due, Interaction

OriginKind = Literal["recorded", "imported", "emulated"]


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a cassette comes from, honestly.

    Fields:
        kind: `recorded` from a server by us, `imported` from somebody's recording, or
            `emulated`: written by a dialect's own writer, so it shows a quirk but measures
            no model.
        by: who or what made it.
        at: ISO date; "" if unknown.
        source: the server, the file or the recipe it was made from.
        licence: SPDX id of an imported recording; "" if it is ours or unknown.
        kept: for imported cassettes, what of the original survived, in words.
    """

    kind: OriginKind
    by: str = ""
    at: str = ""
    source: str = ""
    licence: str = ""
    kept: str = ""


class Cassette(msgspec.Struct, frozen=True):
    """One vcrpy-readable file.

    Fields:
        id: slash path without suffix, such as `dashscope/qwen-plus/split-chunks`.
        interactions: in the order in which they were sent.
        prompt: id on the prompt axis of the rankings; derived from the request where the
            file does not name one.
    """

    id: str
    interactions: tuple[Interaction, ...]
    origin: Origin
    provider: str = "unknown"
    model: str = "unknown"
    prompt: str = "unknown"

    @property
    def dialect(self) -> str:
        """The dialect of its interactions, which is one; "unknown" if it has none."""
        return self.interactions[0].dialect if self.interactions else "unknown"

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that its prompt describes, which are those of all interactions."""
        return self.interactions[0].tools if self.interactions else ()

    @property
    def due(self) -> Due:
        """What its requests need, a call or an answer; "" if it was not specified."""
        return self.interactions[0].due if self.interactions else ""

    def with_each(self, **changes: object) -> "Cassette":
        """Return the cassette with these fields of all its interactions, such as `dialect`."""
        replace = msgspec.structs.replace
        changed = tuple(replace(interaction, **changes) for interaction in self.interactions)
        return replace(self, interactions=changed)
