"""Paths of files in folders: as `Path.resolve` gives them, whatever is a link."""

from pathlib import Path

import pytest

from harness.files.paths import Resolver, path_below


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with files, links to files and folders, and a link that leads out of it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "a" / "b", root / "a..b", outside / "c"):
        folder.mkdir(parents=True)
        (folder / "x.yaml").touch()
    (root / "link.yaml").symlink_to(root / "a" / "b" / "x.yaml")
    (root / "out.yaml").symlink_to(outside / "c" / "x.yaml")
    (root / "folder").symlink_to(root / "a")
    (root / "leads-out").symlink_to(outside)
    (tmp_path / "root-link").symlink_to(root)
    return tmp_path


PATHS = (
    *("root/a/b/x.yaml", "root/a..b/x.yaml", "root/a/missing.yaml", "root/missing/x.yaml"),
    *("root/link.yaml", "root/out.yaml", "root/folder/b/x.yaml", "root/leads-out/c/x.yaml"),
    *("root/a/../a/b/x.yaml", "root/../outside/c/x.yaml", "root/a/..", "root", "rooted/x.yaml"),
    *("root-link/a/b/x.yaml", "root-link/link.yaml", "outside/c/x.yaml"),
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("root", ["root", "root-link", "root/folder", "outside", "none"])
def test_a_path_is_below_a_folder_if_it_is_so_without_links(
    tree: Path, path: str, root: str
) -> None:
    resolved, folder = (tree / path).resolve(), (tree / root).resolve()
    below = resolved.relative_to(folder) if resolved.is_relative_to(folder) else None
    assert path_below(tree / path, tree / root) == below
    assert path_below(str(tree / path), f"{tree / root}/") == below


@pytest.mark.parametrize("path", PATHS)
def test_a_relative_path_is_below_a_relative_folder(
    tree: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tree)
    for root in ("root", "."):
        assert path_below(path, root) == path_below(tree / path, tree / root)


def test_a_resolver_resolves_as_a_path_does(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    resolver = Resolver()
    for path in (*map(Path, PATHS), *(tree / each for each in PATHS), Path(), Path("/")):
        assert resolver.resolve(str(path)) == str(path.resolve()), path
        assert resolver.resolve(str(path)) == str(path.resolve()), path
