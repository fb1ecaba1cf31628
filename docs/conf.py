"""The manual: MyST pages, some of them generated from gomem's code by `docs/_ext`.

    make docs      builds it into build/docs, with warnings as errors

The tests build it with `-D gomem_brief=1`: without slow commands, and with few examples.

All of gomem's output is real: the build runs the commands in `{gomem}` blocks and the cells, and
generates the pages of causes, columns, fields, thresholds and commands from the code.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]
# If installed, jsonschema would build the grammar of IRIs; no notebook's schema has one.
sys.modules["rfc3987_syntax"] = None

project = "gomem"
author = "the authors of gomem"
release = version = version_of("gomem")
extensions = ["myst_nb", "gomem_math", "gomem_output", "gomem_pages"]
exclude_patterns = ["gallery", "**.ipynb_checkpoints"]
html_theme = "furo"
html_title = "gomem"
html_static_path = ["_static"]
html_css_files = ["gomem.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_search_scorer = str(HERE / "_static" / "scorer.js")  # headings equal to the query come first
html_math_renderer = "mathml"  # no scripts
html_theme_options = {"navigation_with_keys": True}
smartquotes = False  # so that a search finds headings as typed
pygments_style, pygments_dark_style = "friendly", "monokai"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # shell lines with $PID or POD… in them

nb_execution_mode = "force"
nb_execution_in_temp = False
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
