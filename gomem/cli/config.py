"""`gomem.toml`: the budgets of a project, so that nobody has to type them.

    [budgets]
    rss = "+10%"
    gc_cpu = "+2pp"
    "allocs/op" = "+0"

It is searched for in the working directory and its parents. `--config` names another file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import CaptureError, did_you_mean
from gomem.sources.names import readable_name

if TYPE_CHECKING:
    from typing import Any

    from gomem.comparison.budgets import Budget

NAME = "gomem.toml"
TABLE = "budgets"
MAX_BYTES = 1 << 20
REGRESSION = "regression"


def configuration(named: Path | None) -> Path | None:
    """The file that holds: the one named, which has to be there, or the nearest here or above."""
    if named is not None:
        if not named.is_file():
            raise CaptureError(f"{readable_name(str(named))}: no such file; wanted a {NAME}")
        return named
    here = Path.cwd()
    return next((p for folder in (here, *here.parents) if (p := folder / NAME).is_file()), None)


def budgets_in(path: Path) -> dict[str, Budget]:
    """The budgets of a configuration, by metric; a CaptureError where a budget in it is none."""
    from gomem.comparison.budgets import budget_of

    shown = readable_name(str(path))
    table = _parsed(path, shown)
    for key in table:
        if key != TABLE:
            near = did_you_mean(key, [TABLE])
            raise CaptureError(f"{shown}: not a table of {NAME}: {key}; wanted [{TABLE}]{near}")
    budgets = table.get(TABLE, {})
    if not isinstance(budgets, dict):
        raise CaptureError(f'{shown}: {TABLE} is no table; wanted [{TABLE}] and rss = "+10%" below')
    found = {}
    for metric, size in budgets.items():
        if not isinstance(size, str):
            raise CaptureError(f'{shown}: {metric}: not a text; wanted one such as "+10%"')
        try:
            found[metric] = budget_of(metric, size)
        except CaptureError as error:
            raise CaptureError(f"{shown}: {error}") from error
    return found


def _parsed(path: Path, shown: str) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CaptureError(f"{shown}: cannot be read: {error.strerror}") from error
    if len(text) > MAX_BYTES:
        raise CaptureError(f"{shown}: larger than {MAX_BYTES} bytes; wanted a {NAME}")
    try:
        return tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{shown}: not TOML: {error}") from error


def failing_on(wanted: str | None) -> tuple[bool, dict[str, Budget]]:
    """What `--fail-on` asks for: whether a regression fails, and budgets by metric."""
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
            raise CaptureError(
                f"--fail-on: {word.strip() or 'nothing'}: neither {REGRESSION} nor a budget; "
                f"wanted {REGRESSION} or one such as rss=+10%,gc_cpu=+2pp{near}"
            )
    return regression, budgets
