"""The floors of the house: imports go down, formats know no pandas, few touch files."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gomem

PACKAGE = Path(gomem.__file__).parent
GROUND = {"errors", "numbered", "units", "text", "shell", "releases", "sources", "statistics"}
FLOORS = [
    GROUND,
    {"inputs"},
    {"capture"},
    {"analysis"},
    {"facts"},
    {"causes"},
    {"diagnosis"},
    {"comparison"},
    {"fleets"},
    {"charts"},
    {"views"},
    {"live"},
    {"plot"},
    {"notebook"},
    {"cli", "__main__"},
]
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
# The folders of `analysis`: each may ask those before it, and itself.
SUBJECTS = [
    {"series"},
    {"mappings"},
    {"collector"},
    {"memory", "profiles"},
    {"retention"},
    {"scavenger"},
    {"what_if"},
    {"fleet"},
]
# What every cause is made of and looks at; the rest are causes.
OF_CAUSES = {
    "gomem.causes.beyond_go",
    "gomem.causes.cause",
    "gomem.causes.checks",
    "gomem.causes.collecting",
    "gomem.causes.commands",
    "gomem.causes.evidence",
    "gomem.causes.finding",
    "gomem.causes.goroutines",
    "gomem.causes.grown_in_one_file",
    "gomem.causes.killed",
    "gomem.causes.lock_holder",
    "gomem.causes.memory_rise",
    "gomem.causes.missing_call",
    "gomem.causes.multiplying_series",
    "gomem.causes.of_library",
    "gomem.causes.one_dump",
    "gomem.causes.outside_go",
    "gomem.causes.scores",
    "gomem.causes.signatures",
    "gomem.causes.sites",
    "gomem.causes.thresholds",
}
FILE_FLOORS = {"sources", "live", "cli"}
# `open` as a method is a listed file's own, which `sources` wrote; that of a module is not.
TOUCH_FILES = {"read_text", "read_bytes", "write_text", "write_bytes"}
TOUCH_FILES |= {"open_text", "open_binary", "mkdir", "makedirs", "unlink", "rmtree", "touch"}
TOUCH_FILES |= {"iterdir", "glob", "rglob", "scandir", "listdir", "copyfile", "copytree"}
OPENERS = {"", "io", "os", "Path", "pathlib", "gzip", "bz2", "lzma", "zipfile", "tarfile", "codecs"}
IN_NUMPY = {"inputs/pprof/calls", "inputs/pprof/protobuf"}


def floor(word: str) -> int:
    return next(level for level, words in enumerate(FLOORS) if word in words)


def word_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" == getattr(node.test, "id", "")


def nodes(path: Path, *, at_run_time: bool = False) -> Iterator[ast.AST]:
    """All of a file; or what is left of it when it runs."""
    left: list[ast.AST] = [tree_of(path)]
    while left:
        node = left.pop()
        yield node
        unseen = (
            node.orelse if at_run_time and for_types_alone(node) else ast.iter_child_nodes(node)
        )
        left.extend(unseen)


@cache
def imports(path: Path, *, at_run_time: bool = False) -> frozenset[str]:
    """Full names of the modules that a file imports, wherever in it the import stands."""
    return frozenset(_imports(path, at_run_time=at_run_time))


def _imports(path: Path, *, at_run_time: bool) -> Iterator[str]:
    for node in nodes(path, at_run_time=at_run_time):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            # `from gomem.analysis import slopes` imports a module as `import` does.
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if is_module(node.module or "", alias.name)
            )


@cache
def is_module(package: str, name: str) -> bool:
    if package.partition(".")[0] != "gomem":
        return False
    place = PACKAGE.parent.joinpath(*package.split("."), name)
    return place.is_dir() or place.with_suffix(".py").is_file()


def called(path: Path) -> Iterator[tuple[str, str]]:
    """What a file calls: the name, and of a method what stands before it."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.id, ""
            elif isinstance(function, ast.Attribute):
                yield function.attr, dotted(function.value)


