"""Sphinx's settings for the course's site, as `make site` builds it."""

import re
from pathlib import Path

from sphinx.application import Sphinx

SCRIPT = re.compile(r"^.*fontawesome\.js.*\n", re.MULTILINE)

project = "The Transformer encoder, from scratch"
author = ""
language = "en"

extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]
nb_execution_mode = "off"  # results come from the executed solutions
nb_render_image_options = {}
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_heading_slug_func = "grader.website.anchors.heading_slug"
mathjax3_config = {"options": {"enableMenu": False}}  # its menu would need files that are left out

html_theme = "sphinx_book_theme"
html_title = project
html_sidebars = {"**": ["search-button-field.html", "sbt-sidebar-nav.html"]}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("predict.js", {"defer": "defer"}), ("front.js", {"defer": "defer"})]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "show_toc_level": 1,
    "navbar_persistent": [],  # the side bar has the search
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app: Sphinx) -> None:
    """Leave out the theme's script of 1.6 MB for icons: its style sheet shows them by a font."""
    app.connect("build-finished", without_script)


def without_script(app: Sphinx, _error: Exception | None) -> None:
    """Take the script's line out of all pages, and the file away."""
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(SCRIPT.sub("", text), encoding="utf-8")
    Path(app.outdir, "_static", "scripts", "fontawesome.js").unlink(missing_ok=True)
