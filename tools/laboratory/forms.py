"""The forms in which people have files: each writes what a capture knows in one of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem import Capture
    from gomem.capture.moment import Artefact, Moment

FIRST = datetime(2026, 3, 14, 2, 51, 7, tzinfo=UTC)
APART = timedelta(seconds=20)
KIB = 1024
PAGE = 4096
SUFFIX: Final = {
    "memstats": ".json",
    "smaps": "",
    "status": "",
    "smaps_rollup": "",
    "gctrace": ".log",
    "metrics": "",
}
ALL_OF_MEMSTATS = ("HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased", "Sys", "NumGC")
SERVICE = "svc"


def _moments(capture: Capture) -> Iterator[tuple[datetime, Moment]]:
    """Every moment with its time; made up for all if the capture does not know each."""
    known = [moment.time for moment in capture.values()]
    for at, moment in enumerate(capture.values()):
        time = moment.time if all(known) else None
        yield time or FIRST + at * APART, moment


def _files(moment: Moment, kind: str) -> list[Artefact]:
    return [file for file in moment.artefacts if file.kind.name == kind]


def _raw(file: Artefact) -> bytes:
    return file.source.stored or file.source.data


def _text(moment: Moment, kind: str) -> str:
    files = _files(moment, kind)
    return files[0].source.data.decode(errors="replace") if files else ""


def _heap(moment: Moment) -> bytes | None:
    """The raw bytes of the snapshot's heap profile."""
    for file in _files(moment, "pprof"):
        if file.parsed.kind == "heap":
            return _raw(file)
    return None


def _number(moment: Moment, frame: str, column: str) -> int | None:
    table = getattr(moment, frame)
    if column not in table.columns or table[column].dropna().empty:
        return None
    return int(table[column].dropna().iloc[-1])


def _rss(moment: Moment) -> int | None:
    return _number(moment, "status", "VmRSS") or _number(moment, "rollups", "Rss")


def _last_heap(capture: Capture, place: Path, name: str) -> bool:
    """Write the last heap profile under this name; whether there is one."""
    found = [heap for _, moment in _moments(capture) if (heap := _heap(moment))]
    if found:
        (place / name).write_bytes(found[-1])
    return bool(found)


def renamed(capture: Capture, place: Path) -> bool:
    """Every file of a snapshot, numbered; no name has a time."""
    for at, (_, moment) in enumerate(_moments(capture), 1):
        for file in moment.artefacts:
            kind = file.parsed.kind if file.kind.name == "pprof" else file.kind.name
            suffix = ".pb.gz" if file.kind.name == "pprof" else Path(file.source.name).suffix
            if len(suffix) > 1 and suffix[1:].isdigit():
                suffix = ""
            name = place / f"{kind}{at}{suffix if not suffix.startswith('.t') else ''}"
            if not name.exists():
                name.write_bytes(_raw(file))
    return len(capture) > 1


def downloads(capture: Capture, place: Path) -> bool:
    """Profiles and MemStats as a browser saves them; status and smaps of the last snapshot."""
    seen: dict[str, int] = {}
    for _, moment in _moments(capture):
        for file in moment.artefacts:
            if file.kind.name == "pprof":
                stem, suffix = file.parsed.kind, ""
            elif file.kind.name == "memstats":
                stem, suffix = "memstats", ".json"
            else:
                continue
            copy = seen.get(stem, 0)
            seen[stem] = copy + 1
            (place / (f"{stem} ({copy}){suffix}" if copy else stem + suffix)).write_bytes(
                _raw(file)
            )
    last = list(capture.values())[-1]
    for kind in ("status", "smaps"):
        if text := _text(last, kind):
            (place / f"{kind}.txt").write_text(text)
    return sum(seen.values()) > 1


