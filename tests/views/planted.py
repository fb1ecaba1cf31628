"""A capture with a name that must not be shared in every place where a name can stand.

What a redacted output hides begins with `psst`; what it keeps, functions, the names of files and
programs, and words of Go and the kernel, with `kept`. So an output says itself what it gives away.
"""

import gzip
import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq

import gomem
from tests.builders import FIXTURES
from tests.heap_dumps import (
    ARENA,
    DATA,
    TEXT,
    a_type,
    an_object,
    bucket,
    dump,
    frame,
    goroutine,
    memstats,
    sample,
    segment,
)
from tests.pprof_messages import field, function, location, message, strings

RECORDED = FIXTURES / "captures/alloc-pressure-before-go1.27.3"
PODS = FIXTURES / "pods/shop"
SECRET = re.compile(r"psst[\w.-]*", re.IGNORECASE)
DOORS = FIXTURES / "doors/go1.27.3"
CAPTURE, FOLDER = "psstcapture", "psstfolder"
MOMENTS = {"1-warm": "psstone", "2-loaded": "pssttwo"}
# Of one length, so that a profile's messages stay whole.
REPLACED = {
    b"/app/alloc-pressure/alloc-pressure": b"/psstmappingfolder-/keptexecutable",
    b"/app/alloc-pressure/": b"/psstsourcefolder--/",
    b"main.render": b"main.keptfn",
    b'fields["user"]': b'fields["psst"]',
}
IN_TEXT = {
    b"./main.go": b"./psstfolder/main.go",
    b"# alloc-pressure": b"# psst.example/alloc-pressure",
    b" render": b" keptfn",
}
assert all(len(old) == len(new) for old, new in REPLACED.items())


def plant(place: Path) -> Path:
    """Write the capture below a folder, and return its path."""
    capture = place / CAPTURE
    for moment, name in MOMENTS.items():
        for path in (RECORDED / moment).iterdir():
            write(capture / FOLDER / name / path.name, planted(path.read_bytes(), REPLACED))
    for name in ("bench.txt", "escapes.txt.gz"):
        write(capture / name, planted((RECORDED / name).read_bytes(), REPLACED | IN_TEXT))
    for name, content in (MOMENT_SCOPE | CAPTURE_SCOPE).items():
        write(capture / name, content)
    write(capture / "gomem.json", json.dumps(MANIFEST).encode())
    return capture


def plant_all(folder: Path) -> dict[str, Path]:
    """Two captures, instances of which one cannot be read, their dataset, runs of two builds."""
    pods, builds = folder / "psstpods", folder / "psstbuilds"
    recorded = sorted(PODS.glob("*/*"))
    for pod in recorded:
        write(pods / "psstshop" / f"psst{pod.parent.name}" / pod.name, pod.read_bytes())
    write(pods / "psstshop/psstcut/psst.tar.gz", b"\x1f\x8bpsst")
    for number, pod in enumerate(recorded[:2]):
        write(builds / f"psst{number}/psstrun.tar.gz", pod.read_bytes())
    gomem.fleet(pods, into=folder / "dataset", workers=0)
    return {
        "CAPTURE": plant(folder), "OTHER": plant(folder / "psstother"), "PODS": pods,
        "BUILDS": builds, "DATASET": folder / "dataset",
    }  # fmt: skip


def as_text(content: bytes) -> str:
    """All that a file says, whatever it is packed in."""
    if content.startswith(b"\x1f\x8b"):
        return as_text(gzip.decompress(content))
    if content.startswith(b"PAR1"):
        table = pq.read_table(io.BytesIO(content))
        return f"{table.to_pydict()} {table.schema.metadata}"
    return content.decode("utf-8", "backslashreplace")


def given_away(texts: dict[str, str]) -> dict[str, list[str]]:
    """The secrets in some texts, by where they stand."""
    found = {where: sorted({*SECRET.findall(text)}) for where, text in texts.items()}
    return {where: secrets for where, secrets in found.items() if secrets}


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def planted(data: bytes, replaced: dict[bytes, bytes]) -> bytes:
    """A recorded file with names in the place of its own."""
    is_packed = data.startswith(b"\x1f\x8b")
    plain = gzip.decompress(data) if is_packed else data
    for old, new in replaced.items():
        plain = plain.replace(old, new)
    return gzip.compress(plain, mtime=0) if is_packed else plain


