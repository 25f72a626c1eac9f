"""`[tool.harness]`: found upwards, strict, and told with the place and the next step."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.project import Project, project


def _write(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    _write(tmp_path, '[tool.harness]\npaths = ["mine"]\n')
    inner = tmp_path / "package" / "deeper"
    inner.mkdir(parents=True)
    _write(inner.parent, "[project]\nname = 'no-table'\n")
    found = project(inner)
    assert found.root == tmp_path
    assert found.table.paths == ("mine",)


def test_without_a_table_nothing_is_said(tmp_path: Path) -> None:
    assert project(tmp_path) == Project(tmp_path)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    _write(tmp_path, '[tool.harness]\npaths = ["one"]\n')
    assert project(tmp_path).table.paths == ("one",)
    _write(tmp_path, '[tool.harness]\npaths = ["other"]\n')
    assert project(tmp_path).table.paths == ("other",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tool.harness]\nnormalisers = {}", "did you mean 'normalizers'?"),
        ("[[tool.harness.gate]]\nmetric = 'conformence'\nmin = 1", "did you mean 'conformance'?"),
        (
            "[[tool.harness.gate]]\nmetric = 'conformance'\nmin = 1\nwhere = {modl = 'x'}",
            "did you mean 'model'?",
        ),
        ("[[tool.harness.gate]]\nmetric = 'conformance'", "gate[0]: expected `min` or `max`"),
        ("[[tool.harness.gate]]\nmetric = 'conformance'\nmin = 2", "number <= 1.0"),
        (
            "[[tool.harness.gate]]\nmetric = 'leak'\nmin = 0.5\nmax = 0.1",
            "no rate can satisfy both",
        ),
        ("[[tool.harness.gate]]\nmetric = 'leak'\nmax = 0\nbasis = 'interval'", "no interval"),
        ("[[tool.harness.gate]]\nmetric = 'retries'\nmax = 1\nwhere = {blame = 'model'}", "blame"),
        ("[tool.harness.normalizers.'a/b']\ntarget = 'm:f'", "'a/b' is not a name"),
        ("[tool.harness.normalizers.ours]", "the key 'target' is missing"),
        ("[tool]\nharness = 3", "expected an object, found an integer"),
        ("tool =", "cannot be read"),
    ],
)
def test_what_nobody_knows_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(UnreadableError) as error:
        project(tmp_path)
    assert str(path) in str(error.value)
    assert told in str(error.value)


@given(st.binary(max_size=80))
def test_no_file_is_more_than_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_bytes(b"[tool.harness]\n" + data)
    with suppress(UnreadableError):
        assert project(folder).root == folder