def loops(capture: Capture, place: Path) -> bool:
    """`while sleep; do date; cat status; done`, one after another in one file; numbered heaps."""
    said = ""
    for at, (time, moment) in enumerate(_moments(capture), 1):
        kind = "smaps_rollup" if _files(moment, "smaps_rollup") else "status"
        said += f"{time:%a %b %e %H:%M:%S} UTC {time:%Y}\n" + _text(moment, kind)
        if heap := _heap(moment):
            (place / f"heap{at}.pb.gz").write_bytes(heap)
    (place / "rss.txt").write_text(said)
    return len(capture) > 1 and any(_rss(moment) for moment in capture.values())


def ps_loop(capture: Capture, place: Path) -> bool:
    """A loop of ps with dates, and the last heap profile."""
    rows = []
    for time, moment in _moments(capture):
        rss, size = _rss(moment), _number(moment, "status", "VmSize")
        if rss:
            rows.append(
                f"{time:%Y-%m-%d %H:%M:%S}  4711 {rss // KIB:>8} {(size or 3 * rss) // KIB:>9}"
                f" /usr/local/bin/{SERVICE}\n"
            )
    (place / "ps.log").write_text("".join(rows))
    return len(rows) > 1 and _last_heap(capture, place, "heap")


def printed(capture: Capture, place: Path) -> bool:
    """A service's own log, in MiB without decimals, and the last heap profile."""
    said = ""
    lines = 0
    for time, moment in _moments(capture):
        fields = {
            name: _number(moment, "memstats", name)
            for name in ("Alloc", "TotalAlloc", "Sys", "NumGC")
        }
        said += f"{time:%Y/%m/%d %H:%M:%S} worker: tick, 0 errors\n"
        if None in fields.values():
            continue
        lines += 1
        said += f"{time:%Y/%m/%d %H:%M:%S} " + "Alloc = {} MiB\tTotalAlloc = {} MiB\t".format(
            *(round((fields[name] or 0) / KIB**2) for name in ("Alloc", "TotalAlloc"))
        )
        said += f"Sys = {round((fields['Sys'] or 0) / KIB**2)} MiB\tNumGC = {fields['NumGC']}\n"
    (place / f"{SERVICE}.log").write_text(said)
    return lines > 1 and _last_heap(capture, place, f"pprof.{SERVICE}.heap.001.pb.gz")


def slog(capture: Capture, place: Path) -> bool:
    """JSON lines of a structured log, in bytes; RSS from the last status alone."""
    said, lines = "", 0
    last = ""
    for time, moment in _moments(capture):
        last = _text(moment, "status") or last
        fields = {
            "heap_alloc": _number(moment, "memstats", "HeapAlloc"),
            "heap_inuse": _number(moment, "memstats", "HeapInuse"),
            "sys": _number(moment, "memstats", "Sys"),
            "num_gc": _number(moment, "memstats", "NumGC"),
            "goroutines": moment.goroutine_count,
        }
        if fields["heap_alloc"] is None:
            continue
        lines += 1
        told = {key: number for key, number in fields.items() if number is not None}
        said += (
            json.dumps(
                {"time": f"{time:%Y-%m-%dT%H:%M:%SZ}", "level": "INFO", "msg": "mem", **told}
            )
            + "\n"
        )
    (place / "app.json.log").write_text(said)
    if last:
        (place / "status.txt").write_text(last)
    return lines > 1 and _last_heap(capture, place, "heap.out")


def dashboard(capture: Capture, place: Path) -> bool:
    """A dashboard's CSV of the process's Prometheus series, and the last two heap profiles."""
    rows = []
    for time, moment in _moments(capture):
        numbers = (
            _rss(moment),
            _number(moment, "memstats", "HeapAlloc"),
            _number(moment, "memstats", "HeapInuse"),
            moment.goroutine_count,
        )
        if numbers[0] or numbers[1]:
            rows.append((f"{time:%Y-%m-%d %H:%M:%S}", *numbers))
    names = (
        "Time",
        "process_resident_memory_bytes",
        "go_memstats_heap_alloc_bytes",
        "go_memstats_heap_inuse_bytes",
        "go_goroutines",
    )
    pd.DataFrame(rows, columns=names).dropna(axis=1, how="all").to_csv(
        place / "memory-data.csv", index=False, float_format="%d"
    )
    heaps = [heap for _, moment in _moments(capture) if (heap := _heap(moment))]
    for name, heap in zip(("heap-old.pb.gz", "heap-new.pb.gz"), heaps[-2:], strict=False):
        (place / name).write_bytes(heap)
    return len(rows) > 1 and len(heaps) > 1