def labelled_profile() -> bytes:
    """A profile whose only sample has a label, of a function in a package of the program's own."""
    texts = (
        "", "delay", "nanoseconds", "kept.example/keptpackage.keptFunction",
        "/psstsources/kept.go", "psstlabel", "psstvalue", "/psstfolder/keptbinary", "psstbuildid",
        "psstunit", "psstcomment", "http://pssthost/docs", "psstnothing that refers to it",
    )  # fmt: skip
    label = message(3, field(1, 5), field(2, 6)) + message(3, field(1, 9), field(3, 7), field(4, 9))
    mapping = message(3, field(1, 1), field(5, 7), field(6, 8))
    about = field(13, 10) + field(15, 11)
    return b"".join(
        (
            message(1, field(1, 1), field(2, 2)),
            message(2, field(1, 1), field(2, 7), label),
            mapping,
            location(1, 1),
            function(1, 3, file=4),
            about,
            strings(*texts),
        )
    )


HEAP_TEXT = b"""heap profile: 1: 65536 [1: 65536] @ heap/1048576
1: 65536 [1: 65536] @ 0x61b7a5
#\t0x61b7a4\tkept.example/keptpackage.keptStart+0x3e4\t/psstsources/kept.go:97

# runtime.MemStats
# Alloc = 9644616
# psstfield = 1
"""
GOROUTINES = b"""goroutine 1 [keptstate] {"psstkey": "psstvalue"}:
kept.example/keptpackage.keptWait(0x1)
\t/psstsources/kept.go:816 +0x69
created by kept.example/keptpackage.keptStarter in goroutine 7
\t/psstsources/kept.go:12 +0x1
[originating from goroutine 7]:
kept.example/keptpackage.keptStarter(0x1)
\t/psstsources/kept.go:12 +0x1
created by kept.example/keptpackage.keptRoot
\t/psstsources/kept.go:13 +0x1

psstline that is none of a stack
"""
TABLE = b"""$ go tool pprof http://psst-host/debug/pprof/heap
Saved profile in /home/psst/pprof.kept.alloc_objects.inuse_space.001.pb.gz
File: keptbin
Build ID: psstbuild
Type: inuse_space
Showing nodes accounting for 30MB, 75% of 40MB total
      flat  flat%   sum%        cum   cum%
      20MB 50.00% 50.00%       30MB 75.00%  keptmod.keptfn /srv/psst/kept.go:12
      10MB 25.00% 75.00%       10MB 25.00%  keptmod.keptother
"""
COUNTS = b"""goroutine profile: total 2
1 @ 0x48e7ca
#\t0x48e7c9\tkept.example/keptpackage.keptWait+0x1b\t/psstsources/kept.go:40

psstline that is none of a profile
"""
PAGE = b"""# TYPE go_memstats_heap_alloc_bytes gauge
go_memstats_heap_alloc_bytes{pod="psstpod-a"} 1e6
go_memstats_heap_alloc_bytes{pod="psstpod-b"} 2e6
go_memstats_heap_alloc_bytes 3e6
psstsample{of=
"""
MAPS = b"""00400000-0061c000 r-xp 00000000 fe:00 7 /psstmapsfolder/keptexecutable
0061c000-0062c000 r-xp 00000000 fe:00 8 /var/lib/docker/psstimage/keptlib.so (deleted)
7f0000000000-7f0000001000 rw-p 00000000 00:00 0 [anon:psst cache]
psstmapping of no form
"""
PMAP = b"""4242:   psstcommand
Address           Kbytes     RSS   Dirty Mode  Mapping
0000000000400000    2160    1000       0 r-x-- keptbinary
psstline of no form
total kB            2160    1000       0
"""
PS = b"""USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
psstuser    4242  0.0  0.0  88888 20000 ?        Sl   18:58   0:00 /psstfolder/psstprogram psstarg
psstline of no form
"""
LOGGED = b"""psst other line
psst.go:219  [psst] runtime stats: 20 MiB RSS, 1 goroutines, 6 MiB/1 \
MiB/10 MiB GO alloc/idle/total, 0 B/0 B CGO alloc/total, psst
"""
LIMITS = b"""Limit                     Soft Limit           Hard Limit           Units
Max address space         unlimited            unlimited            bytes
psstlimit of no known form
"""
HEAP_DUMP = dump(
    a_type(TEXT, 8, "main.keptType"),
    an_object(ARENA, size=64),
    goroutine(1, reason="kept reason"),
    frame(ARENA + 4096, [ARENA], "main.keptfn", at=[0]),
    segment(12, DATA, [ARENA], at=[0]),
    memstats(heap_alloc=64, objects=1),
    bucket(TEXT, 64, "main.keptfn", file="/psstsource/main.go"),
    sample(ARENA, TEXT),
)
MOMENT_SCOPE = {
    "psstextra/heap.dump": HEAP_DUMP,
    "psstextra/status": b"Name:\tkeptprogram\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t4242\n"
    b"VmRSS:\t   20000 kB\npsststatus without a colon\n",
    "psstextra/limits": LIMITS,
    "psstextra/memory.stat": b"anon 20000\nkeptcounter 5\npsstbroken number\n",
    "psstextra/maps": MAPS,
    "psstextra/pmap.txt": PMAP,
    "psstextra/ps.txt": PS,
    "psstextra/stats.log": LOGGED.replace(b"\\\n", b""),
    "psstextra/mutex.pb.gz": gzip.compress(labelled_profile(), mtime=0),
    "psstextra/heap-1.txt": HEAP_TEXT,
    "psstextra/top.txt": TABLE,
    "psstextra/goroutine-1.txt": COUNTS,
    "psstextra/goroutine-2.txt": GOROUTINES,
    "psstextra/runtime.json": b'{"/memory/classes/heap/objects:bytes": 5, '
    b'"/psst/metric:bytes": "pssttext", "/psst/number:bytes": 5, '
    b'"/psst/histogram:seconds": {"Counts": [1, 2], "Buckets": [0, 1, 2]}}',
    "psstextra/metrics.prom": PAGE,
    "psstextra/broken.json": b'{"psstkey": 1, "HeapAlloc": "psstnumber"}\n{"psstother": ',
    "psstextra/page.html": b"<!DOCTYPE html><html><title>pssttitle of a page</title></html>",
    "psstextra/error.json": b'{"error": "pssterror of a server"}',
    "psstextra/refused": b"404 psstrefusal not found\n",
}  # fmt: skip
LOG = b"""psstprogramline of the program's own
gc 1 @0.019s 2%: 0.025+0.45+0.003 ms clock, 0.050+0.13/0.32/0.38+0.007 ms cpu, 4->4->1 MB, \
4 MB goal, 0 MB stacks, 0 MB globals, 2 P
psst.go:12: GET /psst?user=psst from pssthost
gc 2 @0.029s 2%: 0.025+0.45+0.003 ms clock, 0.050+0.13/0.32/0.38+0.007 ms cpu, 4->4->1 MB, pssttorn
psstmessage gc 3 @0.0
"""
BUILD = b"""/psstexefolder/keptexecutable: go1.27.3
\tpath\tpsst.example/psstmain/kept
\tmod\tpsst.example/psstmodule\tv0.0.0-psstversion\th1:psstsum
\tdep\tpsst.example/psstdependency\tv1.0.0-psstversion\th1:psstsum
\tbuild\t-ldflags=-X main.token=pssttoken
\tbuild\tkeptsetting=psstvalue
\tbuild\tvcs.revision=psstrevision
psstline of no form
"""
BENCH = b"""goos: linux
pkg: psst.example/psstpackage
psstkey: psstvalue
Unit psst/op better=psstbetter psstword
BenchmarkKept/psstcase=psst-2 \t 100 \t 12 ns/op \t 7 psst/op
BenchmarkKept/psstcut-2 \t 100 \t 12
psstnote: psstafter
BenchmarkKept/psstcase=psst-2 \t 100 \t 13 ns/op \t 8 psst/op
--- FAIL: BenchmarkKept/psstfailed
PASS
"""
LOAD = b"""Server Software:        psstserver
Server Hostname:        pssthost.example
Document Path:          /psstpath
Concurrency Level:      2
Complete requests:      20
Failed requests:        0
Requests per second:    500.00 [#/sec] (mean)
"""
ENVIRON = b"PATH=/psstbin\0PSST_TOKEN=pssttoken\0GODEBUG=psstdebug=1\0GOGC=50\0psstcut"
SYMBOLS = b"  600000          8 D main.keptvariable\n  401000         64 T main.keptfn\n"
CAPTURE_SCOPE = {
    "symbols.txt": SYMBOLS,
    "environ": ENVIRON,
    "gctrace.log": LOG,
    "buildinfo.txt": BUILD,
    "more-bench.txt": BENCH,
    "ab.txt": b"This is ApacheBench, Version 2.3\n" + LOAD,
    "psstdir/cut.pb.gz": b"\x1f\x8bpsstpacked",
}
MANIFEST = {
    "schema": "gomem.capture/1",
    "program": "/psstprogramfolder/keptexecutable",
    "main": "psst.example/psstmain v1",
    "endpoints": ["http://pssthost.example:6060"],
    "collector": "psstcollector",
    "kernel": "psstkernel",
    "pid": 4242,
    "environment": {"PSST": "psstvalue", "GODEBUG": "psstdebug=1", "GOGC": "50"},
    "moments": [
        {
            "name": name,
            "artefacts": {
                **{
                    path.name: {"path": f"{FOLDER}/{name}/{path.name}"}
                    for path in (RECORDED / moment).iterdir()
                },
                "psstkind": {"path": f"psstmissing/{name}/smaps_rollup"},
            },
            "missing": [{"artefact": "psstartefact", "why": "psstreason at pssthost"}],
        }
        for moment, name in MOMENTS.items()
    ],
}
