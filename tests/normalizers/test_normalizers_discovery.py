"""Names -> normalizers: what is found, under which name, and what is said where nothing is."""

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import HarnessError, NormalizerLoadError, UsageError
from harness.judging.replaying import replay
from harness.normalizers import reference, registry
from harness.normalizers.discovery import (
    GROUP,
    default_normalizer_names,
    installed_normalizer_names,
    load_normalizer,
)
from harness.normalizers.mutants import COST_MUTANTS, MUTANTS
from harness.normalizers.timed import TIMED_MUTANTS, TIMED_REFERENCES
from harness.runs.declared import available_normalizers
from tests.judging.judging_samples import an_interaction

MODULE = """
from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond as normalize
from harness.runs.declared import available_normalizers

declared = Normalizer("declared", normalize, capabilities=frozenset({"names-in-pieces"}))
number = 5

class Client:
    normalize = staticmethod(normalize)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder with modules; forget them and the folder afterwards."""
    (tmp_path / "own_client.py").write_text(MODULE)
    (tmp_path / "raises_on_import.py").write_text("raise ValueError('no key')")
    (tmp_path / "exits_on_import.py").write_text("import sys; sys.exit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("own_client", None)


def test_installed_entry_points_are_found() -> None:
    assert {"reference", "dashscope-restore", "tag-extract", "naive"} <= set(
        installed_normalizer_names()
    )
    assert {"closed-tag-only", "first-brace-regex"} <= set(installed_normalizer_names())
    assert load_normalizer("reference").normalize is reference.normalize


def test_a_miniature_is_found_by_its_name() -> None:
    assert load_normalizer("name-lost") is MUTANTS["name-lost"]


def test_all_that_has_a_name_is_available_once() -> None:
    names = [normalizer.name for normalizer in available_normalizers()]
    assert len(set(names)) == len(names)
    assert set(names) == {
        *installed_normalizer_names(),
        *MUTANTS,
        *COST_MUTANTS,
        *TIMED_MUTANTS,
        *TIMED_REFERENCES,
    }


def test_defaults_are_meant_to_pass() -> None:
    assert {"reference", "dashscope-restore", "tag-extract"} <= set(default_normalizer_names())
    assert {"naive", "closed-tag-only", "first-brace-regex"}.isdisjoint(default_normalizer_names())


@pytest.mark.parametrize("attribute", ["normalize", "Client.normalize", "declared"])
@pytest.mark.usefixtures("folder")
def test_a_module_of_the_working_folder(attribute: str) -> None:
    found = load_normalizer(f"own_client:{attribute}")
    assert replay(found, an_interaction(), ()).turn.text == "Hello"


@pytest.mark.usefixtures("folder")
def test_it_is_called_what_it_was_named_by_and_keeps_its_declaration() -> None:
    found = load_normalizer("own_client:declared")
    assert found.name == "own_client:declared"
    assert found.capabilities == {"names-in-pieces"}
    assert load_normalizer(found.name) == found


@pytest.mark.usefixtures("folder")
def test_a_function_declares_nothing_but_the_default() -> None:
    found = load_normalizer("own_client:normalize")
    assert found.dialects == {"openai-chat"}
    assert not found.capabilities


def test_the_working_folder_hides_nothing_that_is_installed(folder: Path) -> None:
    (folder / "json.py").write_text("raise ValueError('hidden')")
    load_normalizer("own_client:normalize")
    assert sys.path[-1] == str(folder)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_client:missing", "AttributeError"),
        ("own_client:number", "expected a Normalizer or a function, found int"),
        ("own_client:", "AttributeError"),
        ("no_such_module:normalize", "ModuleNotFoundError"),
        (":normalize", "ValueError"),
        ("raises_on_import:normalize", "ValueError: no key"),
        ("raises_on_import:normalize", "raises_on_import.py, line 1"),
        ("exits_on_import:normalize", "SystemExit: 0"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_loaded_is_told_with_its_name(name: str, said: str) -> None:
    with pytest.raises(NormalizerLoadError) as caught:
        load_normalizer(name)
    assert said in str(caught.value)
    assert str(caught.value).startswith(name)


def test_an_unknown_name_names_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="unknown normalizer 'refrence'") as caught:
        load_normalizer("refrence")
    assert caught.value.hint.startswith("did you mean 'reference'? Use one of ")
    assert "module:callable" in caught.value.hint


@pytest.mark.usefixtures("folder")
def test_a_broken_plug_in_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("broken", "exits_on_import:normalize", GROUP)
    points = {"broken": (point,)}
    monkeypatch.setattr(registry, "entry_points_of", lambda _group, _path: points)
    monkeypatch.syspath_prepend(".")
    assert installed_normalizer_names() == ("broken",)
    with pytest.raises(NormalizerLoadError, match=r"broken \(exits_on_import:normalize\)"):
        default_normalizer_names()


@pytest.fixture
def _without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)


@pytest.mark.usefixtures("_without_packages")
def test_an_adapter_without_its_package_is_told_when_it_is_named() -> None:
    with pytest.raises(NormalizerLoadError) as told:
        load_normalizer("openai-sdk")
    assert "needs openai and httpx2, which is not installed" in str(told.value)
    assert "pip install 'toolcall-harness[openai]'" in str(told.value)


@pytest.mark.usefixtures("_without_packages")
def test_an_adapter_without_its_package_is_listed_and_disturbs_nobody() -> None:
    missing = {each.name: each.missing for each in available_normalizers() if each.missing}
    assert missing["anthropic-sdk"] == ("anthropic", "httpx2")
    assert load_normalizer("reference").missing == ()
    assert "openai-sdk" not in default_normalizer_names()


def test_a_package_that_cannot_be_imported_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    (folder / "own_peer.py").write_text(
        MODULE + "peer = Normalizer('p', normalize, needs=('raises_on_import',))\n"
    )
    with pytest.raises(NormalizerLoadError, match="raises_on_import: ValueError: no key"):
        load_normalizer("own_peer:peer")


PROJECT = """
[tool.harness.normalizers.ours]
target = "own_client:normalize"
dialects = ["anthropic"]
streams = false
"""


def test_a_project_names_its_own_and_says_what_they_are(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(PROJECT)
    found = load_normalizer("ours")
    assert (found.name, found.streams) == ("ours", False)
    assert found.dialects == {"anthropic"}
    assert "ours" in {each.name for each in available_normalizers()}


def test_a_declaration_of_its_target_stays_where_the_project_says_nothing(folder: Path) -> None:
    text = PROJECT.replace(":normalize", ":declared").replace("streams = false", "")
    (folder / "pyproject.toml").write_text(text)
    assert load_normalizer("ours").capabilities == {"names-in-pieces"}


@pytest.mark.parametrize(
    ("old", "new", "name", "told"),
    [
        ("anthropic", "antropic", "ours", "did you mean 'anthropic'?"),
        ("ours", "naive", "naive", "already installed"),
        ("ours", "name-lost", "name-lost", "already installed"),
        ("own_client", "no_such_client", "ours", "No module named"),
    ],
)
def test_a_project_that_cannot_be_right_is_refused(
    folder: Path, old: str, new: str, name: str, told: str
) -> None:
    (folder / "pyproject.toml").write_text(PROJECT.replace(old, new))
    with pytest.raises(HarnessError) as error:
        load_normalizer(name)
    assert told in str(error.value)
