"""Diagnoses of moments that are made up in a line."""

import pandas as pd

from gomem.capture.capture import Capture
from gomem.capture.moment import Moment
from gomem.diagnosis.diagnosis import Diagnosis
from gomem.errors import Damage
from gomem.facts.moment import MomentFacts
from gomem.releases import GoVersion
from gomem.units import MIB
from tests.builders import GivenFacts
from tests.views.ledgers import ledger

NOON = pd.Timestamp("2026-03-01T12:00:00Z")
COLUMNS = (
    "kind", "path", "perms", "start", "end", "rule", "Rss", "Anonymous", "device", "inode",
)  # fmt: skip


def moment(name, claims=None, mappings=None, metrics=None, live=None, seconds=None, **parts):
    """A moment whose parts of RSS are these, in MiB; RSS is their sum."""
    sizes = {part: int(size * MIB) for part, size in parts.items()}
    made = ledger(sum(sizes.values()), **sizes)
    for part, claimed in (claims or {}).items():
        made.parts.loc[made.parts["part"] == part, "claimed_bytes"] = int(claimed * MIB)
    return MomentFacts(
        name,
        ledger=made,
        mappings=mappings,
        metrics=metrics or {},
        live_bytes=None if live is None else int(live * MIB),
        time=None if seconds is None else NOON + pd.Timedelta(seconds=seconds),
    )


def mapped(name, **about):
    """The same with smaps: what is not Go's is known part by part."""
    return moment(name, mappings=pd.DataFrame(columns=COLUMNS), **about)


def divided(name, **about):
    """The same with MemStats too, which claim of the heap just what is resident."""
    of_heap = ("heap_objects", "heap_slack", "heap_idle", "stacks", "runtime_metadata")
    claims = {part: about[part] for part in of_heap if part in about}
    return mapped(name, claims=claims | about.pop("claims", {}), **about)


def of_rss(*sizes_mib, every=None):
    """Moments 1, 2, … whose RSS nothing divides, so many seconds apart."""
    return [
        moment(str(n), heap_objects=size, seconds=None if every is None else n * every)
        for n, size in enumerate(sizes_mib, start=1)
    ]


def made_of(*moments, findings=None, baseline=None, damaged=0) -> Diagnosis:
    """The diagnosis of a capture of these moments, and of a baseline of one if there is one."""
    damage = tuple(Damage("x", f"line {n}", "cut") for n in range(damaged))
    by_name = {one.name: Moment(one.name, ()) for one in moments}
    capture = Capture("made up", by_name, (), (), damage, {}, GoVersion())
    against = None if baseline is None else made_of(baseline, findings=())
    made = Diagnosis(GivenFacts(capture, {"moments": moments}), against)
    if findings is not None:
        vars(made)["findings"] = findings
    return made
