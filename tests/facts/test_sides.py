"""What is known of a moment, of small files that are made up."""

import json
import re

import pytest

import gomem
from gomem.units import KIB, MIB
from tests.builders import memstats_json, smaps_entry, smaps_text
from tests.gc_logs import FORM, USUAL
from tests.views.ledgers import diagnosis_of

CYCLES, LIVE = "/gc/cycles/total:gc-cycles", "/gc/heap/live:bytes"
LIMIT = "/gc/gomemlimit:bytes"
STATM = b"9000 8 2 1 0 5 0\n"
HEAP = 0xC000000000


def metrics(**values):
    names = {"cycles": CYCLES, "live": LIVE, "limit": LIMIT}
    return json.dumps({names[name]: value for name, value in values.items()}).encode()


@pytest.mark.parametrize(
    ("number", "cycles", "live"),
    [
        pytest.param(5, 5, 7, id="both count the same"),
        pytest.param(5, 6, None, id="they count different ones"),
        pytest.param(5, None, 7, id="one counts"),
        pytest.param(0, 0, None, id="before the first"),
    ],
)
def test_what_is_live_is_of_the_collection_that_both_sides_count(tmp_path, number, cycles, live):
    counted = {} if cycles is None else {"cycles": cycles}
    said = metrics(live=7 * MIB, **counted)

    dump = memstats_json(HeapAlloc=9 * MIB, HeapInuse=9 * MIB, NumGC=number)
    (facts,) = diagnosis_of(tmp_path, memstats_json=dump, metrics_json=said).moments

    assert (None if live is None else live * MIB) == facts.live_bytes


def build(goarch):
    return f"app: go1.24.2\n\tpath\texample.com/app\n\tbuild\tGOARCH={goarch}\n".encode()


@pytest.mark.parametrize(
    ("files", "page", "assumed"),
    [
        pytest.param({}, 4, True, id="nothing says"),
        pytest.param({"buildinfo": build("amd64")}, 4, False, id="of one size only"),
        pytest.param({"buildinfo": build("arm64")}, 4, True, id="of several sizes"),
    ],
)
def test_the_size_of_a_page_is_known_of_processors_that_have_one(tmp_path, files, page, assumed):
    (facts,) = diagnosis_of(tmp_path, statm=STATM, **files).moments

    assert 8 * page * KIB == facts.rss_bytes
    assert assumed == any("is assumed" in note for note in facts.ledger.notes)


def test_a_cut_smaps_still_says_how_large_a_page_is(tmp_path):
    """
    Its sums are too small, so pages are counted by statm: 8 of 64 KiB.
    """
    entry = smaps_entry(HEAP, HEAP + MIB, rss_kib=64)
    entry = re.sub(r"(KernelPageSize: +)4 kB", r"\g<1>64 kB", entry)
    cut = smaps_text(entry, entry[: entry.index("Pss:")])

    (facts,) = diagnosis_of(tmp_path, smaps=cut, statm=STATM).moments

    assert facts.mappings is None
    assert 8 * 64 * KIB == facts.rss_bytes


ROOMY = {"live": 200, "start": 200, "end": 205, "goal": 204}
LOG = "".join(FORM.format(**USUAL | ROOMY | {"number": n, "at": float(n)}) for n in (1, 2)).encode()


@pytest.mark.parametrize(
    ("limit", "by_limit"),
    [
        pytest.param(300 * MIB, 1, id="one that is set"),
        pytest.param(2**63 - 1, 0, id="none is set"),
        pytest.param(None, 0, id="nobody knows"),
    ],
)
def test_a_limit_that_runtime_metrics_say_made_the_goals_without_room(tmp_path, limit, by_limit):
    said = {} if limit is None else {"metrics_json": metrics(limit=limit, cycles=2)}
    (tmp_path / "gctrace.log").write_bytes(LOG)

    triggers = diagnosis_of(tmp_path, **said).collector.triggers

    assert by_limit == triggers.of("limit")["cycles"]


@pytest.mark.parametrize(("version", "by_limit"), [("go1.18.10", 0), ("go1.19", 1)])
def test_a_release_before_1_19_has_no_limit(tmp_path, version, by_limit):
    """
    The goal is the live heap itself, which no GOGC makes.
    """
    (tmp_path / "gctrace.log").write_bytes(LOG.replace(b"204 MB goal", b"200 MB goal"))

    triggers = gomem.diagnose(gomem.load(tmp_path, go_version=version)).collector.triggers

    assert by_limit == triggers.of("limit")["cycles"]


def test_the_rss_of_a_cgroup_is_not_that_of_a_process(tmp_path):
    """
    A cgroup's rss leaves out file pages of others: 1 MiB and then 6 MiB would be a false growth.
    """
    for n in (1, 2):
        (tmp_path / f"memory.stat.{n}").write_text(f"cache {90 * MIB}\nrss {MIB}\nmapped_file 0\n")
    (tmp_path / "status.2").write_text(f"Name:\tapp\nPid:\t7\nVmRSS:\t{6 * KIB} kB\n")

    moments = gomem.diagnose(tmp_path).facts.moments

    assert [None, 6 * MIB] == [facts.rss_bytes for facts in moments]