def first_last(capture: Capture, place: Path) -> bool:
    """What there is of the first and the last snapshot, called before and after."""
    if len(capture) < 2:
        return False
    moments = list(capture.values())
    for word, moment in (("before", moments[0]), ("after", moments[-1])):
        for kind in ("status", "smaps_rollup", "memstats"):
            if files := _files(moment, kind):
                (place / f"{kind}_{word}{SUFFIX.get(kind, '')}").write_bytes(_raw(files[0]))
        if heap := _heap(moment):
            (place / f"heap_{word}.pb.gz").write_bytes(heap)
    return True


def ticket(capture: Capture, place: Path) -> bool:
    """A ticket's text: commands and what they printed, with sentences between them."""
    if len(capture) < 2:
        return False
    said = "We see the memory of svc go up since the last deploy, can somebody look?\n\n"
    for time, moment in _moments(capture):
        said += f"At {time:%H:%M}:\n\n```\n"
        if status := _text(moment, "status"):
            lines = [line for line in status.splitlines() if line.startswith(("Vm", "Rss", "Thr"))]
            said += "$ grep -E '^(Vm|Rss|Thr)' /proc/4711/status\n" + "\n".join(lines) + "\n"
        fields = {name: _number(moment, "memstats", name) for name in ALL_OF_MEMSTATS}
        if None not in fields.values():
            said += "$ curl -s localhost:6060/debug/pprof/heap?debug=1 | tail -n 20\n"
            said += "".join(f"# {name} = {number}\n" for name, number in fields.items())
        said += "```\n\n"
    (place / "ticket.md").write_text(said + "Heap profile of the last one attached.\n")
    return said.count("$ ") > 1 and _last_heap(capture, place, "heap.pb.gz")


def pages(capture: Capture, place: Path) -> bool:
    """A page of /metrics of each snapshot, in client_golang's form, and the last heap profile."""
    written = 0
    for time, moment in _moments(capture):
        numbers = {
            "process_resident_memory_bytes": _rss(moment),
            "process_start_time_seconds": int((FIRST - timedelta(hours=3)).timestamp()),
            "go_goroutines": moment.goroutine_count,
            "go_memstats_heap_alloc_bytes": _number(moment, "memstats", "HeapAlloc"),
            "go_memstats_heap_inuse_bytes": _number(moment, "memstats", "HeapInuse"),
            "go_memstats_heap_idle_bytes": _number(moment, "memstats", "HeapIdle"),
            "go_memstats_heap_released_bytes": _number(moment, "memstats", "HeapReleased"),
            "go_memstats_sys_bytes": _number(moment, "memstats", "Sys"),
            "go_memstats_stack_inuse_bytes": _number(moment, "memstats", "StackInuse"),
            "go_memstats_next_gc_bytes": _number(moment, "memstats", "NextGC"),
        }
        if numbers["process_resident_memory_bytes"] is None:
            continue
        written += 1
        page = "".join(
            f"# TYPE {name} gauge\n{name} {float(number):.9g}\n"
            for name, number in numbers.items()
            if number is not None
        )
        (place / f"metrics-{time:%H%M%S}.txt").write_text(page)
    return written > 1 and _last_heap(capture, place, "heap.pprof")


FORMS: Final[dict[str, Callable[[Capture, Path], bool]]] = {
    "renamed": renamed,
    "downloads": downloads,
    "loops": loops,
    "ps": ps_loop,
    "printed": printed,
    "slog": slog,
    "dashboard": dashboard,
    "before-after": first_last,
    "ticket": ticket,
    "pages": pages,
}
