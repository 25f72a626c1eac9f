"""What was made of files is kept while they do not change, and no longer."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.files import kept
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_file

made: list[Path] = []


@kept_while_unchanged
def text_of(path: Path, *, more: Path | None = None) -> bytes:
    made.append(path)
    return read_file(path) + (text_of(more) if more else b"")


def write(path: Path, data: bytes, age: float = 9) -> None:
    """Write a file that changed `age` seconds ago, as far as its times tell."""
    path.write_bytes(data)
    then = time.time() - age
    os.utime(path, (then, then))


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been made, and a file is settled at once."""
    made.clear()
    monkeypatch.setattr(kept, "_SETTLED_NS", 0)


def test_a_file_that_does_not_change_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a", b"a")
    assert [text_of(tmp_path / "a"), text_of(tmp_path / "a")] == [b"a", b"a"]
    assert made == [tmp_path / "a"]


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_change_of_any_file_that_was_read_counts(tmp_path: Path, changed: str) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    write(first, b"a")
    write(second, b"b")
    assert text_of(second) == b"b"  # kept, and yet the first depends on it
    assert text_of(first, more=second) == b"ab"
    write(tmp_path / changed, b"c", age=5)
    assert text_of(first, more=second) == {"a": b"cb", "b": b"ac"}[changed]


def test_a_file_that_has_just_changed_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_SETTLED_NS", 60_000_000_000)
    write(tmp_path / "a", b"a", age=0)
    assert text_of(tmp_path / "a") == text_of(tmp_path / "a")
    assert len(made) == 2


def test_a_file_that_is_gone_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a", b"a")
    text_of(tmp_path / "a")
    (tmp_path / "a").unlink()
    with pytest.raises(Exception, match="cannot be read"):
        text_of(tmp_path / "a")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), max_size=30))
def test_kept_values_are_bounded_and_true(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    folder, before = tmp_path_factory.mktemp("kept"), kept._MOST_BYTES
    kept._MOST_BYTES = 20  # type: ignore[misc]  # for this function
    try:
        values = kept._Kept[bytes](20)
        text = kept_while_unchanged(read_file)
    finally:
        kept._MOST_BYTES = before  # type: ignore[misc]  # as above
    for number, size in steps:
        write(folder / str(number), bytes(size), age=number + size)
        assert text(folder / str(number)) == bytes(size)
        state = kept.FileState(0, 0, size, number)
        values.keep(number, bytes(size), {str(number): state})
        assert values._size == sum(len(value) for value, _ in values._values.values()) <= 20
