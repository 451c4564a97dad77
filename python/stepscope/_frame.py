"""The page of a report inside a notebook."""

from __future__ import annotations

import html
import re
from typing import Any

from stepscope._ask import whole, words
from stepscope._errors import UsageError
from stepscope._report import Page

VIEWS = ("verdict", "timeline", "operators", "kernels", "modules", "memory", "distributed", "data", "source", "diff")
LARGE = 10_000_000  # characters of a notebook that are worth a sentence
# The frame covers the sentence. Where a viewer removes frames, the sentence remains.
DRAWN = """<div class="stepscope-frame">{about}<div style="position:relative"><p style="position:absolute;margin:0;padding:1em">{headline}<br>\
To see the page, trust this notebook, or run the cell again.</p>\
<iframe title="{title}" sandbox="allow-scripts allow-popups allow-downloads" style="position:relative;display:block;width:100%;\
height:{height}px;border:1px solid #8884;border-radius:4px;background:Canvas" srcdoc='{page}'></iframe></div></div>"""


def address_of(view: str) -> str:
    """The view's part of the page's address: "timeline" becomes "#/timeline"."""
    bare = words("view", view).removeprefix("#").removeprefix("/")
    page = bare.partition("?")[0]
    if page not in VIEWS:
        raise UsageError(f"there is no view {page!r}; the views are {', '.join(VIEWS)}")
    return f"#/{bare}"


class Frame:
    """A report's page, as :meth:`Trace.show` gives it. A notebook draws it, and keeps it when it is saved."""

    def __init__(self, report: Page, view: str, height: int, file: dict[str, Any]) -> None:
        self._report = report
        self.view = address_of(view)
        self.height = whole("height", height)
        if self.height <= 0:
            raise UsageError(f"height is in pixels and must be above 0, not {height}")
        self._html = report.to_html(**file)

    def __repr__(self) -> str:
        return f"<stepscope.Frame {self.view} of {self._report!r}; a notebook draws it>"

    def __str__(self) -> str:
        return str(self._report)

    def _repr_html_(self) -> str:
        page = _attribute(self._with_view())
        headline = next(iter(self._report.verdict["headline"].to_list()), "")
        large = f"{len(page) / 1e6:.0f} MB of this notebook hold this page. A smaller <code>max_size</code> makes it smaller."
        return DRAWN.format(page=page, height=self.height, title=html.escape(self._report.title),
                            headline=html.escape(str(headline or "")), about=f"<p>{large}</p>" if len(page) > LARGE else "")

    def _with_view(self) -> str:
        """A frame of text has no address, so the file itself names the view."""
        named = f'<meta name="stepscope-view" content="{html.escape(self.view)}">'
        return re.sub("<head>", lambda head: head[0] + named, self._html, count=1)


def _attribute(text: str) -> str:
    """As the value of an attribute in single quotes: reports have many double ones."""
    return text.replace("&", "&amp;").replace("'", "&#39;")
