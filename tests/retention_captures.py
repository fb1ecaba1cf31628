"""Recordings of `fixtures/retention` as captures of few moments, laid where a test wants them."""

import json
import tarfile
from pathlib import Path

from tests.builders import FIXTURES

FOLDER = FIXTURES / "retention"
FIELDS = (
    ("heap_alloc", "HeapAlloc"), ("heap_sys", "HeapSys"), ("heap_idle", "HeapIdle"),
    ("heap_inuse", "HeapInuse"), ("heap_released", "HeapReleased"), ("sys", "Sys"),
    ("stack_inuse", "StackInuse"), ("stack_sys", "StackSys"), ("mspan_sys", "MSpanSys"),
    ("mspan_inuse", "MSpanInuse"), ("mcache_sys", "MCacheSys"), ("mcache_inuse", "MCacheInuse"),
    ("buck_hash_sys", "BuckHashSys"), ("gc_sys", "GCSys"), ("other_sys", "OtherSys"),
    ("next_gc", "NextGC"),
)  # fmt: skip


def thinned(name: str, folder: Path, every: int = 8) -> Path:
    """Write every so many moments of a recording, those with a smaps and the log; return where."""
    files = contents(name)
    manifest = json.loads(files["gomem.json"])
    moments = manifest["moments"]
    manifest["moments"] = [
        one
        for place, one in enumerate(moments)
        if place % every == 0 or "smaps" in one["artefacts"] or "stopped" in one["name"]
    ]
    kept = {one["name"] for one in manifest["moments"]}
    for path, data in files.items():
        if path.partition("/")[0] in kept or "/" not in path:
            put(folder / path, data)
    put(folder / "gomem.json", json.dumps(manifest).encode())
    return folder


def pages(name: str, folder: Path, every: int = 8) -> Path:
    """Write some moments of a recording as a service shows them: pages of Prometheus metrics."""
    files = contents(name)
    manifest = json.loads(files["gomem.json"])
    for one in manifest["moments"][::every]:
        stats = json.loads(files[f"{one['name']}/memstats.json"])
        rss = files[f"{one['name']}/status"].decode().split("VmRSS:")[1].split()[0]
        lines = [f"go_memstats_{page}_bytes {stats[field]}" for page, field in FIELDS]
        lines += [
            f'go_info{{version="{manifest["go_version"]}"}} 1',
            f"go_gc_duration_seconds_count {stats['NumGC']}",
            f"process_resident_memory_bytes {int(rss) * 1024}",
        ]
        stamp = one["time"].replace(":", "-")
        put(folder / f"metrics-{stamp}.prom", "\n".join([*lines, ""]).encode())
    return folder


def log(name: str, folder: Path) -> Path:
    """Write a recording's log alone."""
    put(folder / "gctrace.log", contents(name)["gctrace.log"])
    return folder


def contents(name: str) -> dict[str, bytes]:
    """The files of a recording by their paths in it."""
    with tarfile.open(FOLDER / f"{name}.tar.gz") as archive:
        files = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        return {path.partition("/")[2]: file.read() for path, file in files.items() if file}


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
