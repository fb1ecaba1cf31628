"""Runs that are made up in a line: a capture's answers, as far as a comparison reads them."""

from types import SimpleNamespace

import pandas as pd

from gomem.comparison.side import Side
from gomem.facts.moment import MomentFacts
from gomem.units import MIB
from tests.builders import memstats_row
from tests.views.ledgers import ledger


def moment(name, mib=None, notes=(), **about):
    """A moment whose ledger is one part; without MiB it has none."""
    part = about.pop("part", "heap_objects")
    made = None if mib is None else ledger(mib * MIB, **{part: mib * MIB})
    if notes:
        made = type(made)(made.rss_bytes, made.parts, made.checks, notes)
    return MomentFacts(name, ledger=made, **about)


def counted(name, cycles, **about):
    """A moment of 3 MiB that has counted so many collections."""
    return moment(name, 3, memstats=memstats_row(NumGC=cycles), **about)


def run(*moments, loads=(), collector=None, damaged=()):
    """One capture with these moments."""
    return SimpleNamespace(
        moments=moments,
        collector=collector,
        capture=SimpleNamespace(
            name="runs/a", damaged=damaged, bench={},
            loads={str(place): test for place, test in enumerate(loads)},
        ),
    )  # fmt: skip


def side(*captures, word="before", first="1", last="2", requests=None):
    """Runs as one side."""
    return Side(word, captures, first, last, requests)


def load(*requests, tool="ab", connections=None, latencies=()):
    """A load test with a run for each number of requests."""
    row = {"requests_per_second": 5.0, "mean_seconds": None, "max_seconds": None, "errors": None,
           "seconds": None, "tool": tool, "connections": connections}  # fmt: skip
    runs = pd.DataFrame([row | {"requests": count} for count in requests])
    table = pd.DataFrame(latencies, columns=["quantile", "seconds"])
    return SimpleNamespace(runs=runs, latencies=table)


def log(last_number=99, steady=99, log_seconds=None, runs=1, **values):
    """The answers about a GC log."""
    cost = SimpleNamespace(
        steady_cycles=steady,
        values=values,
        cycles=values.get("cycles", 0),
        runs=runs,
        seconds=values.get("seconds"),
    )
    return SimpleNamespace(last_number=last_number, log_seconds=log_seconds, cost=cost)
