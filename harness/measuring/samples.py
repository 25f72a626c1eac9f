"""Write failed turns of a log as cassettes without secrets, a few for each signature."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.errors import UnscrubbedError
from harness.files.output import OutputFolder
from harness.measuring.rates import Signature
from harness.measuring.records import LoggedTurn
from harness.measuring.sources import find_turns
from harness.recording.secrets.scrubber import Scrubber, clean_text
from harness.results.result import body_digest
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette

FOLDER: Final = "samples"
_SCRUBBER: Final = Scrubber()
_DATE_CHARACTERS: Final = 10


def write_samples(
    signatures: tuple[Signature, ...], folder: Path, mapping: Mapping[str, str]
) -> tuple[int, tuple[str, ...]]:
    """Write the sample turns of each signature below `folder`, each as one cassette.

    Args:
        signatures: the failed turns, grouped by cause.
        folder: the folder for the cassettes.
        mapping: standard key -> the key in a row of this log; empty if the log has a known format.

    Returns:
        The number of written cassettes, and the reason for each turn that was not written.
    """
    written, refused, output = 0, list[str](), OutputFolder(folder)
    for number, signature in enumerate(signatures, 1):
        for index, (file, position, digest, record) in enumerate(signature.samples, 1):
            turn = _turn_at(file, position, digest, mapping)
            where = f"{file}#{position}" + (f" ({record})" if record else "")
            if turn is None:
                refused.append(f"{where}: it is not there any more")
                continue
            try:
                cassette = _cassette(turn, f"{FOLDER}/{number:02}-{index}", where)
            except UnscrubbedError as error:
                refused.append(f"{where}: a secret cannot be replaced: {error.what}")
                continue
            output.claim(f"{cassette.id}.yaml")
            save_cassette(cassette, folder / f"{cassette.id}.yaml")
            written += 1
    return written, tuple(refused)


def _turn_at(
    file: str, position: int, digest: str, mapping: Mapping[str, str]
) -> LoggedTurn | None:
    """Return the turn with the hash `digest` at `position` of a log; None if there is none.

    One line of a log may have several turns.
    """
    turns = find_turns(file, position, mapping)
    return next((it for it in turns if body_digest(it.interaction.body) == digest), None)


def _cassette(turn: LoggedTurn, name: str, source: str) -> Cassette:
    known = _SCRUBBER.known([turn.interaction.request])
    interaction = _SCRUBBER.interaction(turn.interaction, known, source)
    labels = (turn.provider, turn.model, turn.prompt)
    provider, model, prompt = (clean_text(each, "a label", known) for each in labels)
    lacks = ", ".join(turn.lacks)
    origin = Origin(
        kind="imported",
        by="harness measure",
        at=turn.time[:_DATE_CHARACTERS],
        source=clean_text(source, "the source", known),
        kept=f"all but {lacks}" if lacks else "",
    )
    return Cassette(name, (interaction,), origin, provider, model, prompt)
