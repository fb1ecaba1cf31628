"""`gomem.toml`: the budgets of a project.

    [budgets]
    rss = "+10%"
    gc_cpu = "+2pp"
    "allocs/op" = "+0"

gomem looks for this file in the working directory and its parents. `--config` names another file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.cli.output import file_part
from gomem.errors import CaptureError, did_you_mean
from gomem.numbered import Metric
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from typing import Any

    from gomem.comparison.budgets import Budget

NAME = "gomem.toml"
TABLE = "budgets"
MAX_BYTES = 1 << 20
REGRESSION = "regression"


def configuration(named: Path | None) -> Path | None:
    """Return the configuration file: the named one, or the nearest in this folder or above.

    None if no file is named or found. Raises CaptureError if the named file does not exist.
    """
    if named is not None:
        if not named.is_file():
            raise CaptureError(text("{}: no such file; wanted a {}", file_part(named), NAME))
        return named
    here = Path.cwd()
    return next((p for folder in (here, *here.parents) if (p := folder / NAME).is_file()), None)


def budgets_in(path: Path) -> dict[str, Budget]:
    """Return the budgets in a configuration file, by metric; raises CaptureError if invalid."""
    from gomem.comparison.budgets import budget_of

    named: File = file_part(path)
    table = _parsed(path, named)
    for key in table:
        if key != TABLE:
            near = did_you_mean(key, [TABLE])
            what = text("not a table of {}: {}; wanted [{}]{}", NAME, Quoted(key), TABLE, near)
            raise CaptureError(text("{}: {}", named, what))
    budgets = table.get(TABLE, {})
    if not isinstance(budgets, dict):
        wanted = f'wanted [{TABLE}] and rss = "+10%" below'
        raise CaptureError(text("{}: {} is not a table; {}", named, TABLE, wanted))
    found = {}
    for metric, size in budgets.items():
        if not isinstance(size, str):
            wanted = 'wanted one such as "+10%"'
            raise CaptureError(text("{}: {}: not a string; {}", named, Metric(metric), wanted))
        try:
            found[metric] = budget_of(metric, size)
        except CaptureError as error:
            raise CaptureError(text("{}: {}", named, error.message)) from error
    return found


def _parsed(path: Path, named: File) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or Quoted(error)
        raise CaptureError(text("{}: cannot be read: {}", named, why)) from error
    if len(content) > MAX_BYTES:
        what = f"larger than {MAX_BYTES} bytes; wanted a {NAME}"
        raise CaptureError(text("{}: {}", named, what))
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise CaptureError(text("{}: not TOML: {}", named, Quoted(error))) from error


def failing_on(wanted: str | None) -> tuple[bool, dict[str, Budget]]:
    """Parse `--fail-on`: whether a regression counts as failure, and budgets by metric."""
    from gomem.comparison.budgets import budget_of

    regression, budgets = False, {}
    for word in (wanted or "").split(","):
        metric, equals, size = word.partition("=")
        if equals:
            budgets[metric.strip()] = budget_of(metric.strip(), size)
        elif word.strip() == REGRESSION:
            regression = True
        elif wanted is not None:
            near = did_you_mean(word.strip(), [REGRESSION])
            given = Quoted(word.strip()) or "nothing"
            what = f"neither {REGRESSION} nor a budget; wanted {REGRESSION} or one such as"
            said = "--fail-on: {}: {} rss=+10%,gc_cpu=+2pp{}"
            raise CaptureError(text(said, given, what, near))
    return regression, budgets
