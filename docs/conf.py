# docs/conf.py - how Sphinx makes the site; scripts/docs calls it.
"""Settings of Sphinx, and the marks in pages that generators fill."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

import tilefold  # noqa: E402
from generate import (  # noqa: E402
    docstrings,
    history,
    mathml,
    moved,
    pages,
    used,
)

project = "tilefold"
author = "the tilefold authors"
copyright = "the tilefold authors"  # noqa: A001
version = release = metadata.version("tilefold")
language = "en"

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_reredirects",
]
redirects = moved.MOVED
WITH_GALLERY = os.environ.get("TILEFOLD_DOCS_GALLERY", "1") == "1"
if WITH_GALLERY:
    extensions.append("sphinx_gallery.gen_gallery")
exclude_patterns = ["generate", "gallery/**/*.ipynb", "gallery/**/*.py"]
if not WITH_GALLERY:
    exclude_patterns.append("gallery/*/*")
exclude_patterns += ["**/sg_execution_times.rst", "sg_execution_times.rst"]
nitpicky = True
default_role = "py:obj"
# Names in docstrings of others' classes, and of types that have no page.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|torch|gpytorch|linear_operator|jax|sklearn|dask)\..*"),
    (r"py:.*", r"(pandas|scipy|np|typing|collections)\..*"),
    (r"py:class", r"tilefold\._core\..*"),
]

# ---- pages -------------------------------------------------------------------

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_excludepatterns = []
nb_merge_streams = True
nb_render_markdown_format = "myst"
copybutton_exclude = ".linenos, .gp, .go"

# ---- the reference of Python -------------------------------------------------

autodoc_member_order = "groupwise"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "undoc-members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_attributes_as_param_list = False

# ---- the gallery -------------------------------------------------------------

sphinx_gallery_conf = {
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("tilefold",),
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "filename_pattern": r"/plot_",
    "gallery_dirs": ["gallery"],
    "ignore_pattern": r"\brun\.py$",
    "image_scrapers": ("matplotlib",),
    "inspect_global_variables": False,
    "matplotlib_animations": False,
    "min_reported_time": 1,
    "parallel": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "reference_url": {"tilefold": None},
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # its table is drawn by another host
}

GALLERY = HERE / "gallery" / "index.rst"
if not WITH_GALLERY:
    GALLERY.parent.mkdir(exist_ok=True)
    GALLERY.write_text(
        "Gallery\n=======\n\n"
        "This copy of the site was made without the gallery.\n"
    )

# ---- HTML --------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "tilefold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "use_edit_page_button": False,
}
if switcher := os.environ.get("TILEFOLD_DOCS_SWITCHER"):
    # A published site has several versions, and tells which one this is.
    html_theme_options["switcher"] = {
        "json_url": switcher,
        "version_match": os.environ.get("TILEFOLD_DOCS_VERSION", "dev"),
    }
    html_theme_options["check_switcher"] = False
    html_theme_options["show_version_warning_banner"] = True
    html_theme_options["navbar_end"] = [
        "version-switcher",
        "theme-switcher",
    ]

NAMES = frozenset(tilefold.__all__) - {"__version__"}


def fill(app: object, docname: str, source: list[str]) -> None:
    """Marks of a page, by what generators make of the source's tables."""
    source[0] = pages.filled(docname, source[0])


def mend(
    app: object,
    what: str,
    name: str,
    documented: object,
    options: object,
    lines: list[str],
) -> None:
    """A docstring that holds formulas, as reStructuredText."""
    module = sys.modules.get(name.rpartition(".")[0], tilefold)
    elsewhere = NAMES if module is tilefold else NAMES - vars(module).keys()
    lines[:] = docstrings.as_rst(docstrings.qualified(lines, elsewhere), NAMES)


def with_examples(
    app: object,
    what: str,
    name: str,
    documented: object,
    options: object,
    lines: list[str],
) -> None:
    """Thumbnails of the gallery's examples that use what is documented."""
    lines += used.examples(name)


def without_self(
    app: object,
    what: str,
    name: str,
    documented: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None] | None:
    """Signatures of compiled methods show what is passed, and no `self`."""
    if what == "method" and signature and signature.startswith("(self"):
        return "(" + signature.removeprefix("(self").lstrip(", "), returned
    return None


def skipped(
    app: object,
    what: str,
    name: str,
    documented: object,
    skip: bool,
    options: object,
) -> bool | None:
    """Methods that scikit-learn writes for its routing of metadata."""
    return True if re.fullmatch(r"[gs]et_\w*(request|routing)", name) else None


def finish(app: object, exception: Exception | None) -> None:
    """Files beside the pages, which link to them."""
    if exception is None:
        folder = Path(app.outdir)  # type: ignore[attr-defined]
        history.write(folder / "performance/history.json")


def setup(app: object) -> dict[str, bool]:
    """Connects the generators; before numpydoc reads a docstring."""
    app.add_html_math_renderer(  # type: ignore[attr-defined]
        "mathml", (mathml.inline, None), (mathml.display, None)
    )
    app.connect("source-read", fill)  # type: ignore[attr-defined]
    app.connect("build-finished", finish)  # type: ignore[attr-defined]
    app.connect(  # type: ignore[attr-defined]
        "autodoc-process-docstring", mend, priority=100
    )
    if WITH_GALLERY:
        app.connect(  # type: ignore[attr-defined]
            "autodoc-process-docstring", with_examples, priority=900
        )
    app.connect(  # type: ignore[attr-defined]
        "autodoc-process-signature", without_self, priority=100
    )
    app.connect("autodoc-skip-member", skipped)  # type: ignore[attr-defined]
    return {"parallel_read_safe": True}
