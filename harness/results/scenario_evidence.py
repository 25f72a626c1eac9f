"""Define the evidence of a scenario: what shows that a server sends its stream."""

from typing import Final, Literal, get_args

import msgspec

from harness.errors import UnreadableError
from harness.files.typed import File, Text

EvidenceKind = Literal["recorded", "reported", "documented", "own"]
EVIDENCE_KINDS: Final[tuple[EvidenceKind, ...]] = get_args(EvidenceKind)
# If a scenario states no evidence, its failures come before those of invented streams.
_NOT_STATED: Final = EVIDENCE_KINDS.index("own") - 0.5


class ScenarioEvidence(msgspec.Struct, frozen=True):
    """What shows that a server sends the stream of a scenario or of one turn.

    Fields:
        kind: `recorded` if a server's bytes have this form, `reported` if a public report about a
            named server shows it, `documented` if the reference of the API describes it, `own` if
            the authors of the scenario invented it and no server is known to send it.
        place: the recording, the reports or the references, as URLs with a space between them, or
            as the id of a cassette; for `own`, what is invented.
    """

    kind: EvidenceKind
    place: str

    @property
    def addresses(self) -> tuple[str, ...]:
        """The URLs that the place consists of; () if it is something else."""
        parts = tuple(self.place.split())
        is_own = self.kind == "own"
        return () if is_own or not all(each.startswith("https://") for each in parts) else parts

    @property
    def text(self) -> str:
        """The evidence on one line."""
        is_own = self.kind == "own"
        return f"{self.kind}{', sent by no known server' if is_own else ''}: {self.place}"


class EvidenceFile(File, frozen=True, omit_defaults=True):
    """What shows that a server sends the stream: exactly one kind, with its place.

    `recorded` names a recording with these bytes, `reported` a public report about a named server,
    `documented` the reference that describes the form. `own` says what the author invented.
    """

    recorded: Text | None = None
    reported: Text | None = None
    documented: Text | None = None
    own: Text | None = None


def load_evidence(file: EvidenceFile | None, path: str, where: str) -> ScenarioEvidence | None:
    """Return the evidence that a scenario file states; None if it states none.

    Args:
        file: the value of the key `evidence`.
        path: what comes before the key in an error, such as `expect[0].`.
        where: the scenario file, for errors.

    Raises:
        UnreadableError: `file` has no kind, or several.
    """
    stated = [
        ScenarioEvidence(kind, place)
        for kind in EVIDENCE_KINDS
        if (place := getattr(file, kind, None)) is not None
    ]
    if file is not None and len(stated) != 1:
        raise UnreadableError(
            f"{path}evidence: expected one of {', '.join(EVIDENCE_KINDS)}, found {len(stated)}",
            where=where,
            hint="Write the kind with its place, such as {reported: https://...}.",
        )
    return next(iter(stated), None)


def is_own(evidence: ScenarioEvidence | None) -> bool:
    """Return whether `evidence` states that no server is known to send the stream."""
    return evidence is not None and evidence.kind == "own"


def evidence_rank(evidence: ScenarioEvidence | None) -> float:
    """Return a sort key that puts failures with the best evidence first."""
    return _NOT_STATED if evidence is None else EVIDENCE_KINDS.index(evidence.kind)
