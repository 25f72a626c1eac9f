"""Compiled templates are kept, as long as they were made from the same source."""

import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest

from harness.reporting.template_cache import TemplateCache


class CountingEnvironment(jinja2.Environment):
    """Counts how many templates were compiled."""

    compiled = 0

    def compile(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as jinja2
        CountingEnvironment.compiled += 1
        return super().compile(*args, **kwargs)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(CountingEnvironment, "compiled", 0)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    return tmp_path


def rendered(folder: Path, source: str) -> str:
    """Return what a new environment makes of the template `source`."""
    (folder / "page.html.j2").write_text(source)
    loader = jinja2.FileSystemLoader(folder)
    environment = CountingEnvironment(
        loader=loader, autoescape=True, bytecode_cache=TemplateCache()
    )
    return environment.get_template("page.html.j2").render()


def test_a_template_is_compiled_again_if_its_source_changed_or_its_file_is_damaged(
    folder: Path,
) -> None:
    assert [rendered(folder, "one"), rendered(folder, "one")] == ["one", "one"]
    assert CountingEnvironment.compiled == 1
    assert rendered(folder, "two") == "two"
    (kept,) = (folder / "cache").rglob("*.pyc")
    for damaged in (b"", b"x", kept.read_bytes()[:-3]):
        kept.write_bytes(damaged)
        assert rendered(folder, "two") == "two"
    assert CountingEnvironment.compiled == 5
    assert rendered(folder, "two") == "two"
    assert CountingEnvironment.compiled == 5


def test_a_template_is_compiled_each_time_if_nothing_may_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "cache").write_text("a file in place of the folder")
    assert [rendered(folder, "one"), rendered(folder, "one")] == ["one", "one"]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "pycache_prefix", str(folder / "other"))
    assert rendered(folder, "one") == "one"
    assert CountingEnvironment.compiled == 3
    assert not (folder / "other").exists()
