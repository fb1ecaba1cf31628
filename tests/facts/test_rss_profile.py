"""RSS as a profile: it adds up to the byte, and has no more of a thing than a file says."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from gomem.capture.load import load
from gomem.errors import CaptureError
from gomem.facts.capture import CaptureFacts
from gomem.facts.rss_profile import MIN_STACK
from tests.builders import CAPTURES, FIXTURES, diagnosed

LABORATORY = FIXTURES / "laboratory" / "captures"
SAMPLE = sorted(LABORATORY.glob("*.tar.gz"))[::36]
# Each has of its kind what none of the captures of the stories has.
KINDS = {"C": "cellard-b", "files": "wxfield-a", "goroutines": "chatd-b", "page": "apiaryd-a"}
OF_PROCESS = ("smaps", "memstats.json", "status")
WITH_GO = pytest.mark.skipif(shutil.which("go") is None, reason="there is no go on the PATH")
EXACT = ("-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-unit=B", "-symbolize=none")


def facts_of(path):
    return diagnosed(path).facts


def story(name):
    return facts_of(FIXTURES / "captures" / name)


def sizes(profile, sample_type="rss"):
    """Bytes by stack, the outermost frame first."""
    found = {}
    for _, rows in profile.traces(sample_type).groupby("sample"):
        stack = tuple(reversed(rows["function"].tolist()))
        found[stack] = found.get(stack, 0) + int(rows["value"].iloc[0])
    return {stack: size for stack, size in found.items() if size}


def below(profile, *path):
    """Bytes by what hangs below some frames, wherever in the stacks they stand."""
    found = {}
    for stack, size in sizes(profile).items():
        for place in range(len(stack) - len(path) + 1):
            if stack[place : place + len(path)] == path:
                found[stack[place + len(path) :]] = size
                break
    return found


def laid_out(tmp_path, moment, *names):
    """A capture of some of the files of a moment."""
    for name in names:
        shutil.copy(FIXTURES / "captures" / moment / name, tmp_path)
    return CaptureFacts(load(tmp_path))


@pytest.mark.at_most(4)
@pytest.mark.parametrize(
    "path", [*CAPTURES, *SAMPLE, *(LABORATORY / f"{name}.tar.gz" for name in KINDS.values())],
    ids=lambda path: path.name,
)  # fmt: skip
def test_it_adds_up_to_rss_below_one_root(path):
    facts = facts_of(path)

    for name, moment in facts.by_moment.items():
        if moment.rss_bytes is not None:
            profile = facts.rss_profile(name)
            assert moment.rss_bytes == profile.values("rss").sum()
            assert (profile.columns.value >= 0).all()
            assert {"RSS"} == {stack[0] for stack in sizes(profile)}


@pytest.mark.at_most(0)
def test_the_sample_has_captures_of_every_kind():
    known = [
        moment for path in SAMPLE for moment in facts_of(path).moments
        if moment.rss_bytes is not None
    ]  # fmt: skip
    with_smaps = [moment for moment in known if moment.mappings is not None]

    assert len(known) > 25
    assert 12 < len(with_smaps) < len(known)
    assert any(moment.memstats is None for moment in known)


@pytest.mark.at_most(5)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_difference_closes_to_the_change_of_rss(path):
    facts = facts_of(path)
    first, *later = [name for name, moment in facts.by_moment.items() if moment.rss_bytes]

    for name in later[-3:]:
        change = facts.rss_profile(name).diff(facts.rss_profile(first))
        grown = facts.by_moment[name].rss_bytes - facts.by_moment[first].rss_bytes
        assert grown == change.values("rss").sum()


def test_the_live_heap_has_the_stacks_of_the_heap_profile():
    facts = story("cache-shrink-go1.27.3")
    profile, moment = facts.rss_profile("2-shrunk"), facts.by_moment["2-shrunk"]
    heap = facts.profiles.by_moment["2-shrunk"]

    found = below(profile, "live heap")

    not_sampled = found.pop(("live heap not sampled",))
    assert sizes(heap, "inuse_space") == found
    assert moment.live_bytes == sum(found.values()) + not_sampled


def test_stacks_are_scaled_down_to_what_is_live():
    facts = story("cache-shrink-go1.12.17")
    profile, moment = facts.rss_profile("1-filled"), facts.by_moment["1-filled"]
    heap = sizes(facts.profiles.by_moment["1-filled"], "inuse_space")

    found = below(profile, "live heap")

    assert moment.live_bytes == sum(found.values()) < sum(heap.values())
    share = moment.live_bytes / sum(heap.values())
    assert set(heap) == set(found)
    assert all(abs(found[stack] - share * size) < 2 for stack, size in heap.items())


def test_functions_keep_their_file_and_line():
    profile = story("cache-shrink-go1.27.3").rss_profile("1-filled")

    frames = profile.stacks[profile.stacks["function"] == "main.newValue"]

    assert {"main.go"} == {file.rpartition("/")[2] for file in frames["file"]}
    assert (frames["line"] > 0).all()


def test_what_was_never_touched_has_no_stacks():
    """167 MiB are in use, and 9 MiB resident: which of them, no file says."""
    profile = story("zeroing-go1.24.6").rss_profile("2-loaded")

    assert not any("main.main" in stack for stack in sizes(profile))
    assert any(comment.startswith("no stacks: ") for comment in profile.columns.comments)
    assert profile.values("reserved").sum() > 150 << 20


def test_who_allocated_since_the_last_gc_is_told_by_two_profiles():
    facts = story("alloc-pressure-after-go1.27.3")
    moment = facts.by_moment["2-loaded"]

    found = below(facts.rss_profile("2-loaded"), "allocated since the last GC")

    assert moment.groups.bytes_of("go_garbage") == sum(found.values())
    assert "main.(*service).request" == max(found, key=found.get)[-1]


def test_one_profile_does_not_tell_who(tmp_path):
    files = (*OF_PROCESS, "metrics.json", "heap.pb.gz")
    facts = laid_out(tmp_path, "alloc-pressure-after-go1.27.3/2-loaded", *files)

    found = below(facts.rss_profile(), "allocated since the last GC")

    assert [()] == list(found)


def test_each_goroutine_has_the_smallest_stack():
    facts = facts_of(LABORATORY / f"{KINDS['goroutines']}.tar.gz")
    moment = facts.by_moment["3-later"]

    found = below(facts.rss_profile("3-later"), "goroutine stacks")

    rest = found.pop(("not broken down",))
    assert moment.goroutine_count * MIN_STACK == sum(found.values())
    assert moment.groups.bytes_of("go_stacks") == rest + sum(found.values())
    assert any("main.(*room).serve" in stack for stack in found)


def test_c_memory_is_told_by_mapping():
    facts = facts_of(LABORATORY / f"{KINDS['C']}.tar.gz")
    profile, moment = facts.rss_profile(), facts.moments[-1]

    found = below(profile, "C and other native memory", "malloc")

    assert moment.ledger.part("native_heap") == sum(found.values())
    assert found["[heap]",] > 0


def test_files_are_told_by_name_with_their_folder_beside_it():
    facts = facts_of(LABORATORY / f"{KINDS['files']}.tar.gz")
    profile, moment = facts.rss_profile(), facts.moments[-1]

    found = below(profile, "not Go", "mapped files and shared memory")

    mapped = moment.mappings[moment.mappings["kind"] == "mapped-file"]
    by_name = mapped.groupby(mapped["path"].str.rpartition("/")[2])["Rss"].sum()
    assert by_name[by_name > 0].to_dict() == {stack[0]: size for stack, size in found.items()}
    files = profile.functions.set_index("name")["file"]
    assert set(mapped["path"]) >= {files[name] for name in by_name[by_name > 0].index}


def test_the_program_has_its_sections_below_its_name():
    profile = story("healthy-go1.27.3").rss_profile("2-steady")

    found = below(profile, "program text and data", "healthy")

    assert {("program text",), ("read-only data",), ("data and bss",)} == set(found)


def test_released_memory_that_is_still_counted_is_named():
    facts = story("cache-shrink-go1.12.17")

    found = below(facts.rss_profile("4-freed"), "free Go heap")

    released = facts.by_moment["4-freed"].ledger.part("heap_released_resident")
    assert released == found["released, still in RSS",] > 160 << 20


def test_reserved_is_what_go_has_beyond_rss():
    facts = story("cache-shrink-go1.27.3")
    profile, moment = facts.rss_profile("2-shrunk"), facts.by_moment["2-shrunk"]

    assert ["rss", "reserved"] == profile.sample_type_names
    assert "rss" == profile.default_sample_type
    _, beyond = moment.groups.drawn(moment.rss_bytes)
    assert beyond == profile.values("reserved").sum() > 0


def test_without_smaps_the_rest_is_not_broken_down():
    facts = story("spiky-go1.27.3")

    profile = facts.rss_profile("scrape-02")

    moment = facts.by_moment["scrape-02"]
    assert moment.rss_bytes == sum(below(profile, "RSS").values())
    found = sizes(profile)
    assert found["RSS", "not broken down"] > moment.rss_bytes / 2
    file_bytes = moment.ledger.part("mapped_files")
    assert file_bytes == sum(below(profile, "not Go").values())
    assert any("smaps" in comment for comment in profile.columns.comments)


def test_without_a_heap_profile_the_live_heap_is_one_frame(tmp_path):
    files = (*OF_PROCESS, "metrics.json")
    facts = laid_out(tmp_path, "cache-shrink-go1.27.3/1-filled", *files)

    profile = facts.rss_profile()

    assert {(): facts.moments[0].live_bytes} == below(profile, "live heap")
    assert "cache-shrink" == profile.mappings["file"].iloc[0].rpartition("/")[2]


def test_of_a_status_alone_only_files_are_known(tmp_path):
    facts = laid_out(tmp_path, "cache-shrink-go1.27.3/1-filled", "status")
    status = facts.capture.status.iloc[0]

    found = sizes(facts.rss_profile())

    files = int(status["RssFile"] + status["RssShmem"])
    assert files == found["RSS", "not Go", "files and program text", "not broken down"]
    assert int(status["VmRSS"]) - files == found["RSS", "not broken down"]


def test_smaps_alone_tell_all_but_the_heap(tmp_path):
    facts = laid_out(tmp_path, "cache-shrink-go1.27.3/1-filled", "smaps")

    found = sizes(facts.rss_profile())

    assert facts.moments[0].arenas_rss_bytes == found["RSS", "Go", "Go heap", "not broken down"]


def test_without_rss_it_says_what_would(tmp_path):
    facts = laid_out(tmp_path, "cache-shrink-go1.27.3/1-filled", "heap.pb.gz")

    with pytest.raises(CaptureError, match=r"no file has RSS; add smaps: cat /proc"):
        facts.rss_profile()
    with pytest.raises(CaptureError, match=r"no snapshot 3-colected.*did you mean 3-collected"):
        story("cache-shrink-go1.27.3").rss_profile("3-colected")


def test_the_time_is_the_moments_and_nothing_is_said_of_a_period():
    facts = story("cache-shrink-go1.27.3")
    profile = facts.rss_profile("1-filled")

    assert facts.by_moment["1-filled"].time == profile.time
    columns = profile.columns
    assert (None, 0, "") == (profile.period, columns.duration_nanos, columns.drop_frames)


def test_nothing_of_a_heap_profile_is_kept_that_no_stack_needs():
    """Labels may hold what a program said of a request."""
    columns = story("healthy-go1.27.3").rss_profile("2-steady").columns

    assert np.array_equal(np.unique(columns.stack), np.arange(len(columns.locations.id)))
    functions = np.unique(columns.locations.line_function)
    assert np.array_equal(functions, np.arange(len(columns.functions.id)))
    assert 0 == len(columns.labels.sample)
    assert len(columns.strings) == len(set(columns.strings))


@pytest.mark.go
@WITH_GO
@pytest.mark.parametrize(
    ("path", "moment"),
    [(FIXTURES / "captures/cache-shrink-go1.27.3", "2-shrunk"),
     (FIXTURES / "captures/zeroing-go1.24.2", "1-start"),
     (FIXTURES / "captures/spiky-go1.27.3", "scrape-02"),
     *((LABORATORY / f"{name}.tar.gz", None) for name in KINDS.values())],
    ids=lambda value: getattr(value, "name", value),
)  # fmt: skip
def test_pprof_adds_it_up_to_rss(path, moment, tmp_path):
    facts = facts_of(path)
    written = tmp_path / "rss.pb.gz"
    profile = facts.rss_profile(moment)
    written.write_bytes(profile.to_pprof())

    told = pprof("-top", written)

    total = re.search(r"of (\d+)B total", told)
    assert int(total[1]) == profile.values("rss").sum()
    rows = re.findall(r"^ *(\d+)B? .* (\d+)B +\S+%  (.*?)(?: \(inline\))?$", told, re.MULTILINE)
    assert int(total[1]) == sum(int(flat) for flat, _, _ in rows)
    assert total[1] == next(cum for _, cum, name in rows if name == "RSS")


@pytest.mark.go
@WITH_GO
def test_pprof_compares_two_of_them(tmp_path):
    facts = story("cache-shrink-go1.27.3")
    for name in ("1-filled", "4-freed"):
        (tmp_path / name).write_bytes(facts.rss_profile(name).to_pprof())

    told = pprof("-top", "-diff_base", tmp_path / "1-filled", tmp_path / "4-freed")

    flats = re.findall(r"^ *(-?\d+)B? +\S+% +\S+% +-?\d+B?", told, re.MULTILINE)
    grown = facts.by_moment["4-freed"].rss_bytes - facts.by_moment["1-filled"].rss_bytes
    assert grown == sum(map(int, flats))


def pprof(*arguments):
    command = ["go", "tool", "pprof", *EXACT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
