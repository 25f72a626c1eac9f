"""The links inside the built site: each leads to a file, and each fragment to an element."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_LINKS: Final = frozenset(("href", "src"))
_TARGETS: Final = frozenset(("id", "name"))


class _Page(HTMLParser):
    """Collects the links of a page and the places that a link can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the links and the places of one element."""
        for name, value in attrs:
            if value is not None and name in _LINKS and tag != "base":
                self.links.add(value)
            elif value is not None and name in _TARGETS:
                self.places.add(value)


@cache
def _page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken_links(folder: Path) -> Iterator[str]:
    """Yield a line for each link in `folder` that leads to no file or to no element."""
    for path in sorted(folder.rglob("*.html")):
        for link in sorted(_page(path).links):
            if reason := _reason(path, link):
                yield f"{path.relative_to(folder)}: {link}: {reason}"


def _reason(path: Path, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    if fragment and target.suffix == ".html" and fragment not in _page(target).places:
        return "no such heading"
    return ""
