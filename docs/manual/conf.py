# Sphinx builds the manual from the pages as they are: scripts/manual.sh. Its search works from a disk, because the index is a
# script and no file that a browser would have to fetch; mdBook, which was considered, takes minutes to compile.

import re

project = "dyno"
html_title = "dyno"
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["docs/*.md", "docs/**/*.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = []
html_show_sphinx = False
html_show_copyright = False
# A page's source is on the code host; the manual need not hold it twice.
html_copy_source = False
# Suites, scripts and schemas that pages link to become downloads. A folder cannot, nor a lexer know every language of a block.
suppress_warnings = ["misc.highlighting_failure"]


def contents(text):
    """The order of the pages on the left, from the headings and links of docs/README.md."""
    lists = []
    for section in text.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        pages = [re.sub(r"\.md$", "", link) for link in re.findall(r"^- \[[^]]*\]\(([^)#]+)\)", body, re.M)]
        lists.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"]))
    return "\n\n".join(lists)


def add_contents(app, name, source):
    if name == "docs/decisions/README":
        source[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
    if name == root_doc:
        source[0] += "\n\n" + contents(source[0]) + "\n\n```{toctree}\n:hidden:\n\n../README\n```\n"


def setup(app):
    app.connect("source-read", add_contents)
