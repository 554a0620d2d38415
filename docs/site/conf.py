"""The settings of Sphinx for the site. `python -m docs.site` calls it; the pages are in build/site/source."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import hopwave
from docs.site.pages import code_address
from docs.site.reference import GROUPS

project = "hopwave"
author = "The hopwave maintainers"
project_copyright = author
release = version = hopwave.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
source_suffix = {".md": "markdown"}
root_doc = "index"
smartquotes_action = "D"  # -- becomes a dash; quotes stay as they were written

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# A page of results may begin below its title, and Sphinx does not know anchors (<a id="…">): `python -m docs` follows
# every link, those to anchors included.
suppress_warnings = ["myst.header", "myst.xref_missing"]

default_role = "py:obj"  # `bfs` in a docstring is a link where there is such a name
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types in words; see `returned` for those that do not
autodoc_preserve_defaults = False  # shared options are in the signature, and not in the source that would be read
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "hopwave"
html_static_path = ["static"]
html_css_files = ["hopwave.css"]
html_favicon = "static/icon.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system has it
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": f"hopwave {version}"},
    "icon_links": [{"name": "Source", "url": address, "icon": "fa-solid fa-code"}]
    if (address := code_address())
    else [],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc", "sourcelink"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
}


def returned(
    app: Any, what: str, name: str, member: Any, options: Any, arguments: str, _: Any
) -> tuple[str, str] | None:
    """The signature with what the function returns, if its docstring has no section about that."""
    found = getattr(member, "__annotations__", {}).get("return", "None")
    if not inspect.isfunction(member) or "\nReturns\n" in (inspect.getdoc(member) or "") or found == "None":
        return None
    return arguments, found


def with_siblings(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """A section that names the other public functions of the same module, if the docstring of a function has none."""
    package, _, short = name.rpartition(".")
    group = next((group for group in GROUPS if group.module == package and short in group.names), None)
    if what != "function" or group is None or "See Also" in lines:
        return
    home, others = importlib.import_module(package), []
    for other in group.names:
        found = getattr(home, other)
        if inspect.isfunction(found) and found.__module__ == member.__module__ and other != short:
            others.append(other)
    if others:
        lines += ["", "See Also", "--------", ", ".join(others), ""]


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", returned)
    app.connect("autodoc-process-docstring", with_siblings, priority=400)  # before napoleon reads the sections
