"""A page for each cause: gomem's explanation, and a recorded process that has the cause."""

import json
import tomllib
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html import escape
from pathlib import Path
from textwrap import fill

from gomem_run import FIXTURES

from gomem.causes import CAUSES
from gomem.units import format_value
from gomem.views.document import Figure, Folded
from gomem.views.references import address_of

WORDS = Path(__file__).parent / "causes.toml"
MEASURED = Path(__file__).parent.parent / "measured.json"
LABORATORY = FIXTURES / "laboratory" / "truth.json"
WORKERS = 2
WIDTH = 80
# One with a figure, one of a log, one with a baseline, and one of a single file.
EXAMPLES_IF_BRIEF = ("goroutine-leak", "long-pauses", "untouched-now-resident", "data-missing")
SECTIONS_WITH_FIGURES = ("moments", "ledger", "collector", "allocations")


@cache
def words() -> dict:
    """Return the texts of `causes.toml` by cause."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def cause_pages(*, brief: bool = False) -> dict[str, str]:
    """Return the pages' texts by name, including the index; if brief, with few examples."""
    codes = [cause.code for cause in CAUSES]
    if brief:
        pages = [_page(cause, with_example=cause.code in EXAMPLES_IF_BRIEF) for cause in CAUSES]
    else:
        with ProcessPoolExecutor(WORKERS) as pool:
            pages = list(pool.map(_page, CAUSES))
    return dict(zip(codes, pages, strict=True)) | {"index": _index()}


def _index() -> str:
    rows = "\n".join(f"| [{words()[c.code]['title']}]({c.code}.md) | `{c.code}` |" for c in CAUSES)
    names = "\n".join(cause.code for cause in CAUSES)
    return (
        "# Causes\n\ngomem looks for all of these causes in every capture. Each page has "
        "the symptoms, the meaning, the confidence, the fix, and how to verify it.\n\n"
        f"{_overall()}"
        f"| Cause | Name in reports |\n|---|---|\n{rows}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def _page(cause, *, with_example: bool = True) -> str:
    said = words()[cause.code]
    return "\n\n".join(
        [
            f"# {said['title']}",
            f"In reports: `{cause.code}`.",
            "## What you see",
            "\n".join(f"- {line}" for line in said["see"]),
            "## What it means",
            _plain(cause.mechanism),
            _example(cause, said) if with_example else "",
            "## How sure gomem is",
            said["sure"],
            _reliability(cause.code),
            "## What to do",
            _plain(cause.remedy),
            _commands(said["do"]),
            "## How to check that it helped",
            said["check"],
            _commands(said["check_do"]),
            "## Read on",
            _references(cause),
        ]
    )


def _plain(text: str) -> str:
    """Escape text for people, so that Markdown does not read it as markup."""
    return "".join(f"\\{letter}" if letter in "\\*_{}[]<>|$" else letter for letter in text)


def _commands(commands: list[str]) -> str:
    return "```bash\n" + "\n".join(commands) + "\n```"


def _references(cause) -> str:
    lines = [
        f"- [{reference}]({address_of(reference)})" if address_of(reference) else f"- {reference}"
        for reference in cause.references
    ]
    module = f"gomem/causes/{cause.code.replace('-', '_')}.py"
    lines.append(
        f"- The rule, with its reasons: `{module}`; its [thresholds](../reference/thresholds.md)"
    )
    return "\n".join(lines)


def _reliability(code: str) -> str:
    """Say how often the cause was found, and was right, in the laboratory; empty if unknown."""
    row = _measured().get("causes", {}).get(code)
    if row is None:
        return ""
    count = _measured()["overall"]["captures"]
    found = f"found in {row['found']} of {row['recorded']} that have it."
    lines = [f"Measured on {count} recorded processes with a known cause: {found}"]
    lines += [
        f"Of the *{confidence}* warnings, {counts['right']} of {counts['count']} were right."
        for confidence, counts in row["warnings"].items()
        if counts["count"]
    ]
    return " ".join(lines)


@cache
def _measured() -> dict:
    """Return the counts of `make laboratory`; empty if it has not been run."""
    return json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}


def _overall() -> str:
    """Say how often gomem was right over the whole laboratory."""
    if not _measured():
        return ""
    told = _measured()["overall"]
    return (
        f"gomem was tested on {told['captures']} recorded processes with a known cause. The first "
        f"finding was right for {told['first_finding_right']} of {told['ill']} with a problem. "
        f"{told['healthy_without_warning']} of {told['healthy']} healthy ones had no warning. "
        "`make laboratory` repeats the test. Most of these processes were used to improve the "
        "rules; `fixtures/laboratory/README.md` has the result of each set at first sight.\n\n"
    )


def _example(cause, said: dict) -> str:
    """Show gomem's report on a recorded process, with a figure."""
    import gomem

    diagnosis = gomem.diagnose(
        FIXTURES / said["example"],
        FIXTURES / said["baseline"] if "baseline" in said else None,
    )
    finding = next((found for found in diagnosis.findings if found.code == cause.code), None)
    if finding is None:
        raise ValueError(f"{said['example']} has no {cause.code}: choose another example")
    said_so = fill(f"{finding.severity} ({finding.confidence}): {finding.title}", WIDTH)
    proof = "\n".join(
        f"  {e.artefact}  {e.field} = {format_value(e.value, e.unit)}" for e in finding.evidence
    )
    lines = [
        "## In a recorded process",
        _done(said["example"]),
        f"```text\n{said_so}\n{proof}\n```",
        _figure(cause, diagnosis),
    ]
    return "\n\n".join(line for line in lines if line)


def _done(example: str) -> str:
    """Say what was done to the process, from the laboratory's record."""
    name = Path(example).name.removesuffix(".tar.gz")
    told = json.loads(LABORATORY.read_text(encoding="utf-8")).get(name)
    if told is None:
        return f"`gomem report fixtures/{example}` says:"
    done = _plain("; ".join(cause["text"] for cause in told["causes"]))
    return f"Under Go {told['go']}: {done}. `gomem report fixtures/{example}` says:"


def _figure(cause, diagnosis) -> str:
    """Return the first figure in the cause's sections; empty if there is none."""
    from gomem.views.report.report import SECTIONS

    sections = {part.name: part for part in SECTIONS}
    for name in dict.fromkeys((*cause.bears_on, *SECTIONS_WITH_FIGURES)):
        section = sections[name].make(diagnosis) if name in sections else None
        for figure in _figures(section.blocks if section else ()):
            drawing = figure.draw()
            if hasattr(drawing, "svg"):
                caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
                return (
                    f'```{{raw}} html\n<figure class="gomem">{drawing.svg()}{caption}</figure>\n```'
                )
    return ""


def _figures(blocks):
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Folded):
            yield from _figures(block.blocks)
