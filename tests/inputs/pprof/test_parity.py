"""Every number of `top` against what `go tool pprof` said of the same profile.

The answers stand beside the profiles of `fixtures/profiles/`; where Go is present, some of them
are asked for again, with whatever release that is.
"""

import gzip
import importlib.util
import json
import shutil
import subprocess
import sys
from functools import cache

import pytest

from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES

PROFILES = sorted((FIXTURES / "profiles").glob("*/*.pb.gz"))
NAMES = ["/".join(path.parts[-2:]) for path in PROFILES]
MOMENTS = sorted({path.parent for path in (FIXTURES / "captures").glob("*/*/*.pb.gz")})
TYPES = {"heap", "allocs", "cpu", "goroutine", "mutex", "block"}


def answers_to(path, folder):
    """What pprof said of a profile, from the file of its name in a folder."""
    packed = (folder / path.name.replace(".pb.gz", ".top.json.gz")).read_bytes()
    return json.loads(gzip.decompress(packed))


def base_of(path):
    """What a profile is compared with: the one before it, in a capture the moment's before."""
    if path.parent.parent == FIXTURES / "profiles":
        return path.with_name(path.name.replace("-b.", "-a."))
    return max(
        (one for one in path.parent.parent.glob(f"*/{path.name}") if one < path), default=None
    )


read = cache(read_pprof)


@cache
def part(path, *options):
    """The profile of a question: compared with the one before it, and filtered."""
    asked = dict(options)
    profile = read(path)
    normalize = asked.pop("normalize", False)
    if asked.pop("base", False):
        profile = profile.diff(read(base_of(path)), as_diff_base=False, normalize=normalize)
    if asked.pop("diff_base", False):
        profile = profile.diff(read(base_of(path)))
    return profile.filtered(**asked)


def answer(path, case):
    """Our total and rows for one question."""
    profile = part(path, *case["options"].items())
    top = profile.top(case["sample_type"], granularity=case["granularity"])
    columns = (top[name].tolist() for name in (top.columns[0], "flat", "cum"))
    rows = sorted(zip(*columns, strict=True))
    return profile.total(case["sample_type"]), rows


def wrong_answers(path, said):
    """The questions that we answer otherwise than pprof did."""
    wrong = []
    for case in said["cases"]:
        rows = sorted((said["names"][name], flat, cum) for name, flat, cum in case["rows"])
        if (case["total"], rows) != answer(path, case):
            wrong.append((path.name, case["sample_type"], case["granularity"], case["options"]))
    part.cache_clear()
    return wrong


@pytest.mark.at_most(7)
@pytest.mark.parametrize("path", PROFILES, ids=NAMES)
def test_top_is_what_pprof_said(path):
    """
    Flat and cum of every row, and the total, by every sample type, at functions, files and lines,
    with and without a base and filters.
    """
    assert [] == wrong_answers(path, answers_to(path, path.parent))


@pytest.mark.at_most(5)
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: "/".join(moment.parts[-2:]))
def test_top_of_a_captures_profiles_is_what_pprof_said(moment):
    """
    As above, with the moment before as the base.
    """
    answers = FIXTURES / "golden" / "pprof" / moment.parent.name / moment.name
    paths = sorted(moment.glob("*.pb.gz"))

    wrong = []
    for path in paths:
        said = answers_to(path, answers)
        wrong += wrong_answers(path, said)

    assert [] == wrong


def test_there_are_more_than_thirty_profiles_of_six_kinds_and_six_releases():
    kinds = {path.name.partition("-")[0] for path in PROFILES}
    releases = {path.parent.name for path in PROFILES if path.parent.name.startswith("go")}

    assert len(PROFILES) > 30
    assert kinds >= TYPES
    assert 6 == len(releases)


def test_the_questions_are_what_the_answers_are_to():
    """
    Each with and without base, focus, ignore and noinlines at three granularities.
    """
    path = PROFILES[NAMES.index("go1.27.3/heap-b.pb.gz")]
    asked = answers_to(path, path.parent)["cases"]

    everywhere = {
        (case["sample_type"], case["granularity"], *case["options"])
        for case in asked
        if len(case["options"]) < 2
    }
    for sample_type in ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"):
        for granularity in ("functions", "files", "lines"):
            for option in ((), ("base",), ("focus",), ("ignore",), ("noinlines",)):
                assert (sample_type, granularity, *option) in everywhere


def questions():
    """The module that asks pprof; it stands with the programs that record fixtures."""
    folder = FIXTURES / "programs"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("asked", folder / "golden_profiles.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


@pytest.mark.go
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no go on the PATH")
@pytest.mark.parametrize(
    "name", ["go1.24.2/heap-b.pb.gz", "go1.27.3/cpu-b.pb.gz", "made/wall5-b.pb.gz"]
)
def test_top_is_what_pprof_says_now(name):
    asked = questions()
    path = PROFILES[NAMES.index(name)]
    pprof = subprocess.run(
        ["go", "tool", "-n", "pprof"], capture_output=True, text=True, check=True
    ).stdout.strip()
    types = asked.sample_types_of(pprof, path)
    cases = [case for case in asked.cases_of(path, types) if case["granularity"] != "files"][-14:]

    for case in cases:
        total, rows = asked.ask(pprof, path, asked.base_of(path), types, case)
        assert (total, rows) == answer(path, case), case
