"""Accept a cassette whose bodies a person edited: compute new digests and reads for it."""

from typing import Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.typed import expect_list, expect_mapping
from harness.wire.cassette import Cassette
from harness.wire.cassette_file import cassette_from_data
from harness.wire.cassette_text import digest
from harness.wire.reads import parse_reads

_DIGESTS: Final = "body_sha256"


class EditedCassette(msgspec.Struct, frozen=True):
    """Holds a cassette with corrected digests and reads, and says what was corrected.

    Fields:
        bodies: indexes of the interactions whose stored digest did not match the body.
        reads: indexes of the interactions whose recorded reads did not add up to the body. They
            now have synthetic reads, one for each event.
    """

    cassette: Cassette
    bodies: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()


def read_edited(data: bytes, cassette_id: str, where: str) -> EditedCassette:
    """Parse a cassette file, and correct digests and reads that do not match its bodies.

    Raises:
        UnreadableError: `data` is not a cassette of this project, or is damaged in another way.
    """
    document = yaml_text.load_yaml(data, where)
    fields = expect_mapping(document, where)
    own = fields.get("harness")
    if not isinstance(own, dict):
        raise UnreadableError(
            "expected a cassette with the key 'harness', found one without digests",
            where=where,
            hint="Edit it as you like, or convert it with `harness import`.",
        )
    items = expect_list(fields.get("interactions"), f"{where}: interactions")
    responses = [_response(item, f"{where}: interactions[{n}]") for n, item in enumerate(items)]
    unfit = _drop_unfit_reads(fields, responses, cassette_id, where)
    bodies = cassette_from_data({"interactions": items}, cassette_id, where).interactions
    digests = [digest(interaction.body) for interaction in bodies]
    stated = own.get(_DIGESTS)
    before = stated if isinstance(stated, list) and len(stated) == len(digests) else []
    changed = tuple(n for n, own_digest in enumerate(digests) if before[n : n + 1] != [own_digest])
    own[_DIGESTS] = digests
    return EditedCassette(cassette_from_data(fields, cassette_id, where), changed, unfit)


def _response(item: object, where: str) -> dict[str, Any]:
    return expect_mapping(expect_mapping(item, where).get("response"), f"{where}.response")


def _drop_unfit_reads(
    fields: dict[str, object], responses: list[dict[str, Any]], cassette_id: str, where: str
) -> tuple[int, ...]:
    """Remove reads that do not add up to their body; return the indexes of these interactions."""
    reads = [response.pop("reads", None) for response in responses]
    bare = {"interactions": fields["interactions"]}
    sizes = [len(each.body) for each in cassette_from_data(bare, cassette_id, where).interactions]
    unfit = []
    for n, (stated, size) in enumerate(zip(reads, sizes, strict=True)):
        parsed = parse_reads(stated) if isinstance(stated, str) else None
        if parsed is not None and sum(read.size for read in parsed) != size:
            unfit.append(n)
        elif stated is not None:
            responses[n]["reads"] = stated
    return tuple(unfit)
