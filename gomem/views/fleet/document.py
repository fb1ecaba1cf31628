"""A fleet as a document: the verdict, the outliers, the distributions, and each instance."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gomem.analysis.fleet.quantities import BY_NAME
from gomem.fleets.reports import report_name
from gomem.fleets.verdict import outlier_sentence
from gomem.inputs.schema import rows_of
from gomem.numbered import Build, Service
from gomem.text import Quoted, joined, text
from gomem.units import format_relative, is_unknown, minus
from gomem.views import tables
from gomem.views.document import (
    Cell,
    Document,
    Figure,
    Notes,
    Paragraph,
    Part,
    Section,
    Step,
    Tile,
    Tiles,
    Verdict,
    sections_of,
)
from gomem.views.figures.instances import plot_instances
from gomem.views.measurements import format_level
from gomem.views.share import Hidden, share
from gomem.views.tables import Column, table
from gomem.views.values import NOTHING
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.fleets.fleet import Fleet
    from gomem.views.document import Block

KIND = "Go fleet"
MAX_ROWS = 1000  # instances in the page; more belong in the data files
MAX_FAILED = 50
MAX_OUTLIERS = 200
SHOWN = Hidden()  # hides only home directories
DRAWN = ("rss_bytes", "live_heap", "heap_idle", "stacks", "native", "goroutines", "threads",
         "gc_cpu_fraction")  # fmt: skip
CAPTION = (
    "Each line goes from the lowest instance to the highest, with the middle half and the median. "
    "Squares are instances unlike the others."
)
TITLES = {name: f"{q.words[:1].upper()}{q.words[1:]}" for name, q in BY_NAME.items()}
Row = dict[str, Any]


def fleet_document(fleet: Fleet, hidden: Hidden = SHOWN) -> Document:
    """Build the document; `hidden` says what to leave out, see `share`."""
    captures = fleet.captures
    facts: tuple[tuple[str, str], ...] = (("Captures", str(len(captures))),)
    times = captures["time"].dropna()
    if len(times):
        span = f"{times.min():%Y-%m-%d %H:%M} to {times.max():%Y-%m-%d %H:%M} UTC"
        facts = (*facts, ("Captured", span))
    services = joined(", ", map(Service, sorted(set(captures["service"]) - {""})))
    document = Document(
        kind=KIND,
        title=services or how_many(fleet.verdict.instances, "instance"),
        facts=facts,
        verdict=_verdict(fleet),
        sections=sections_of(SECTIONS, fleet),
        opening=_opening(fleet),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden)


def _verdict(fleet: Fleet) -> Verdict:
    found = fleet.verdict
    steps = (Step(found.next_step, is_command=True),) if found.next_step else ()
    if found.alike is None:
        return Verdict("neutral", "no verdict", found.sentence, found.details, steps)
    is_alike = fleet.outliers.empty
    tone, label = ("good", "alike") if is_alike else ("warning", "outliers")
    return Verdict(tone, label, found.sentence, found.details, steps)  # type: ignore[arg-type]


def _opening(fleet: Fleet) -> tuple[Block, ...]:
    told = [Tile(str(fleet.verdict.instances), "instances")]
    if len(fleet.rss) == 1:
        (row,) = rows_of(fleet.rss)
        sizes = (("p50_bytes", "RSS, median"), ("p99_bytes", "RSS, p99"), ("max_bytes", "RSS, max"))
        told += [
            Tile(format_level(row[name], "B"), words)
            for name, words in sizes
            if not is_unknown(row[name])
        ]
    return (Tiles(tuple(told)),)


def _value(heading: str, name: str) -> Column:
    """A number in the unit of its row."""

    def cell(row: Row) -> Cell:
        value = row[name]
        if is_unknown(value):
            return NOTHING
        return Cell(format_level(value, row["unit"]), f"{value:g}")

    return Column(heading, cell)


def _name(row: Row) -> Cell:
    return Cell(row["instance"], link=row.get("link", ""))


def _of_part(row: Row) -> Cell:
    quantity = BY_NAME.get(row["part"])
    return Cell(row["part"] if quantity is None else quantity.words, note=row["code"])


def _distance(row: Row) -> Cell:
    return NOTHING if is_unknown(row["z"]) else Cell(f"{row['z']:,.0f}".replace(",", "\u202f"))


OUTLIERS = (
    Column("instance", _name, "<"), Column("what", _of_part, "<"), _value("value", "value"),
    _value("median of the others", "median"), Column("z", _distance),
    tables.size("memory beyond", "cost_bytes"), tables.share("CPU beyond", "cost_cpu_fraction"),
    tables.words("settings", "settings"), tables.words("build", "build"),
)  # fmt: skip
INSTANCES = (
    Column("instance", _name, "<"), tables.words("build", lambda row: row["build"] or "–"),
    tables.size("RSS", "rss_bytes"), tables.size("live heap", "live_heap"),
    tables.size("idle heap", "heap_idle"), tables.size("stacks", "stacks"),
    tables.size("C", "native"), tables.count("goroutines", "goroutines"),
    tables.count("threads", "threads"), tables.share("GC CPU", "gc_cpu_fraction"),
    tables.count("captures", "captures"),
    tables.words("unlike in", lambda row: "" if is_unknown(row["unlike"]) else row["unlike"]),
)  # fmt: skip
DISTRIBUTIONS = (
    tables.words("quantity", lambda row: BY_NAME[row["name"]].words),
    tables.words("service", "service"), tables.count("instances", "instances"),
    _value("least", "least"), _value("p25", "p25"), _value("median", "p50"), _value("p75", "p75"),
    _value("p99", "p99"), _value("most", "most"),
)  # fmt: skip
BUILDS = (
    tables.words("quantity", lambda row: BY_NAME[row["name"]].words),
    tables.words("build", "build"), tables.count("n", "n"), _value("median", "median"),
    _value("low", "low"), _value("high", "high"),
    tables.words("change", lambda row: "" if is_unknown(row["change"])
                 else minus(format_relative(row["change"]))),
    tables.words("verdict", lambda row: "" if is_unknown(row["verdict"]) else row["verdict"]),
)  # fmt: skip
DRIFT = (
    tables.words("instance", "instance"), tables.words("quantity", "name"),
    _value("first", "first"), _value("last", "last"), tables.count("captures", "captures"),
    Column("an hour", lambda row: Cell(format_level(row["slope_per_second"] * 3600, row["unit"]))),
)  # fmt: skip
FAILED = (
    tables.words("capture", "capture"), tables.words("why", "what"),
)  # fmt: skip
BUILDS_LEGEND = (
    "each build is compared with the previous build by a Mann-Whitney test, corrected for all "
    "builds; ? means too few values"
)


def _linked(fleet: Fleet, rows: list[Row]) -> list[Row]:
    """Link rows to the report of their capture, if one is written; the link names the capture."""
    there = fleet.dataset.written_reports
    for row in rows:
        name = report_name(row["capture"])
        row["link"] = Quoted(f"reports/{quote(name)}" if name in there else "")
    return rows


def _outliers(fleet: Fleet) -> Section | None:
    rows = _linked(fleet, rows_of(fleet.outliers))
    if not rows:
        return None
    sentences = tuple(Paragraph(outlier_sentence(row)) for row in rows[:MAX_OUTLIERS])
    shown = table("Unlike the others", OUTLIERS, rows[:MAX_OUTLIERS])
    return Section("outliers", "Unlike the others", (*sentences, shown),
                   gist=how_many(len(rows), "instance"), opened=True)  # fmt: skip


def _distributions(fleet: Fleet) -> Section | None:
    frame = fleet.distributions
    if frame.empty:
        return None
    blocks: list[Block] = []
    for service in dict.fromkeys(frame["service"]):
        mine = _drawn(frame[frame["service"] == service])
        unlike = fleet.outliers[fleet.outliers["service"] == service]
        drawn = {"distributions": mine, "unlike": unlike, "titles": TITLES,
                 "name": f"instances-{len(blocks)}"}  # fmt: skip
        caption = text("{}: {}", Service(service), CAPTION) if service else CAPTION
        if len(mine):
            blocks.append(Figure(caption, plot_instances, lambda drawn=drawn: drawn))  # type: ignore[misc]
    blocks.append(table("Over the instances", DISTRIBUTIONS, frame))
    return Section("distributions", "Distributions over the instances", tuple(blocks), brief=False,
                   gist=how_many(frame["name"].nunique(), "quantity", "quantities"),
                   opened=True)  # fmt: skip


def _drawn(frame: pd.DataFrame) -> pd.DataFrame:
    """The quantities of a service to draw, in order, without those that no instance has."""
    known = frame[frame["name"].isin(DRAWN) & (frame["most"] > 0)]
    return known.iloc[known["name"].map(DRAWN.index).argsort(kind="stable")]


def _instances(fleet: Fleet) -> Section | None:
    frame = fleet.instances
    if frame.empty:
        return None
    first = frame.assign(_is_odd=frame["unlike"].isna()).sort_values(
        ["_is_odd", "rss_bytes"], ascending=[True, False], kind="stable"
    )
    rows = _linked(fleet, rows_of(first.head(MAX_ROWS)))
    blocks: list[Block] = [table("Instances, as of their last capture", INSTANCES, rows)]
    if len(frame) > MAX_ROWS:
        order = "instances unlike the others first, then by RSS"
        more = f"the first {MAX_ROWS} of {len(frame)}: {order}; --format json has all"
        blocks.append(Notes((more,)))
    gist = how_many(len(frame), "instance")
    return Section("instances", "Instances", tuple(blocks), brief=False, gist=gist)


def _builds(fleet: Fleet) -> Section | None:
    frame = fleet.builds
    several = frame.groupby(["service", "name"])["build"].transform("size") > 1
    if not several.any():
        return None
    names = joined(", ", map(Build, dict.fromkeys(frame.loc[several, "build"])))
    shown = table("Builds", BUILDS, frame[several])
    return Section("builds", "Builds", (shown, Notes((BUILDS_LEGEND,))), brief=False, gist=names)


def _drift(fleet: Fleet) -> Section | None:
    if fleet.drift.empty:
        return None
    gist = how_many(fleet.drift["instance"].nunique(), "instance")
    return Section("drift", "Drift", (table("Rising from capture to capture", DRIFT, fleet.drift),),
                   gist=gist)  # fmt: skip


def _failed(fleet: Fleet) -> Section | None:
    frame = fleet.failed
    if frame.empty:
        return None
    shown = table("Captures that could not be read", FAILED, frame.head(MAX_FAILED))
    more = len(frame) - MAX_FAILED
    rest: tuple[Block, ...] = (Notes((f"and {more} more",)),) if more > 0 else ()
    return Section("failed", "Not read", (shown, *rest), gist=how_many(len(frame), "capture"))


SECTIONS: tuple[Part[Fleet], ...] = (
    Part("outliers", _outliers, "No instance is unlike the others"),
    Part("distributions", _distributions, "No capture has a size"),
    Part("builds", _builds, "All instances are of one build"),
    Part("drift", _drift, "Nothing rises from capture to capture"),
    Part("instances", _instances, "No capture was read"),
    Part("failed", _failed, "Every capture was read"),
)
