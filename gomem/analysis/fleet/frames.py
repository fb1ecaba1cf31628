"""What does a fleet store about each capture? A small tidy frame for each kind of result.

Every frame begins with the columns `KEYS`, so any two frames can be joined, and the frames of all
captures concatenated.
"""

from __future__ import annotations

from gomem.analysis.collector.cost import COSTS
from gomem.inputs.schema import DAMAGE, Column
from gomem.numbered import Build, Collected, Instance, Service, Value
from gomem.text import Function, MomentName, Text, Words

TIME = "datetime64[ns, UTC]"
KEYS = (
    Column(
        "capture",
        "str",
        "",
        "Name of the capture: its path below the place that was named.",
        Collected,
    ),
    Column(
        "instance",
        "str",
        "",
        "Which pod, host or process, by its label; else the capture.",
        Instance,
    ),
    Column(
        "service", "str", "", "Which program: by its label, else the executable's name.", Service
    ),
    Column(
        "build",
        "str",
        "",
        "Which build: by its label, else module version, else Go release.",
        Build,
    ),
    Column("time", TIME, "", "By its label, else the last snapshot's clock; missing if unknown."),
)
CAPTURES = (
    *KEYS,
    Column("key", "str", "", "Digest of the files and labels; a key is read once.", Words),
    Column("path", "str", "", "Where it lies.", Collected),
    Column("go_version", "str", "", "Go release; missing unless it is known exactly.", Words),
    Column("moments", "int64", "count", "Snapshots."),
    Column("seconds", "float64", "s", "From the first snapshot to the last; missing if unknown."),
    Column("rss_bytes", "Int64", "B", "RSS at the last snapshot that has it; missing if none."),
    Column("limit_bytes", "Int64", "B", "The cgroup's limit; missing without one."),
    Column("severity", "str", "", "Severity of the verdict; missing if nothing is unusual.", Words),
    Column("code", "str", "", "Code of the verdict's finding; missing without one.", Words),
    Column("sentence", "object", "", "The verdict.", Text),
    Column("damaged", "int64", "count", "Places that could not be read."),
    Column("gomem_version", "str", "", "The gomem that read it.", Words),
)
ACCOUNT = (
    *KEYS,
    Column("quantity", "str", "", "The total of the parts: rss, reserved, in_use or live.", Words),
    Column(
        "group", "str", "", "Groups of memory that are reported together, joined by `+`.", Words
    ),
    Column("low", "float64", "B", "At the last snapshot, at least."),
    Column("high", "float64", "B", "The same, at most."),
    Column("change_low", "float64", "B", "Change since the first snapshot, at least."),
    Column("change_high", "float64", "B", "The same, at most."),
    Column(
        "shape",
        "str",
        "",
        "How it moved: flat, ramp, step, …; missing of too few snapshots.",
        Words,
    ),
)
LEVELS = (
    *KEYS,
    Column("name", "str", "", "What is measured, one of `QUANTITIES`.", Words),
    Column("unit", "str", "", "Its unit, a base unit.", Words),
    Column("n", "int64", "count", "Snapshots behind it; of a rate, GCs or seconds."),
    Column("first", "float64", "", "At the first snapshot that has it, in the unit."),
    Column("last", "float64", "", "At the last."),
    Column("least", "float64", "", "The least of all."),
    Column("middle", "float64", "", "The median of all."),
    Column("most", "float64", "", "The most of all."),
)
GC = (*KEYS, *COSTS)
SITES = (
    *KEYS,
    Column("moment", "str", "", "The snapshot.", MomentName),
    Column("sample_type", "str", "", "inuse_space, alloc_space, or goroutine.", Words),
    Column("function", "str", "", "Allocation site, or where goroutines wait.", Function),
    Column("flat", "int64", "", "Bytes or goroutines there."),
    Column("flat_low", "Int64", "", "Lower end of its 95 % interval; missing if unknown."),
    Column("flat_high", "Int64", "", "Upper end of its 95 % interval; missing if unknown."),
    Column("fraction", "float64", "fraction", "Share of the profile."),
)
FINDINGS = (
    *KEYS,
    Column("code", "str", "", "Code of the cause.", Words),
    Column("severity", "str", "", "critical, warning or info.", Words),
    Column("confidence", "str", "", "certain, likely or possible.", Words),
    Column("now", "bool", "", "Whether it holds at the last snapshot."),
    Column("bytes", "Int64", "B", "Memory that it explains; missing if it is not about memory."),
    Column("cpu_fraction", "float64", "fraction", "CPU that it costs; missing if not about CPU."),
    Column("title", "object", "", "The finding in a sentence.", Text),
    Column("next_step", "object", "", "What to do.", Text),
)
SETTINGS = (
    *KEYS,
    Column("name", "str", "", "GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG or Go release.", Words),
    Column("value", "str", "", "As its variable would be set.", Value),
    Column("known_by", "str", "", "metrics, environment, log, goals, assumed or release.", Words),
)
DAMAGES = (*KEYS, *DAMAGE)
FAILED = (
    *KEYS,
    Column("key", "str", "", "Digest of the files and labels.", Words),
    Column("path", "str", "", "Where it lies.", Collected),
    Column("what", "object", "", "Why it could not be read.", Text),
    Column("is_final", "bool", "", "Whether another run would find the same, so it is not tried."),
)
# A frame per kind, in the order of writing; `captures` has everything that was read.
KINDS = {
    "account": ACCOUNT,
    "levels": LEVELS,
    "gc": GC,
    "sites": SITES,
    "findings": FINDINGS,
    "settings": SETTINGS,
    "damage": DAMAGES,
    "failed": FAILED,
    "captures": CAPTURES,
}
