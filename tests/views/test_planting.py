"""The planted capture has a name in every column in which somebody can put one."""

import importlib
import pkgutil

import pytest

import gomem
from gomem.inputs.kinds import KINDS
from gomem.inputs.schema import Column
from gomem.numbered import KINDS as KINDS_OF_TEXT
from gomem.numbered import Numbered
from gomem.text import Quoted, Words
from tests.views.planted import MOMENTS, plant

TEXTS = {"str", "object", "category"}  # dtypes
# What can hold a name elsewhere, and here never does.
NAMED_BY_NOBODY = {
    "smaps_rollup": {"path"},
    # Only an executable says what a function wraps, and in a capture that is build information.
    "symbols": {"wraps"},
    "heap_text": {"key", "text", "unit", "build_id"},
    "count_text": {"key", "text", "unit", "build_id"},
    "pprof_text": {"key", "text", "unit"},
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return gomem.load(plant(tmp_path_factory.mktemp("planted")))


def test_the_capture_is_the_one_that_was_planted(loaded):
    assert {*MOMENTS.values(), "psstextra"} == set(loaded.by_moment)


def test_every_column_of_text_says_what_it_holds():
    """
    Else nobody knows what a redacted output may show of it.
    """
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(gomem.__path__, "gomem.")
        if not module.name.endswith("__main__")
    ]
    schemas = [
        (module.__name__, name, columns)
        for module in modules
        for name, columns in vars(module).items()
        if isinstance(columns, tuple) and columns and isinstance(columns[0], Column)
    ]

    assert len(schemas) > 100
    assert [] == [
        (module, name, column.name)
        for module, name, columns in schemas
        for column in columns
        if (column.dtype in TEXTS) != (column.holds is not None)
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_column_that_can_hold_a_name_holds_a_planted_one(loaded, kind):
    """
    The data dictionary is walked: a new column is planted here, or said to be of fixed words.
    """
    read = [file.parsed for file in loaded.files if file.kind.name == kind.name]
    assert read
    columns, planted = set(), set()
    for name in kind.frames[:-1]:
        frames = [getattr(parsed, name) for parsed in read]
        told = frames[0].attrs["columns"]
        for column, dtype in frames[0].dtypes.items():
            holds = told.get(column, {}).get("holds")
            assert (holds is not None) == (str(dtype) in TEXTS), column
            if holds is None or (kind_of_text := KINDS_OF_TEXT[holds]) is Words:
                continue
            columns.add(column)
            wanted = "psst" if issubclass(kind_of_text, Numbered | Quoted) else "psst|kept"
            values = [frame[column].astype("str") for frame in frames]
            if any(value.str.contains(wanted, na=False).any() for value in values):
                planted.add(column)

    assert NAMED_BY_NOBODY.get(kind.name, set()) == columns - planted
