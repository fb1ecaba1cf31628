"""gctrace logs in one line: collections that are as usual but for what a test names."""

import pandas as pd

from gomem.causes.gc_facts import GcFacts, gc_facts
from gomem.read import read_gctrace
from gomem.tables.gctrace import GcLog

FORM = (
    "{before}gc {number} @{at:.3f}s 1%: {first}+{mark}+{last} ms clock, "
    "0+{assist}/{background}/{idle}+0 ms cpu, {start}->{end}->{live} MB, {goal} MB goal, "
    "{stacks}{p} P{forced}{after}\n"
)
USUAL = {
    "before": "", "first": 0.01, "mark": 1.0, "last": 0.02, "assist": 0.3, "background": 0.7,
    "idle": 0.5, "start": 18, "end": 19, "live": 10, "goal": 20,
    "stacks": "0 MB stacks, 0 MB globals, ", "p": 2, "forced": "", "after": "",
}  # fmt: skip


def log_of(*changes: dict, **usual: object) -> GcLog:
    """Collections numbered from 1, a second apart, each as usual but for its changes."""
    lines = (
        FORM.format(**USUAL | {"number": number, "at": float(number)} | usual | change)
        for number, change in enumerate(changes, start=1)
    )
    return read_gctrace("".join(lines).encode())


def cycles_of(*changes: dict, **usual: object) -> pd.DataFrame:
    """Their frame."""
    return log_of(*changes, **usual).cycles


def facts_of(*changes: dict, gogc_fraction: float | None = None, **usual: object) -> GcFacts:
    """What is known of them."""
    return gc_facts(log_of(*changes, **usual), "app.log", gogc_fraction)
