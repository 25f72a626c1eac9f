"""Build the site: stage the pages, run Sphinx with warnings as errors, and check the links.

    python -m scripts.site [FOLDER]      # default: build/site; the site is FOLDER/html

Needs the extra `docs`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from scripts.site.catalogue_pages import Catalogue, catalogue_pages
from scripts.site.check_links import broken_links
from scripts.site.reference_pages import reference_pages, schema_files
from scripts.site.staging import ROOT, navigation, stage


def write_source(folder: Path) -> None:
    """Write all pages into `folder`, which must not exist."""
    folder.mkdir(parents=True)
    stage(folder)
    for name, text in (*catalogue_pages(Catalogue()), *reference_pages()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    for name, content in schema_files():
        (folder / "reference" / "schemas" / name).write_bytes(content)
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(f"{line}\n" for line in navigation(folder))


def main(folder: Path) -> int:
    """Build the site in `folder`; return the exit code."""
    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    write_source(source)
    sphinx = (sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet")
    options = ("-j", "auto", "-b", "html", "-c", str(ROOT / "docs"), "-d", str(folder / "cache"))
    done = subprocess.run((*sphinx, *options, str(source), str(html)), check=False)
    if done.returncode:
        return done.returncode
    problems = list(broken_links(html))
    for problem in problems:
        print(problem, file=sys.stderr)
    pages = sum(1 for _ in html.rglob("*.html"))
    print(f"{html / 'index.html'}: {pages} pages, {len(problems)} broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "site"))
