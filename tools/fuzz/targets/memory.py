"""What the runtime counts: MemStats as JSON, printed and in words; runtime/metrics; pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.memstats.in_words import looks_like_in_words
from gomem.inputs.memstats.parse import (
    looks_like_memstats,
    parse_memstats,
    parse_memstats_in_words,
)
from gomem.inputs.metrics.page import looks_like_page, parse_page
from gomem.inputs.metrics.parse import looks_like_readings, parse_metrics
from tools.fuzz import mutations, seeds
from tools.fuzz.second_readers import SAMPLE, found_in, json_objects
from tools.fuzz.target import Target, parsed, wanted

if TYPE_CHECKING:
    from random import Random

REQUIRED = {"HeapAlloc", "HeapSys", "Sys"}
COUNTED = ("HeapAlloc", "HeapSys", "HeapIdle", "HeapReleased", "Sys", "Mallocs", "NumGC")
MOST = 2**60
NAMES = {"go_memstats_heap_inuse_bytes": "HeapInuse", "go_memstats_sys_bytes": "Sys"}


def check_memstats(data: bytes) -> None:
    """Every counter as Python's own JSON has it, a row an object; what is none is damage."""
    if not looks_like_memstats(data):
        return
    dumps, damage = parsed(parse_memstats, data)
    objects = json_objects(data)
    mine = [value for value in objects or [] if value.keys() >= REQUIRED]
    if objects is None or not mine or len(mine) != len(objects):
        return
    wanted(len(dumps) == len(mine), "dumps", len(dumps), len(mine))
    for name in COUNTED:
        for row, dump in enumerate(mine):
            value, read = dump.get(name), dumps.counters[name][row]
            if type(value) is int and 0 <= value < MOST:
                wanted(int(read) == value, "a counter", name, value, read)
            elif value is not None and not (isinstance(value, float) and value.is_integer()):
                wanted(bool(damage), "a counter that is none is no damage", name, value)


def check_memstats_in_words(data: bytes) -> None:
    """Words of a program's own: no size below nothing."""
    if not looks_like_in_words(data):
        return
    dumps, _ = parsed(parse_memstats_in_words, data)
    for name, values in dumps.counters.items():
        wanted(bool((values.filled(0) >= 0).all()), "a counter below nothing", name)


def check_metrics(data: bytes) -> None:
    """Every scalar as Python's own JSON has it."""
    if not looks_like_readings(data):
        return
    readings, damage = parsed(parse_metrics, data)
    objects = json_objects(data)
    if objects is None or len(objects) != 1 or data.lstrip()[:1] != b"{":
        return
    for name, value in objects[0].items():
        if name.startswith("/memory/classes/") and name.endswith(":bytes"):
            if type(value) is int and abs(value) < MOST:
                read = readings[0].scalars.get(name)
                wanted(read == float(value), "a metric", name, value, read)
            elif isinstance(value, str):
                wanted(bool(damage), "a metric that is none is no damage", name)


def check_page(data: bytes) -> None:
    """Two numbers of MemStats, where a page has each once and without labels."""
    if not looks_like_page(data):
        return
    pages, damage = parsed(parse_page, data)
    for name, field in NAMES.items():
        lines = [line for line in data.split(b"\n")[:-1] if name.encode() in line]
        samples = [match for match in found_in(SAMPLE, data) if match[1] == name.encode()]
        own = [line for line in lines if not line.startswith(b"#")]
        if len(samples) == len(own) == len(pages) == 1:
            value = float(samples[0][2])
            read = pages[0].memstats.get(field)
            wanted(read == value or bool(damage), "a sample", name, value, read)


def _json_or_text(data: bytes, random: Random) -> bytes:
    return mutations.json_text(data, random)


def _short(data: bytes) -> bytes:
    """A dump with a ring of pauses and two size classes: of all 61, each costs a parse its time."""
    objects: Any = json_objects(data)
    if objects is None or len(objects) != 1:
        return data
    dump = dict(objects[0])
    if isinstance(dump.get("BySize"), list):
        dump["BySize"] = dump["BySize"][:2]
    return mutations.json_bytes(dump)


def _memstats_seeds() -> list[bytes]:
    found = seeds.whole("captures/*/*/memstats.json", "malformed/memstats/*", "doors/*/vars.json",
                        "doors/*/memstats-plus-v.txt")()  # fmt: skip
    return [*map(_short, found), *(mutations.json_bytes(small) for small in _SMALL)]


_SMALL = (
    {"HeapAlloc": 1 << 20, "HeapSys": 4 << 20, "HeapIdle": 2 << 20, "HeapInuse": 2 << 20,
     "Alloc": 1 << 20, "Sys": 8 << 20, "HeapReleased": 1 << 20, "Mallocs": 9, "Frees": 4,
     "HeapObjects": 5, "NumGC": 3, "LastGC": 1700000000000000000, "NextGC": 4 << 20,
     "GCCPUFraction": 0.01, "BySize": [{"Size": 8, "Mallocs": 2, "Frees": 1}]},
    {"cmdline": ["api"], "memstats": {"HeapAlloc": 1, "HeapSys": 2, "Sys": 3}},
)  # fmt: skip

TARGETS = (
    Target("memstats", _memstats_seeds, check_memstats, _json_or_text),
    Target(
        "memstats_in_words",
        seeds.lines("pasted/memstats-in-words/*", "pasted/forms/*.txt"),
        check_memstats_in_words,
        mutations.text,
    ),
    Target("metrics", seeds.whole("captures/*/*/metrics.json", "doors/*/metrics.json.gz"),
           check_metrics, _json_or_text),
    Target("metrics_page",
           seeds.lines("doors/*/metrics.prom.gz", "doors/*/metrics.om.gz", most=8000),
           check_page, mutations.text),
)  # fmt: skip
