"""How Sphinx makes the site of these pages: `make docs`, into docs/_build/html.

Pages are Markdown and stay readable where they lie; the API reference is made of the docstrings, and the gallery of the
scripts in docs/examples, which are run. Search is Sphinx's own and works from files, without a server or a network: its
excerpts come from a script that the build writes.
"""

import importlib
import inspect
import json
import re
import sys
import types
import warnings
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))  # which knows the public names

project = "anyboost"
author = "the anyboost developers"
release = version = version_of("anyboost")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# Papers' names and ours end in underscores and hold bars: see `plain`.
default_role = "literal"

smartquotes = False  # words in quotes are code here, to be copied

autosummary_generate = True
autodoc_typehints = "none"
templates_path = ["_templates"]
numpydoc_show_class_members = False  # the template of classes has them, with all that they say

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # those pages fetch scripts from elsewhere
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "capture_repr": (),
}
suppress_warnings = [
    "config.cache"
]  # the gallery's settings hold a function, which Sphinx says it does not keep

html_theme = "pydata_sphinx_theme"
html_title = "anyboost"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"
# Sphinx's summary fetches pages, which a browser refuses where they are files: see `write_passages`.
html_show_search_summary = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "search_bar_text": "Search",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": True,
    "navigation_depth": 2,
}
html_sidebars = {"index": [], "start": []}  # which have no pages under them
project_copyright = "the anyboost developers"

# What a gallery of examples may say on the way, and the site need not repeat.
warnings.filterwarnings("ignore", "the loss ended at", UserWarning)


def plain(_app, what, _name, _obj, _options, lines):
    """Escape in docstrings what reStructuredText would read as a reference, and link the pages that they name."""
    if what == "module":
        return
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        parts = re.split(r"(`[^`]*`)", line)
        parts[::2] = [
            re.sub(r"(\w)_(?=\W|$)", r"\1\\_", part).replace("|", r"\|").replace("*", r"\*")
            for part in parts[::2]
        ]
        parts[::2] = [re.sub(r"\bdocs/([a-z-]+)\.md\b", r":doc:`/\1`", part) for part in parts[::2]]
        lines[number] = "".join(parts)


def skip(_app, _what, name, value, given, _options):
    """Leave out members that scikit-learn documents, and fields that a class's own docstring tells about."""
    value = getattr(value, "fget", None) or value
    own = str(getattr(value, "__module__", "")).startswith("anyboost")
    if not callable(value) or not own or re.fullmatch(r"set_\w+_request", name):
        return True
    return given


def write_rooms(_app, _config):
    """A page for each room with all of its public names, those that tests/test_docstrings.py holds to a docstring.

    And what each room is for, which docs/api.md includes.
    """
    from test_docstrings import ROOMS

    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    seen, rooms = set(), []
    for room, chosen in ROOMS.items():
        module = importlib.import_module(room)
        names = [name for name in chosen or module.__all__ if not name.startswith("_")]
        found = {name: getattr(module, name) for name in names}
        listed = [
            name
            for name, value in found.items()
            if id(value) not in seen and not isinstance(value, types.ModuleType)
        ]
        seen.update(id(found[name]) for name in listed)
        if listed:
            about = inspect.getdoc(module).split("\n\n")[0].replace("\n", " ").replace("|", r"\|")
            lines = [
                room,
                "=" * len(room),
                "",
                about,
                "",
                f".. currentmodule:: {room}",
                "",
                ".. autosummary::",
            ]
            lines += ["   :toctree: generated", "", *(f"   {name}" for name in sorted(listed)), ""]
            _write(folder / f"{room}.rst", "\n".join(lines))
            rooms.append(f":doc:`{room} </api/{room}>`\n   {about}\n")
    _write(folder / "rooms.txt", "\n".join(rooms))


def load_excerpts(app, page, _template, _context, _doctree):
    """Have the search page, and no other, load the script that shows excerpts."""
    if page == "search":
        app.add_js_file("excerpts.js")


def write_passages(app, failed):
    """The text of each page, section by section, as a script: _static/excerpts.js takes its excerpts from there."""
    if failed is None and app.builder.format == "html":
        pages = {name: list(passages(app.env.get_doctree(name))) for name in sorted(app.env.found_docs)}
        text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
        _write(Path(app.outdir) / "_static" / "passages.js", f"window.PASSAGES = {text};\n")


def passages(doctree):
    """The anchor and the text of each section of a page, and of each name that it documents: prose first, then code."""
    inner = (nodes.section, addnodes.desc)
    unseen = (
        nodes.title,
        nodes.comment,
        nodes.raw,
        addnodes.toctree,
        addnodes.index,
        addnodes.desc_signature,
    )
    for node in doctree.findall(lambda node: isinstance(node, inner)):
        section = isinstance(node, nodes.section)
        ids, children = (node if section else node[0])["ids"], (node if section else node[-1]).children
        children = sorted(children, key=lambda child: isinstance(child, nodes.literal_block))
        shown = (child.astext() for child in children if not isinstance(child, (*inner, *unseen)))
        text = " ".join(" ".join(shown).split())
        if text and ids:
            yield ids[0], text


def _write(path, text):
    """Unless it is the same: Sphinx reads again what was written later."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    """Connect all: pages ahead of those who look for them, docstrings ahead of numpydoc."""
    app.connect("config-inited", write_rooms)
    app.connect("autodoc-process-docstring", plain, priority=400)
    app.connect("autodoc-skip-member", skip)
    app.connect("html-page-context", load_excerpts)
    app.connect("build-finished", write_passages)
