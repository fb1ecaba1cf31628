"""A packaged notebook: prepared for a capture, executed, and written as one file.

Functions take and return a notebook's text; the caller reads and writes files. Cell tags:

* `parameters`: the cell that names the captures. For another capture its source is replaced.
* `fixture-only`: text about the recorded captures; left out for another capture.
* `check`: assertions about the recorded captures; left out for another capture.

The kernel is always this interpreter, whatever kernels are installed, and communicates over sockets
in a folder instead of the network.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from html import unescape
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.capture.watched import UNWATCHED
from gomem.errors import CaptureError, printable
from gomem.text import Quoted, text
from gomem.views.here import REDACTED
from gomem.views.json.table import written
from gomem.views.writers.html import environment
from gomem.views.writers.scripts import flame_script, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from pathlib import Path

PARAMETERS, FIXTURE_ONLY, CHECK = "parameters", "fixture-only", "check"
CELL_LIMIT_SECONDS = 600  # a slower cell hangs; large captures take one or two minutes
TEMPLATE = "notebook.html.jinja"
GRAMMAR_OF_IRIS = "rfc3987_syntax"
WAY_OUT = "gomem runs notebooks with an extra of its own: pip install 'gomem[notebooks]'"
_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~&]")
# Bidirectional control characters in a capture's names: pandas writes them as they are, and they
# would reverse the text.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_HEADING = re.compile(r"<h2>(?=([^<]*)</h2>)")
# nbconvert loads these from CDNs unless they are empty.
NETWORK_TRAITS = (
    "mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url", "mermaid_layout_elk_js_url",
    "jupyter_widgets_base_url",
)  # fmt: skip


def parameters_of(notebook: str) -> dict[str, bool]:
    """The parameters of a notebook, in order, and whether each can stay None.

    `{"CAPTURE": False, "BASELINE": True}`.
    """
    return {_name(line): line.endswith(" = None") for line in _parameter_lines(notebook)}


def taking_several(notebook: str) -> str | None:
    """The parameter that takes a list of captures, if there is one."""
    return next((_name(line) for line in _parameter_lines(notebook) if " = [" in line), None)


def _parameter_lines(notebook: str) -> list[str]:
    cells = (cell for cell in json.loads(notebook)["cells"] if PARAMETERS in _tags(cell))
    return [line for cell in cells for line in _lines(cell)]


def heading_of(notebook: str) -> str:
    """The title of a notebook: the first line of its first cell."""
    return _lines(json.loads(notebook)["cells"][0])[0].removeprefix("# ")


def notebook_for(notebook: str, parameters: Mapping[str, object]) -> str:
    """Prepare a notebook for other captures than the recorded ones.

    Parameters without a value become None. Raises KeyError for a required parameter.
    """
    parsed = json.loads(notebook)
    parsed["cells"] = [cell for cell in parsed["cells"] if not _tags(cell) & {FIXTURE_ONLY, CHECK}]
    values = {
        name: parameters.get(name) if is_optional else parameters[name]
        for name, is_optional in parameters_of(notebook).items()
    }
    return with_parameters(json.dumps(parsed), values)


def with_parameters(notebook: str, parameters: Mapping[str, object]) -> str:
    """Replace the values in the notebook's parameter cell."""
    parsed = json.loads(notebook)
    for cell in parsed["cells"]:
        if PARAMETERS in _tags(cell):
            names = [_name(line) for line in _lines(cell)]
            cell["source"] = "\n".join(f"{name} = {parameters.get(name)!r}" for name in names)
    return written(parsed, indent=1)


def headed(notebook: str, title: str, note: str) -> str:
    """Replace the title, and add a note below it; both are plain text."""
    title, note = (_MARKUP.sub(r"\\\g<0>", " ".join(words.split())) for words in (title, note))
    parsed = json.loads(notebook)
    first = parsed["cells"][0]
    lines = _lines(first)
    heading = [f"# {title}"] if title else lines[:1]
    remark = ["", f"> {note}"] if note else []
    first["source"] = "\n".join([*heading, *remark, *lines[1:]])
    return written(parsed, indent=1)


def execute_notebook(
    notebook: str, *, folder: Path, sockets: Path,
    progress: Callable[[int, int], None] | None = None,
    cell_limit_seconds: int = CELL_LIMIT_SECONDS, redact: bool = False,
) -> str:  # fmt: skip
    """Run every cell and store its output, without anything that differs between two runs.

    Relative paths start in `folder`. `sockets` needs a short path, because a socket's name has at
    most about a hundred characters. `progress` is called with the number of cells done, and of all
    cells. In redacted mode, cells hide names in their output.

    Raises:
        CaptureError: A cell failed or took too long, or the extra is not installed.
    """
    nbformat, nbclient = _nbformat(), _require("nbclient")
    node = nbformat.reads(notebook, as_version=4)
    total = len(node.cells)
    client = nbclient.NotebookClient(
        node,
        km=_kernel_of_this_interpreter(sockets),
        timeout=cell_limit_seconds,
        record_timing=False,
        shutdown_kernel="immediate",
        extra_arguments=["--InteractiveShellApp.ignore_cwd=True"],
        on_cell_complete=progress and (lambda cell_index, **_: progress(cell_index + 1, total)),
    )
    env = _environment(sockets) | ({REDACTED: "1"} if redact else {})
    try:
        _in_a_thread(_executed(client, cwd=str(folder), env=env))
    except nbclient.exceptions.CellExecutionError as error:
        is_ours = error.ename in {"CaptureError", "FormatError"}
        said = error.evalue if is_ours else f"{error.ename}: {error.evalue}"
        raise CaptureError(text("the notebook stopped: {}", Quoted(said))) from error
    except nbclient.exceptions.CellTimeoutError as error:
        words = f"a cell took longer than {cell_limit_seconds} s"
        raise CaptureError(text("the notebook stopped: {}", words)) from error
    finally:  # it is left behind if the clean-up itself is cancelled
        atexit.unregister(client._cleanup_kernel)  # noqa: SLF001 - nothing else names it
    return nbformat.writes(node) + "\n"


