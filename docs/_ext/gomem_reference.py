"""The reference, generated from gomem's own dictionaries, so it is never out of date."""

import inspect
import re
from importlib import import_module

from gomem.causes import CAUSES
from gomem.causes.scores import scores
from gomem.causes.signatures import signatures
from gomem.inputs.kinds import KINDS
from gomem.inputs.schema import Column
from gomem.units import format_bytes
from gomem.views.explain.explanation import dictionaries, properties, thresholds
from gomem.views.json.schemas import SCHEMAS, schema_of


def reference_pages() -> dict[str, str]:
    """Return the pages' texts by name, including the index."""
    pages = {
        "frames": _frames(),
        "json": _json(),
        "thresholds": _thresholds(),
        "scores": _scores(),
        "commands": _commands(),
        "missing-calls": _missing_calls(),
    }
    listed = "\n".join(pages)
    index = (
        "# Reference\n\nThese pages are generated from gomem's own definitions. "
        "`gomem explain HeapIdle` prints the same text.\n\n- [Columns of every frame](frames.md)\n"
        "- [Fields of every JSON output](json.md)\n- [Thresholds](thresholds.md)\n"
        "- [Scores and their weights](scores.md)\n"
        "- [Commands and options](commands.md)\n- [Calls that can be missing](missing-calls.md)\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )
    return pages | {"index": index}


def _cell(text: str) -> str:
    return re.sub(r"([\\|*_<>\[\]{}$`])", r"\\\1", " ".join(text.split()))


# Calls


def _missing_calls() -> str:
    lines = [
        "# Calls that can be missing",
        (
            f"{len(signatures())} rows. A finding names the call of the first row that fits more "
            "than half of what piles up; a row alone makes no finding. `gomem explain` prints each "
            "by its name and by its functions. The functions of a module were read in the version "
            "that stands behind them."
        ),
    ]
    kinds = {kind: None for row in signatures() for kind in row.of}
    for kind in kinds:
        lines += [f"## {MISSING[kind]}", "| What piles up | Likely missing | Why |\n|---|---|---|"]
        lines[-1] += "".join(f"\n{_missing_row(row)}" for row in signatures() if kind == row.of[0])
    return "\n\n".join(lines) + "\n"


MISSING = {
    "goroutines": "Goroutines",
    "finalizers": "Finalizers",
    "threads": "Threads",
    "retained": "Live objects",
    "allocated": "Garbage",
    "native": "C memory",
}


def _missing_row(row) -> str:
    shown_by = "<br>".join(_cell(name) for name in row.frames or row.states)
    source = " ".join(filter(None, (row.module, row.releases)))
    held = f"<br>({_cell(source)})" if source else ""
    return f"| {shown_by}{held} | [{_cell(row.call)}]({row.reference}) | {_cell(row.why)} |"


# Frames


def _frames() -> str:
    lines = [
        "# Columns of every frame",
        (
            "Values are in base units: bytes, seconds, fractions of 1. Columns of type `Int64`, "
            "`Float64` or `boolean` can be missing (`<NA>`). Names from Go, the kernel and pprof "
            "keep their spelling."
        ),
    ]
    for module, frames in sorted(frames_by_module().items()):
        lines.append(f"## `{module}`")
        for name, columns in frames.items():
            rows = "\n".join(
                f"| `{c.name}` | `{c.dtype}` | {c.unit} | {_cell(c.means)} |" for c in columns
            )
            lines += [
                f"### `{name.lower()}`",
                f"| Column | Type | Unit | Meaning |\n|---|---|---|---|\n{rows}",
            ]
    return "\n\n".join(lines) + "\n"


def frames_by_module() -> dict[str, dict[str, tuple[Column, ...]]]:
    """Return the columns of every frame, by defining module and dictionary name."""
    found: dict[str, dict[str, tuple[Column, ...]]] = {}
    for module, name, columns in dictionaries():
        source = inspect.getsource(import_module(module))
        if not name.startswith("_") and re.search(rf"^{name}\b.*=", source, re.MULTILINE):
            found.setdefault(module, {})[name] = columns
    return found


# JSON


def _json() -> str:
    lines = [
        "# Fields of every JSON output",
        (
            "`--format json` writes JSON, and `gomem schema` prints its JSON Schema. "
            "`[]` stands for each element of a list. Values are in base units."
        ),
    ]
    for command in SCHEMAS:
        rows = "\n".join(
            f"| `{path}` | {kind} | {unit} | {_cell(means)} |"
            for path, kind, unit, means in json_fields(schema_of(command))
        )
        lines += [
            f"## {command}",
            f"| Field | Type | Unit | Meaning |\n|---|---|---|---|\n{rows}",
        ]
    return "\n\n".join(lines) + "\n"


def json_fields(schema: dict) -> list[tuple[str, str, str, str]]:
    """Return each field of a schema once: its path, type, unit and description."""
    rows: dict[str, tuple[str, str, str, str]] = {}
    for path, inner in properties(schema):
        place = ".".join(path).replace(".[]", "[]")
        row = (place, _type(inner), inner.get("x-unit", ""), inner.get("description", ""))
        rows.setdefault(place, row)
    return list(rows.values())


def _type(schema: dict) -> str:
    kinds = schema.get("type", [inner.get("type", "") for inner in schema.get("anyOf", ())])
    listed = (
        [kinds] if isinstance(kinds, str) else [kind for kind in kinds if isinstance(kind, str)]
    )
    return " or ".join(dict.fromkeys(filter(None, listed)))


# Thresholds


def _thresholds() -> str:
    rows = "\n".join(
        f"| `{name}` | {_default(name, default)} | {_cell(words)} |"
        for name, default, words in thresholds()
    )
    return (
        "# Thresholds\n\nA threshold decides where a finding begins. Change it on the command line "
        "with `--threshold NAME=VALUE`, or in Python with `gomem.diagnose(…, "
        "thresholds=gomem.Thresholds(NAME=VALUE))`. Sizes are in bytes, times in seconds, and "
        "shares are fractions of 1.\n\n"
        f"| Threshold | Default | What it decides, and why |\n|---|---|---|\n{rows}\n\n"
        f"They belong to {len(CAUSES)} causes: [Causes](../causes/index.md).\n"
    )


def _default(name: str, value: float) -> str:
    return format_bytes(value) if name.endswith("_bytes") else str(value)


def _scores() -> str:
    """Return the fitted weights; they are never edited by hand."""
    lines = [
        "# Scores and their weights",
        (
            "`make scores` fits the weights to recorded processes. "
            "[Growth score](../method/growth.md) explains them."
        ),
    ]
    for code, score in scores().items():
        rows = "\n".join(
            f"| `{f.name}` | {_cell(f.sentence)} | {f.weight:g} | {f.center:g} | {f.scale:g} |"
            for f in score.features
        )
        table = "| Feature | What it is | Weight | Mean | Deviation |\n|---|---|--:|--:|--:|\n"
        lines += [f"## {code}", f"Bias: {score.bias:g}.", table + rows]
    return "\n\n".join(lines) + "\n"


# Commands


def _commands() -> str:
    """Return `gomem COMMAND --help` for every command, from the same objects."""
    from gomem.cli.main import COMMANDS, overview, parser_of

    lines = ["# Commands and options", f"```text\n{overview().rstrip()}\n```"]
    for name in COMMANDS:
        command = parser_of(name)
        lines += [f"## gomem {name}", _help(command.help or "")]
        rows = [_option(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            table = "| Option or argument | Takes | What it does |\n|---|---|---|\n"
            lines.append(table + "\n".join(rows))
    kinds = ", ".join(f"`{kind.name}`" for kind in KINDS)
    lines += [
        "## What gomem reads",
        f"gomem recognises these by content, whatever the name of the file: {kinds}.",
    ]
    return "\n\n".join(lines) + "\n"


def _help(text: str) -> str:
    """Return a command's help text, with its examples as shell commands."""
    words, _, examples = inspect.cleandoc(text.replace("\b", "")).partition("Examples:")
    prose = "\n\n".join(_cell(paragraph) for paragraph in words.split("\n\n") if paragraph.strip())
    typed = "\n".join(line.strip() for line in examples.splitlines() if line.strip())
    return f"{prose}\n\n```bash\n{typed}\n```" if typed else prose


def _option(parameter) -> str:
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    is_said = parameter.param_type_name == "argument" or getattr(parameter, "is_flag", False)
    takes = "" if is_said else _takes(parameter)
    return f"| {names} | {takes} | {_cell(getattr(parameter, 'help', '') or '')} |"


def _takes(parameter) -> str:
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return ", ".join(f"`{getattr(choice, 'value', choice)}`" for choice in choices)
    return f"`{parameter.metavar}`" if parameter.metavar else parameter.type.name
