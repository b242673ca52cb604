"""One page about a model: what it was fitted to, how, what it says, and where it is wrong.

`summarize` finds everything out as a plain dict, `page` makes one HTML file of it that needs nothing else: no network,
no other file. Sections that a model has nothing to say in are left out. Needs jinja2 and matplotlib:
pip install "anyboost[report]".
"""

from anyboost.report.page import write
from anyboost.report.summary import summarize

__all__ = ["summarize", "write"]
