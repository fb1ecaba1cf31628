"""gomem's own scripts, stored beside the templates, and the policy that allows them.

A page is complete without them.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256

from gomem.sources.packaged import text_beside

PACKAGE, FOLDER = "gomem.views.writers", "templates"


@cache
def page_script() -> str:
    """The script of a page: tables sort, links unfold what they lead to, and all can be unfolded.

    It makes the buttons itself: without it there is no dead one.
    """
    return text_beside(PACKAGE, FOLDER, "page.js")


@cache
def flame_script() -> str:
    """The script of a flame graph: zoom, search, keys, and the same calls seen from other sides.

    What stands in the page is the tree of calls; the script turns it round (who allocates, then by
    whom it was called) or puts one function in the middle, with all that calls it above and all
    that it calls below. It takes every graph on the page that it has not taken yet, so that it may
    stand there more than once, and makes what only it can serve.
    """
    return text_beside(PACKAGE, FOLDER, "flame.js")


@cache
def source_of(script: str) -> str:
    """A script as a policy names it: a page that allows it allows no other."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
