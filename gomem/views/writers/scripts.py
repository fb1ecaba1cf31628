"""gomem's own scripts, stored beside the templates, and the policy that allows them.

Pages are complete without scripts.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256

from gomem.sources.packaged import text_beside

PACKAGE, FOLDER = "gomem.views.writers", "templates"


@cache
def page_script() -> str:
    """Return the page script: it sorts tables, expands link targets, and can expand all.

    It creates the buttons itself, so a page without scripts has no dead buttons.
    """
    return text_beside(PACKAGE, FOLDER, "page.js")


@cache
def flame_script() -> str:
    """Return the flame-graph script: zoom, search, keys, and other views of the same calls.

    The page has the call tree. The script can invert it (who allocates, then the callers), or put
    one function in the middle, with all callers above and all callees below. It sets up each graph
    once, even if a page includes the script repeatedly, and adds the controls.
    """
    return text_beside(PACKAGE, FOLDER, "flame.js")


@cache
def source_of(script: str) -> str:
    """Return a script's hash for a content security policy, which then allows no other script."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
