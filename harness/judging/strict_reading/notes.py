"""What the strict reading notes while it reads: deviations, and what they leave open."""

from harness.judging.strict_reading.reading import Deviation


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
