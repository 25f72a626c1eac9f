"""Files and lines are written completely or not at all, also on a full disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.files.write import LineFile, partial_path, write_file

resource = pytest.importorskip("resource")


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes, as on a disk that becomes full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line + b"\n"), max_size=8),
    size=st.integers(0, 200),
)
def test_a_full_disk_takes_complete_lines_only(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a"
    file = LineFile(path)
    taken: list[bytes] = []
    with full_at(size):
        for line in lines:
            with suppress(OSError):
                assert file.append(line) == len(b"".join(taken))
                taken.append(line)
    assert len(taken) == len(lines) or len(b"".join(lines)) > size
    assert path.read_bytes() == b"".join(taken)
    file.append(b"later\n")
    file.close()
    assert path.read_bytes() == b"".join([*taken, b"later\n"])


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, b"old")
    with full_at(100), pytest.raises(OSError, match="File too large"):
        write_file(path, bytes(200))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_piece_that_cannot_be_made_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, iter((b"o", b"ld")))
    with pytest.raises(ZeroDivisionError):
        write_file(path, (bytes(1 // number) for number in (1, 0)))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_file(link, b"new", durable=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    reader, writer = os.pipe()
    write_file(Path(f"/dev/fd/{writer}"), b"through")
    assert os.read(reader, 99) == b"through"
    os.close(reader)
    os.close(writer)


def test_lines_have_one_writer(tmp_path: Path) -> None:
    path = partial_path(tmp_path / "a")
    first = LineFile(path)
    first.append(b"1\n")
    with pytest.raises(BlockingIOError):
        LineFile(path)
    first.close()
    second = LineFile(path)
    assert second.read() == b"1\n"
    second.append(b"2\n")
    second.sync()
    assert path.read_bytes() == b"1\n2\n"
    second.clear()
    assert path.read_bytes() == b""
    second.remove()
    assert not path.exists()
