"""Valid inputs in one line: mappings, MemStats rows, and the facts that causes look at."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import gomem
from gomem.analysis.profiles.growth import GROWTH
from gomem.capture.capture import Capture
from gomem.causes.cause import Case
from gomem.causes.thresholds import Thresholds
from gomem.errors import Damage
from gomem.facts.capture import CaptureFacts
from gomem.facts.moment import MomentFacts
from gomem.facts.profiles import ProfileFacts
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.schema import empty
from gomem.inputs.smaps.table import read_smaps
from gomem.releases import GoVersion
from gomem.views.report.report import report_document
from gomem.views.writers.html import write_html
from gomem.views.writers.markdown import write_markdown
from gomem.views.writers.text import WIDTH, write_text

OF_PROFILES = frozenset(
    {
        "hides_most_in_use",
        "alloc_space",
        "allocation_holders",
        "growth",
        "growth_holders",
        "change_holders",
        "grown_moment",
        "in_use_holders",
        "heap_at_most",
        "heap_series",
        "in_use",
    }
    | {"paths", "spike"}
)
FIXTURES = Path(__file__).parent.parent / "fixtures"
CAPTURES = sorted(path for path in (FIXTURES / "captures").iterdir() if path.is_dir())
MOMENTS = sorted(path.parent for path in (FIXTURES / "captures").glob("*/*/smaps"))


def diagnosed(path: Path) -> gomem.Diagnosis:
    """The diagnosis of a fixture, made once for all tests: see `tests.recorded`."""
    return gomem.diagnose(path)


@cache
def html_report(path: Path) -> str:
    """The HTML report of a fixture, made once."""
    return as_html(diagnosed(path))


def as_html(diagnosis: gomem.Diagnosis, *, redact: bool = False) -> str:
    return write_html(report_document(diagnosis, redact=redact))


def as_text(diagnosis: gomem.Diagnosis, *, redact: bool = False, width: int = WIDTH) -> str:
    return write_text(report_document(diagnosis, redact=redact), width=width)


def as_markdown(diagnosis: gomem.Diagnosis, *, redact: bool = False) -> str:
    return write_markdown(report_document(diagnosis, redact=redact))


def moment_id(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def smaps_entry(
    start: int,
    end: int,
    perms: str = "rw-p",
    path: str = "",
    *,
    rss_kib: int = 0,
    lazy_free_kib: int = 0,
) -> str:
    """One entry as the kernel prints it, with the fields that matter here."""
    inode = 7 if path.startswith("/") else 0
    head = f"{start:x}-{end:x} {perms} 00000000 00:00 {inode}"
    fields = {
        "Size": (end - start) // 1024,
        "KernelPageSize": 4,
        "Rss": rss_kib,
        "Pss": rss_kib,
        "Anonymous": 0 if path.startswith("/") else rss_kib,
        "LazyFree": lazy_free_kib,
        "Swap": 0,
    }
    lines = [f"{head:<72} {path}".rstrip() if path else head]
    lines += [f"{name + ':':<16}{value:>8} kB" for name, value in fields.items()]
    return "\n".join([*lines, "VmFlags: rd wr mr mw me ac "]) + "\n"


def smaps_text(*entries: str) -> bytes:
    return "".join(entries).encode()


def mappings(*entries: str) -> pd.DataFrame:
    """The smaps table of the entries."""
    return read_smaps(smaps_text(*entries)).mappings


def memstats_json(**fields: int) -> bytes:
    """A MemStats dump in which everything is 0 but what is named, rings and BySize empty."""
    names = ("HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased", "StackInuse")
    names += ("MSpanSys", "MCacheSys", "GCSys", "BuckHashSys", "OtherSys", "NextGC", "NumGC", "Sys")
    return json.dumps({**dict.fromkeys(names, 0), **fields}).encode()


def collector_row(
    cycles: int, forced: int, paused_ms: float, at: float, share: float, **more: int
) -> pd.Series:
    """What MemStats count of collections, the last of which ended so many seconds after 1970."""
    return pd.Series(
        {
            "NumGC": cycles,
            "NumForcedGC": forced,
            "PauseTotalNs": paused_ms * 1e6,
            "LastGC": pd.Timestamp(at, unit="s", tz="UTC"),
            "GCCPUFraction": share,
            **more,
        },
        dtype=object,
    )


def memstats_row(**fields: int) -> pd.Series:
    """One row of the MemStats table."""
    return read_memstats(memstats_json(**fields)).stats.iloc[0]


def samples_frame(
    name: str, unit: str, values: list[float], *, layer: str = "", better: str | None = None
) -> pd.DataFrame:
    """Repeated measurements of one thing, as `compare_samples` takes them."""
    told = {"name": name, "unit": unit, "layer": layer, "better": better}
    return pd.DataFrame([{**told, "value": value} for value in values])


# Facts


@dataclass(frozen=True, eq=False)
class GivenFacts(CaptureFacts):
    """Facts of which some are given, and the others follow from them.

    Attributes:
        given: Their values, by the names that they have in `CaptureFacts` and `ProfileFacts`.
    """

    given: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        profiles = ProfileFacts(self.capture)
        of_profiles = {name: value for name, value in self.given.items() if name in OF_PROFILES}
        vars(profiles).update(of_profiles)
        of_capture = {n: value for n, value in self.given.items() if n not in of_profiles}
        vars(self).update(profiles=profiles, **of_capture)


def case_of(
    moments: Iterable[MomentFacts] = (),
    go_version: GoVersion | None = None,
    damage: tuple[Damage, ...] = (),
    *,
    thresholds: Thresholds | None = None,
    baseline: CaptureFacts | None = None,
    counterparts: Mapping[str, MomentFacts] | None = None,
    **given: Any,
) -> Case:
    """What rules look at of these moments; see `GivenFacts` for what can be given besides."""
    capture = Capture("made up", {}, (), (), damage, {}, go_version or GoVersion())
    facts = GivenFacts(capture, _whole(given | {"moments": tuple(moments)}))
    return Case(facts, thresholds or Thresholds(), baseline, counterparts or {})


def but(case: Case, **given: Any) -> Case:
    """The same case, but for these facts; what follows from them follows anew."""
    of_case = {name: given.pop(name) for name in ("thresholds", "baseline") if name in given}
    facts = case.facts
    if given:
        capture = facts.capture
        if "go_version" in given:
            capture = replace(capture, go_version=given.pop("go_version"))
        old = facts.given if isinstance(facts, GivenFacts) else {"moments": facts.moments}
        facts = GivenFacts(capture, _whole({**old, **given}))
    return replace(case, facts=facts, **of_case)


def _whole(given: dict[str, Any]) -> dict[str, Any]:
    """Stacks that are laid out without their growth grow by nothing."""
    return {"growth": empty(GROWTH)} | given if "heap_series" in given else given
