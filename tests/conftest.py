"""Options and fixtures that tests of several floors share."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.scheduling import ByCapture, beyond_most, long_first

# How long an example takes depends on what else the machine does, which proves nothing.
settings.register_profile("every case", deadline=None)
settings.register_profile("gomem", deadline=None, max_examples=40)
settings.load_profile("gomem")

# Frames and modules make many objects and few cycles: looking for these takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

# What tests start keeps its compiled modules, as people's processes do, and need not compile again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# jsonschema would have lark build the grammar of IRIs, for three seconds; no schema here has one.
sys.modules["rfc3987_syntax"] = None

GOLDEN = Path(__file__).parent / "views" / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden texts again, for review"
    )
    parser.addoption(
        "--every-stranger", action="store_true", help="all of tools/stranger, not a few of it"
    )
    parser.addoption(
        "--every-notebook", action="store_true", help="each notebook on each foreign capture"
    )
    parser.addoption(
        "--every-case",
        action="store_true",
        help="all cases of each test, not a few of many, and more examples of Hypothesis",
    )


def pytest_configure(config):
    if config.getoption("--every-case"):
        settings.load_profile("every case")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Text has its own width: pytest's workers inherit COLUMNS from readline."""
    os.environ.pop("COLUMNS", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """A process more than there are processors: many tests wait for a process or a server."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With --dist=loadfile: a file's tests in one process, and those of a capture."""
    if config.option.dist != "loadfile":
        return None
    return ByCapture(config, log)


def pytest_collection_modifyitems(config, items):
    """Of cases, and of what is marked `every_notebook`, no more than their options ask for."""
    long_first(items)
    left = set()
    if not config.getoption("--every-notebook"):
        left |= {item for item in items if item.get_closest_marker("every_notebook")}
    if not config.getoption("--every-case"):
        left |= beyond_most(items)
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session", autouse=True)
def _recorded_captures():
    """What is recorded is read, and asked, once in a process."""
    from tests.recorded import read_once

    with read_once() as recorded:
        yield recorded


@pytest.fixture
def monkeypatch(monkeypatch, _recorded_captures):
    """Of a gomem of which something is replaced, nothing is kept for other tests."""
    replace = monkeypatch.setattr

    def replaced(*args, **options):
        _recorded_captures.is_aside = True
        replace(*args, **options)

    monkeypatch.setattr = replaced
    yield monkeypatch
    _recorded_captures.is_aside = False


@pytest.fixture
def golden(request):
    """The text that a golden file holds; with --update-golden, the given text becomes it."""

    def expected(name, text):
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return path.read_text(encoding="utf-8")

    return expected


@pytest.fixture
def closed_figures():
    """Matplotlib keeps every figure until it is closed."""
    from matplotlib import pyplot as plt

    yield
    plt.close("all")
