"""Of a leak whose own function the truth knows, whether a finding names it."""

import re

import pytest

from tools.laboratory.captures import LABORATORY, Answer, truth
from tools.laboratory.holders import PROFILES, holders, names, own_functions

HELD = [
    pytest.param(recorded["program"], cause, id=f"{name}-{cause['code']}")
    for name, recorded in truth().items()
    for cause in recorded["causes"]
    if "holder" in cause
]
CLOSURE = re.compile(r"main\.main\.func(\d+)")
METHOD = re.compile(r"(?:.*/)?(\w+)\.(?:\(\*(\w+)\)\.)?(\w+)")


def finding(title, code="heap-growth", **more):
    return {"code": code, "title": title, "evidence": [], "severity": "warning", **more}


def recorded_as(monkeypatch, *causes, artefacts=("heap", "goroutine"), also_right=()):
    recorded = {
        "causes": list(causes),
        "artefacts": list(artefacts),
        "also_right": list(also_right),
        "healthy": False,
        "beside": {},
    }
    for place in ("captures", "holders"):
        monkeypatch.setattr(f"tools.laboratory.{place}.truth", lambda: {"some-a": recorded})


def held_by(*functions, code="heap-growth"):
    return {"code": code, "holder": {"own_functions": list(functions)}}


@pytest.mark.parametrize(("program", "cause"), HELD)
def test_a_holder_is_a_function_of_the_program(program, cause):
    """Of the programs that are here the sources are asked."""
    assert cause["code"] in PROFILES
    assert own_functions(cause)
    folder = LABORATORY / "programs" / program
    source = "\n".join(path.read_text() for path in folder.rglob("*.go"))
    for function in own_functions(cause) if source else ():
        closure, method = CLOSURE.fullmatch(function), METHOD.fullmatch(function)
        if closure:
            assert source.count("func(") >= int(closure[1])
            continue
        package, receiver, name = method.groups()
        assert f"package {package}\n" in source
        prefix = rf"func \(\w+ \*{receiver}\) " if receiver else "func "
        assert re.search(rf"^{prefix}{name}\(", source, re.MULTILINE)


def test_a_standard_library_s_function_is_named_by_its_caller():
    """What the given set's truth calls `function` and `caller`."""
    for recorded in truth().values():
        for cause in recorded["causes"]:
            holder = cause.get("holder", {})
            if "own_function" in holder:
                assert holder["own_function"].startswith("main.")
                assert holder["own_function"] in {holder["function"], holder["caller"]}


@pytest.mark.parametrize(
    ("said", "function", "is_named"),
    [
        pytest.param("main.keep allocates it", "main.keep", True, id="function"),
        pytest.param("main.keeper allocates it", "main.keep", False, id="longer"),
        pytest.param("domain.keep allocates it", "main.keep", False, id="package that ends so"),
        pytest.param("time.NewTimer for main.keep.func1", "main.keep", True, id="closure"),
        pytest.param("by main.(*hub).watch, too", "main.(*hub).watch", True, id="method"),
        pytest.param("by main.(*hub).watchPlain", "main.(*hub).watch", False, id="longer method"),
        pytest.param("vault.Bottle allocates", "example.org/a/vault.Bottle", True, id="short"),
        pytest.param("example.org/a/vault.Bottle", "example.org/a/vault.Bottle", True, id="path"),
        pytest.param("the heap grows", "main.keep", False, id="none"),
    ],
)
def test_a_title_names_a_function(said, function, is_named):
    assert is_named == names(finding(said), [function])


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"sites": [{"function": "x.F", "own_function": "main.keep"}]}, id="site"),
        pytest.param(
            {"evidence": [{"artefact": "t1/heap", "field": "inuse_space of main.keep"}]},
            id="evidence",
        ),
    ],
)
def test_a_site_or_evidence_names_a_function_as_well(more):
    assert names(finding("the heap grows", **more), ["main.keep"])


@pytest.mark.parametrize(
    ("code", "title", "is_named"),
    [
        pytest.param("heap-growth", "main.keep grows", True, id="the cause"),
        pytest.param("goroutine-leak", "waiting in main.keep", True, id="as right a cause"),
        pytest.param("allocation-spike", "main.keep has more", False, id="another cause"),
        pytest.param("heap-growth", "main.other grows", False, id="another function"),
    ],
)
def test_a_holder_is_named_by_a_finding_of_its_cause(code, title, is_named, monkeypatch):
    recorded_as(monkeypatch, held_by("main.fill", "main.keep"), also_right=["goroutine-leak"])

    (holder,) = holders(Answer("some-a", [finding(title, code)], ""))

    assert is_named == holder.is_named


@pytest.mark.parametrize(
    ("cause", "artefacts"),
    [
        pytest.param(held_by("main.keep"), ["goroutine", "memstats"], id="growth without heap"),
        pytest.param(
            held_by("main.wait", code="goroutine-leak"), ["heap"], id="leak without goroutines"
        ),
        pytest.param({"code": "heap-growth"}, ["heap"], id="no holder"),
    ],
)
def test_what_no_profile_shows_is_not_asked_for(cause, artefacts, monkeypatch):
    recorded_as(monkeypatch, cause, artefacts=artefacts)

    assert [] == holders(Answer("some-a", [], ""))
