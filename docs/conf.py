"""Settings of Sphinx for the documentation site; `python -m scripts.site` writes its source."""

from collections.abc import Callable
from posixpath import dirname

from sphinx.application import Sphinx

from harness import __version__

project = "harness"
author = "The authors of harness"
project_copyright = author
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
]
exclude_patterns = ["files"]
# Quotation marks are part of what the pages are about.
smartquotes = False
# A single backtick in a docstring is code, as in Markdown.
default_role = "literal"

myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Fields", "params_style")]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"harness {release}"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
_navigation: dict[str, str] = {}


def _share_navigation(
    app: Sphinx, page: str, _template: str, context: dict[str, object], _doctree: object
) -> None:
    """Build the navigation once for each folder of pages that are not in it, which is most pages.

    They mark no entry as the current one, so their navigation is equal. Without this, it takes
    longer than everything else.
    """
    build: Callable[..., str] = context["toctree"]

    def navigation(**options: object) -> str:
        folder = dirname(page)
        if folder not in _navigation:
            _navigation[folder] = build(**options)
        return _navigation[folder]

    if "orphan" in app.env.metadata.get(page, {}):
        context["toctree"] = navigation


def setup(app: Sphinx) -> None:
    """Connect what the settings above cannot say."""
    app.connect("html-page-context", _share_navigation, priority=100)
