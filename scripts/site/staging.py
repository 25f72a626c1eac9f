"""The Markdown of the repository -> the source folder of the site, with links that fit there.

`docs/` becomes the top folder. Every link must lead to a page, a picture or another staged file.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Final

ROOT: Final = Path(__file__).parents[2]
# Pages outside `docs/`: path in the repository -> path in the site.
_OTHER_PAGES: Final = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
_FOLDERS: Final = {"docs/decisions": "decisions/index.md", "docs": "index.md"}
_EXAMPLES: Final = "examples"
_LINK: Final = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
_CODE: Final = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_SECTIONS: Final = {
    "Start": ("Overview <overview>", "tutorial.md", "examples/index.md"),
    "How-to guides": ("how-to/*.md",),
    "Reference": ("reference/*.md", "reference/schemas/index.md"),
    "Catalogue": ("quirks/index.md", "rules/index.md", "dialects/index.md"),
    "Explanation": ("explanation/*.md", "decisions/index.md"),
    "Measurements": ("matrix.md", "ranking.md", "benchmarks.md"),
    "Project": ("contributing.md", "changelog.md", "security.md"),
}
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)


class UnstagedLinkError(Exception):
    """A page has a link that leads nowhere in the site."""


def stage(folder: Path) -> None:
    """Write the pages of the repository, and the files that they link to, into `folder`.

    Raises:
        UnstagedLinkError: a link leads to a file that the site does not have.
    """
    pages = staged_pages()
    for source, target in pages.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / source).read_text(encoding="utf-8")
        path.write_text(with_links(text, source, pages), encoding="utf-8")
    _copy_files(folder, pages)
    (folder / "decisions" / "index.md").write_text(_decisions(folder), encoding="utf-8")
    examples = sorted((folder / _EXAMPLES).glob("[!i]*.md"))
    with (folder / _EXAMPLES / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(f"{line}\n" for line in _contents(examples))


def staged_pages() -> dict[str, str]:
    """Return the path in the site of each page of the repository, by its path there."""
    docs = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    pages = {path: path.removeprefix("docs/") for path in docs}
    examples = sorted((ROOT / _EXAMPLES).glob("*/README.md"))
    pages |= {
        f"{_EXAMPLES}/{path.parent.name}/README.md": f"{_EXAMPLES}/{path.parent.name}.md"
        for path in examples
    }
    top = f"{_EXAMPLES}/README.md"
    others = {**_OTHER_PAGES, top: f"{_EXAMPLES}/index.md"}
    return pages | {path: target for path, target in others.items() if (ROOT / path).is_file()}


def with_links(text: str, source: str, pages: Mapping[str, str]) -> str:
    """Return `text`, the page at `source`, with each relative link as the site needs it.

    Raises:
        UnstagedLinkError: a link leads to a file that the site does not have.
    """
    start = PurePosixPath(pages[source]).parent

    def renewed(found: re.Match[str]) -> str:
        path = normpath(str(PurePosixPath(source).parent / found[2]))
        target = pages.get(path) or _FOLDERS.get(path)
        if target is None and not (ROOT / path).is_file():
            raise UnstagedLinkError(f"{source}: the link {found[2]} leads to no page and no file")
        return f"{found[1]}{relpath(target or _copy_of(path), start)}{found[3]}"

    parts = _CODE.split(text)
    return "".join(part if n % 2 else _LINK.sub(renewed, part) for n, part in enumerate(parts))


def _copy_of(path: str) -> str:
    """Return where the site has a copy of a file that is not a page; `docs/` becomes the top."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}"


def _copy_files(folder: Path, pages: Mapping[str, str]) -> None:
    """Copy the files that pages link to, and that are no pages themselves."""
    for source in pages:
        text = (ROOT / source).read_text(encoding="utf-8")
        links = (found[2] for part in _CODE.split(text)[::2] for found in _LINK.finditer(part))
        for link in links:
            path = normpath(str(PurePosixPath(source).parent / link))
            if path not in pages and (ROOT / path).is_file():
                copy = folder / _copy_of(path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, copy)


def _decisions(folder: Path) -> str:
    pages = sorted(path for path in (folder / "decisions").glob("0*.md"))
    rows = [f"- [{title_of(path)}]({path.name})" for path in pages]
    intro = "The reasons for the design, in the order of the decisions."
    return "\n".join(("# Decisions", "", intro, "", *rows, *_contents(pages), ""))


def _contents(pages: Iterable[Path]) -> Iterator[str]:
    """Yield the table of contents of a folder, which only the navigation shows."""
    yield from ("", "```{toctree}", ":hidden:", "", *(path.stem for path in pages), "```")


def title_of(path: Path) -> str:
    """Return the first heading of a page."""
    found = _TITLE.search(path.read_text(encoding="utf-8"))
    return found[1] if found else path.stem


def navigation(folder: Path) -> Iterator[str]:
    """Yield the tables of contents that the front page ends with; the theme shows them."""
    for caption, pages in _SECTIONS.items():
        entries = [entry for page in pages for entry in _entries(folder, page)]
        if entries:
            yield from ("", "```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```")


def _entries(folder: Path, page: str) -> Iterator[str]:
    """Yield the entries of a table of contents; one that names its title stays as it is."""
    if page.endswith(">"):
        yield page
    for path in sorted(folder.glob(page)):
        yield path.relative_to(folder).with_suffix("").as_posix()