async def _executed(client: Any, **start: object) -> None:
    kernel = client.km  # which the client forgets once it has shut it down
    try:
        await client.async_execute(cleanup_kc=True, **start)
    finally:  # nbclient leaves a kernel behind that it is still starting
        if kernel.has_kernel:
            await kernel.shutdown_kernel(now=True)


def _in_a_thread(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine in a thread of its own; Ctrl-C cancels it, and waits until it has ended.

    In the main thread, nbclient would handle Ctrl-C itself, and fail at it.
    """
    loop = asyncio.new_event_loop()
    with closing(loop), ThreadPoolExecutor(1) as pool:
        pool.submit(loop.run_forever)
        running = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            running.result()
        finally:
            running.cancel()
            asyncio.run_coroutine_threadsafe(_all_tasks_ended(), loop).result()
            loop.call_soon_threadsafe(loop.stop)


async def _all_tasks_ended() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


def render_notebook_html(executed: str, *, title: str, hide_code: bool = False) -> str:
    """Convert an executed notebook to one HTML page that loads nothing.

    Prose, figures and tables are visible; code is folded, or left out. A table of contents links to
    each heading.
    """
    nbformat, exporters, ours = _nbformat(), _require("nbconvert.exporters"), environment()
    assert ours.loader is not None  # separate from nbconvert's environment
    exporter = exporters.HTMLExporter(
        raw_template=ours.loader.get_source(ours, TEMPLATE)[0],
        embed_images=True,
        exclude_anchor_links=True,
        skip_svg_encoding=True,
        exclude_input=hide_code,
        filters={"linkable": partial(_HEADING.sub, lambda h: f'<h2 id="{_slug(unescape(h[1]))}">')},
        **dict.fromkeys(NETWORK_TRAITS, ""),
    )
    node = nbformat.reads(executed, as_version=4)
    # The id and the text of each second-level heading.
    prose = "\n".join(cell.source for cell in node.cells if cell.cell_type == "markdown")
    words = [line.removeprefix("## ") for line in prose.splitlines() if line.startswith("## ")]
    contents = [(_slug(heading), heading) for heading in words]
    script = source_of(flame_script())
    made_by = f"gomem {version('gomem')}"
    metadata = {"name": title, "made_by": made_by, "script_source": script, "contents": contents}
    page, _ = exporter.from_notebook_node(node, {"metadata": metadata})
    return _UNSEEN.sub(lambda found: printable(found[0]), str(page))


def _slug(words: str) -> str:
    return re.sub(r"\W+", "-", words.lower()).strip("-")


def _nbformat() -> Any:
    """Import nbformat without jsonschema's slow import, which takes three seconds.

    It imports jsonschema, which makes lark build the grammar of IRIs if JupyterLab installed lark.
    A notebook's schema has no IRI.
    """
    if GRAMMAR_OF_IRIS in sys.modules:
        return _require("nbformat")
    sys.modules[GRAMMAR_OF_IRIS] = None  # type: ignore[assignment]  # importing it fails
    try:
        return _require("nbformat")
    finally:
        del sys.modules[GRAMMAR_OF_IRIS]


def _require(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise CaptureError(f"{name} is not installed; {WAY_OUT}") from error


def _kernel_of_this_interpreter(sockets: Path) -> Any:
    """A kernel manager without kernel folders, so that it uses this interpreter."""
    _require("ipykernel")
    client, kernelspec = _require("jupyter_client"), _require("jupyter_client.kernelspec")
    return client.AsyncKernelManager(
        kernel_name=kernelspec.NATIVE_KERNEL_NAME,
        kernel_spec_manager=kernelspec.KernelSpecManager(kernel_dirs=[]),
        transport="ipc",
        connection_file=str(sockets / "k.json"),
    )


def _environment(sockets: Path) -> dict[str, str]:
    """The environment of the kernel, without the user's settings and start-up files.

    The notebook's folder is not on the import path: a capture's folder or file must not become a
    module.
    """
    own = {"IPYTHONDIR": str(sockets / "ipython"), "PYTHONSAFEPATH": "1", UNWATCHED: "1"}
    return {**os.environ, **own}


def _tags(cell: dict[str, Any]) -> set[str]:
    return set(cell["metadata"].get("tags", ()))


def _name(line: str) -> str:
    return line.partition(" = ")[0]


def _lines(cell: dict[str, Any]) -> list[str]:
    source = cell["source"]
    return (source if isinstance(source, str) else "".join(source)).splitlines()