def dotted(node: ast.AST) -> str:
    """`sys.stderr` as it is written; nothing where what stands there is no name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "()"


def test_imports_go_down():
    """
    A module imports its own floor or a lower one, for its types, too.
    """
    for path in MODULES:
        here = floor(word_of(path))
        for name in imports(path):
            if name.startswith("gomem."):
                above = name.split(".")[1]
                assert floor(above) <= here, f"{name_of(path)} imports {name}"


def test_nobody_inside_imports_the_public_names():
    """
    Through them a module could climb to any floor unseen.
    """
    assert [] == [name_of(path) for path in MODULES if "gomem" in imports(path)]


def test_views_do_not_ask():
    """
    They get answers. Of where an answer comes from they may know its type, and the words in which
    it speaks: columns and names, which are constants, and what a class says of its attributes.
    """
    for path in PACKAGE.joinpath("views").rglob("*.py"):
        for node in nodes(path, at_run_time=True):
            if isinstance(node, ast.Import):
                assert not any(is_below(alias.name, "analysis") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and is_below(node.module or "", "analysis"):
                asked = {alias.name for alias in node.names if not alias.name[0].isupper()}
                assert set() == asked, name_of(path)


def test_json_is_written_without_what_draws():
    """
    Sections and figures are a third of gomem's modules, and take time to load.
    """
    names, left = set(), [*PACKAGE.joinpath("views", "json").glob("*.py")]
    while left:
        found = {n for n in imports(left.pop(), at_run_time=True) if is_of_pages(n)} - names
        names |= found
        modules = (PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py") for name in found)
        left += [path for path in modules if path.is_file()]

    assert "gomem.views.share" in names
    drawing = ("gomem.views.report", "gomem.views.fig", "gomem.charts")
    assert set() == {name for name in names if name.startswith(drawing)}


def is_of_pages(name: str) -> bool:
    return is_below(name, "views") or is_below(name, "charts")


def is_below(name: str, floor: str) -> bool:
    return f"{name}.".startswith(f"gomem.{floor}.")


def test_charts_stand_alone():
    """
    They can be used without anything else of gomem: of what they draw they know nothing.
    """
    for path in PACKAGE.joinpath("charts").rglob("*.py"):
        asked = {name.split(".")[1] for name in imports(path) if name.startswith("gomem.")}
        assert set() == asked - GROUND - {"charts"}, name_of(path)


def test_analyses_ask_in_one_order():
    """
    Each its own folder and those below: two that share a step have found a question below both.
    """
    home = PACKAGE / "analysis"
    folders = {path.parent for path in home.glob("*/*.py")}
    assert ["__init__.py"] == [path.name for path in home.glob("*.py")]
    assert {folder.name for folder in folders} == set().union(*SUBJECTS)

    for folder in folders:
        step = next(place for place, words in enumerate(SUBJECTS) if folder.name in words)
        below = set().union(*SUBJECTS[:step])
        for path in folder.rglob("*.py"):
            parts = [name.split(".") for name in imports(path) if is_below(name, "analysis")]
            asked = {word for part in parts for word in part[2:3]}
            assert set() == asked - below - {folder.name}, name_of(path)


def test_causes_do_not_import_each_other():
    """
    Two causes that look at the same thing share an answer.
    """
    for path in PACKAGE.joinpath("causes").rglob("[!_]*.py"):
        assert set() == {n for n in imports(path) if is_below(n, "causes")} - OF_CAUSES, path.name


def test_what_causes_are_made_of_is_there():
    """
    A name that moved would allow nothing, and a list that is not read grows old.
    """
    for name in OF_CAUSES:
        assert PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py").is_file(), name


def test_parsers_know_no_pandas():
    parsers = list(PACKAGE.joinpath("inputs").rglob("parse.py"))
    for folder in IN_NUMPY:
        parsers += PACKAGE.joinpath(folder).rglob("*.py")

    assert len(parsers) > 12
    for path in parsers:
        assert "pandas" not in {name.partition(".")[0] for name in imports(path)}, name_of(path)


def test_only_sources_the_live_capture_and_the_command_line_touch_files():
    for path in MODULES:
        if word_of(path) not in FILE_FLOORS:
            for name, before in called(path):
                assert name not in TOUCH_FILES, f"{name_of(path)}: {before}.{name}"
                assert name != "open" or before not in OPENERS, f"{name_of(path)}: {before}.open"


def test_only_the_command_line_prints():
    for path in MODULES:
        if word_of(path) != "cli":
            for name, before in called(path):
                assert (name, before) != ("print", ""), name_of(path)
                assert before not in {"sys.stdout", "sys.stderr"}, name_of(path)


def test_numbers_are_ascii_digits():
    """
    `\\d`, `isdecimal` and `isdigit` take the digits of every alphabet in text, in bytes ASCII's.
    """
    of_bytes = {"inputs", "units"}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert r"\d" not in node.value, f"{name_of(path)}: line {node.lineno}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"isdecimal", "isnumeric"}, name_of(path)
                assert node.attr != "isdigit" or word_of(path) in of_bytes, name_of(path)


def test_importing_gomem_loads_nothing_heavy():
    """
    The public names are lazy: pandas and its like load when one of them is used.
    """
    heavy = ["numpy", "pandas", "pyarrow", "scipy", "matplotlib", "google.protobuf", "typer"]
    heavy += ["rich", "jinja2", "IPython", "nbconvert", "httpx", "psutil", "rustworkx"]
    code = f"import gomem, sys; print([name for name in {heavy} if name in sys.modules])"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()

    assert "[]" == loaded


def test_every_public_name_is_there():
    for name in dir(gomem):
        assert getattr(gomem, name) is not None
