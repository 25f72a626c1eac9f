"""What an oracle collects while it reads: growing text, calls and deviations."""

from harness.dialects.kit.oracle.reading import CallReading, Deviation
from harness.turns.deltas import CallKind
from harness.turns.exact_json import join_surrogates


class Notes:
    """The deviations of one body; bounded, since only the first of a kind is kept."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, bool], Deviation] = {}
        self.text_known = True
        self.calls_known = True
        self.end_known = True

    def keep(self, quirk: str, offset: int) -> None:
        """Note a deviation that keeps the meaning."""
        self._first.setdefault((quirk, False), Deviation(quirk, offset, ambiguous=False))

    def open(
        self, quirk: str, offset: int, *, text: bool = False, calls: bool = False, end: bool = False
    ) -> None:
        """Note a deviation that leaves open what text, calls or end are."""
        self.text_known = self.text_known and not text
        self.calls_known = self.calls_known and not calls
        self.end_known = self.end_known and not end
        ambiguous = calls or end
        self._first.setdefault((quirk, ambiguous), Deviation(quirk, offset, ambiguous))

    def beyond(self, quirk: str, offset: int) -> None:
        """Note what the contract allows and what no call of a tool can express."""
        self.calls_known = False
        self.keep(quirk, offset)

    def lost(self, quirk: str, offset: int) -> None:
        """Note a deviation that leaves everything open."""
        self.open(quirk, offset, text=True, calls=True, end=True)

    def deviations(self) -> tuple[Deviation, ...]:
        """Return them in the order of the body."""
        return tuple(sorted(self._first.values(), key=lambda found: (found.offset, found.quirk)))


class GrowingText:
    """Text that arrives in pieces."""

    def __init__(self) -> None:
        self._complete: list[str] = []
        self._half = ""
        self.length = 0

    def add(self, piece: str) -> None:
        """Append `piece`."""
        piece = self._half + piece
        half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        whole = join_surrogates(piece.removesuffix(half) if half else piece)
        self._complete.append(whole)
        self._half = half
        self.length += len(whole)

    def value(self) -> str:
        """Return the text so far; a half that has no other half is U+FFFD."""
        return "".join(self._complete) + join_surrogates(self._half)


class OpenCall:
    """One call while it is read."""

    def __init__(self, offset: int, call_id: str = "", name: str = "") -> None:
        self.id = call_id
        self.name = name
        self.offset = offset
        self.fragments: list[str] = []

    @property
    def arguments(self) -> str:
        """Return the arguments so far as JSON text; "" if none came."""
        return "".join(self.fragments)

    def reading(self, kind: CallKind = "function", *, from_object: bool = False) -> CallReading:
        """Return the call as the oracle reports it."""
        return CallReading(
            join_surrogates(self.id),
            join_surrogates(self.name),
            join_surrogates(self.arguments),
            self.offset,
            kind,
            from_object,
        )
