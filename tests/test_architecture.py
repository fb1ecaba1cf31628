"""The floors of the house: imports go down, formats know no pandas, few touch files."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gomem

PACKAGE = Path(gomem.__file__).parent
GROUND = {"errors", "units", "releases", "sources"}
FLOORS = [
    GROUND,
    {"inputs"},
    {"capture"},
    {"analysis"},
    {"causes"},
    {"diagnosis"},
    {"views"},
    {"schemas"},
    {"live", "cli", "plot", "__main__"},
]
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
# One question in steps, each with a module: what kind is a mapping? `mappings` alone asks them.
KIND_OF_A_MAPPING = {
    f"gomem.analysis.memory.{step}"
    for step in ("mapping_rows", "arenas", "native_memory", "runtime_metadata")
}
# How sure a sampled number is, and a difference of two: asked wherever profiles are.
OF_SAMPLES = {"gomem.analysis.profiles.sampling", "gomem.analysis.profiles.site_changes"}
FILE_FLOORS = {"sources", "live", "cli"}


def floor(word: str) -> int:
    return next(level for level, words in enumerate(FLOORS) if word in words)


def word_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    """
    A module imports its own floor or a lower one.
    """
    here = floor(word_of(path))

    for name in imports(path):
        if name.startswith("gomem."):
            above = name.split(".")[1]
            assert floor(above) <= here, f"{path.name} imports {name}"


@pytest.mark.parametrize("word", ["analysis", "causes"])
def test_answers_do_not_import_each_other(word):
    """
    Two analyses that share a step have found a question of its own; two causes share an analysis.
    """
    shared = {
        "analysis": {"gomem.analysis.memory.mappings", "gomem.analysis.collector.steps"}
        | KIND_OF_A_MAPPING
        | {"gomem.analysis.memory.resident_totals", "gomem.analysis.slopes"}
        | OF_SAMPLES,
        "causes": {
            "gomem.causes.cause",
            "gomem.causes.finding",
            "gomem.causes.answers",
            "gomem.causes.thresholds",
            "gomem.causes.collector_answers",
        },
    }[word]

    for path in PACKAGE.joinpath(word).rglob("[!_]*.py"):
        across = {name for name in imports(path) if name.startswith(f"gomem.{word}.")}
        assert set() == across - shared, path.name


def test_parsers_know_no_pandas():
    for path in PACKAGE.joinpath("inputs").rglob("parse.py"):
        assert "pandas" not in {name.partition(".")[0] for name in imports(path)}, path.name


def test_only_the_ground_the_live_capture_and_the_command_line_open_files():
    for path in MODULES:
        if word_of(path) not in FILE_FLOORS:
            assert "open" not in set(calls(path)), path.name


def test_only_the_command_line_prints():
    for path in MODULES:
        if word_of(path) != "cli":
            assert "print" not in set(calls(path)), path.name


def test_importing_gomem_loads_nothing_heavy():
    """
    The public names are lazy: pandas and its like load when one of them is used.
    """
    heavy = ["numpy", "pandas", "pyarrow", "scipy", "matplotlib", "google.protobuf", "typer"]
    heavy += ["rich", "jinja2", "IPython", "nbconvert"]
    code = f"import gomem, sys; print([name for name in {heavy} if name in sys.modules])"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()

    assert "[]" == loaded


def test_every_public_name_is_there():
    for name in dir(gomem):
        assert getattr(gomem, name) is not None
