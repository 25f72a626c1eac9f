"""Read and write a folder of results: the facts about each peer, and its run if it was judged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.files.typed import convert
from harness.results.peer_facts import PeerFacts
from harness.results.run import SCHEMA, Header, Run, Selection
from harness.results.store import RunWriter, read_run

RECORD: Final = "peer.json"
RUN: Final = "run.jsonl"
_MAX_BYTES: Final = 1 << 20


class PeerRecord(PeerFacts, frozen=True, forbid_unknown_fields=True):
    """The facts about one peer, as the file format of its record."""


class PeerResults(msgspec.Struct, frozen=True):
    """The facts about one peer (its record), and its complete run; None if it was not judged."""

    record: PeerRecord
    run: Run | None


def write_record(record: PeerRecord, folder: Path) -> None:
    """Write the record of a peer to `folder`, the folder of this peer."""
    text = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
    (folder / RECORD).write_bytes(text)


def read_results(folder: Path) -> tuple[PeerResults, ...]:
    """Return the results of all peers in the folders of `folder`, by language and name.

    Raises:
        UnreadableError: there are no results, or a file is not valid.
    """
    found = [_results(path) for path in sorted(folder.glob(f"*/{RECORD}"))]
    if not found:
        raise UnreadableError(
            f"expected folders with {RECORD}, found none",
            where=str(folder),
            hint="Write them with `harness peers run -o DIR`.",
        )
    order = {"python": 0, "javascript": 1}
    return tuple(sorted(found, key=lambda it: (order[it.record.language], it.record.name)))


def _results(path: Path) -> PeerResults:
    try:
        data = msgspec.json.decode(read_file(path, most=_MAX_BYTES))
    except msgspec.DecodeError as error:
        raise UnreadableError(f"not JSON: {error}", where=str(path)) from error
    record = convert(data, PeerRecord, str(path))
    if record.not_judged:
        return PeerResults(record, None)
    return PeerResults(record, complete_run(path.with_name(RUN), record.name))


def complete_run(path: Path, peer: str) -> Run:
    """Return the run of `peer` at `path`.

    Raises:
        UnreadableError: the file is not a run, or the run is not complete, or is of another client.
    """
    run = read_run(path)
    if not run.complete:
        raise UnreadableError(f"incomplete: {len(run.results)} results", where=str(path))
    if run.header.names != (peer,):
        names = ", ".join(run.header.names)
        raise UnreadableError(f"expected the run of {peer}, found that of {names}", where=str(path))
    return run


def write_merged_run(results: Sequence[PeerResults], path: Path) -> None:
    """Merge the runs of all judged peers, and write them as one run file for `harness report`.

    Raises:
        UsageError: no peer was judged, or the file cannot be written.
    """
    run = merged_run(results)
    if not run.header.names:
        raise UsageError("no peer was judged", hint="`harness peers matrix` prints the reasons.")
    with RunWriter(path) as writer:
        writer.header(run.header)
        for result in run.results:
            writer.add(result, run.cases.get(result.cell))
        writer.finish()


def merged_run(results: Sequence[PeerResults]) -> Run:
    """Return the runs of all judged peers as one run, with the facts about all peers."""
    runs = [each.run for each in results if each.run is not None]
    return Run(
        header=_merged_header([run.header for run in runs], tuple(each.record for each in results)),
        results=tuple(result for run in runs for result in run.results),
        cases={cell: case for run in runs for cell, case in run.cases.items()},
        footer=None,
    )


def _merged_header(headers: Sequence[Header], peers: tuple[PeerFacts, ...]) -> Header:
    """Return a header with all clients, and with the selection if all runs have the same."""
    selections = {replace(header.selection, left_out=()) for header in headers}
    left_out = tuple(cell for header in headers for cell in header.selection.left_out)
    normalizers = tuple(each for header in headers for each in header.normalizers)
    agents = tuple(each for header in headers for each in header.agents)
    names = [each.name for each in normalizers] + [each.name for each in agents]
    return Header(
        schema=SCHEMA,
        harness=headers[0].harness if headers else "",
        normalizers=normalizers,
        agents=agents,
        selection=replace(
            selections.pop() if len(selections) == 1 else Selection(), left_out=left_out
        ),
        command=("harness", "peers", "run", *names),
        scenario_count=max((header.scenario_count for header in headers), default=0),
        peers=peers,
    )
