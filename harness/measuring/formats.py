"""Records of known logs -> turns."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.measuring.records import LoggedTurn, turn_of_record


def turns_of(record: Mapping[str, Any], mapping: Mapping[str, str]) -> Iterator[LoggedTurn]:
    yield turn_of_record(record)
