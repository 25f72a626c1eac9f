"""Settings of Sphinx for the documentation site; `python -m scripts.site` writes its source."""

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
# A single backtick in a docstring is code, as in Markdown.
default_role = "literal"

myst_heading_anchors = 4
# Text such as `:param:` or a bare address stays as it is written.
myst_enable_extensions = []

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Fields", "params_style")]

html_theme = "furo"
html_title = f"harness {release}"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
