"""The data dictionary: every column of every table has a dtype, a unit and a sentence."""

import importlib
import pkgutil

import numpy as np
import pandas as pd
import pytest

import gomem
import gomem.analysis
import gomem.capture
import gomem.diagnosis
import gomem.inputs
from gomem.inputs.schema import UNITS, Column, build, build_rows, empty, rows_of
from tests.builders import FIXTURES

SCHEMAS = {
    f"{module.name}.{name}": value
    for floor in (gomem.inputs, gomem.capture, gomem.analysis, gomem.diagnosis)
    for module in pkgutil.walk_packages(floor.__path__, f"{floor.__name__}.")
    for name, value in vars(importlib.import_module(module.name)).items()
    if isinstance(value, tuple) and value and all(isinstance(one, Column) for one in value)
}
TWO = (
    Column("known", "int64", "B", "Always there."),
    Column("late", "Int64", "B", "Missing from older files."),
)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_has_a_dtype_a_unit_and_a_sentence(name):
    for column in SCHEMAS[name]:
        pd.Series([], dtype=column.dtype)
        assert column.unit in UNITS, column.name
        assert column.means.endswith("."), column.name


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_table_of_nothing_has_the_columns_and_types_of_a_full_one(name):
    frame = empty(SCHEMAS[name])

    assert [column.name for column in SCHEMAS[name]] == list(frame.columns)
    assert [pd.Series([], dtype=one.dtype).dtype for one in SCHEMAS[name]] == list(frame.dtypes)


def test_what_an_artefact_does_not_have_is_missing_and_not_zero():
    frame = build({"known": np.array([1, 2])}, TWO)

    assert [True, True] == list(frame["late"].isna())


def test_a_mask_becomes_missing():
    late = np.ma.MaskedArray([3, 0], mask=[False, True])

    frame = build({"known": np.array([1, 2]), "late": late}, TWO)

    assert [3, pd.NA] == list(frame["late"])


def test_a_column_that_cannot_be_missing_must_be_there():
    with pytest.raises(ValueError, match="int64 cannot be missing"):
        build({"late": [1]}, TWO)


def test_a_column_without_a_place_in_the_dictionary_is_refused():
    with pytest.raises(ValueError, match=r"without a place in the schema: \['other'\]"):
        build({"other": [1]}, TWO)


def test_the_frames_of_a_capture_keep_their_types():
    """
    A capture without an artefact and one with it give frames of the same columns and types.
    """
    full = gomem.load(FIXTURES / "captures/zeroing-go1.24.2")
    log_only = gomem.load(FIXTURES / "captures/zeroing-go1.24.2/gctrace.log")

    for name in ("memstats", "metrics", "smaps", "rollups", "status", "goroutines"):
        ours, theirs = getattr(full, name), getattr(log_only, name)
        assert 0 == len(theirs)
        kinds = [{column: dtype.name for column, dtype in frame.dtypes.items()}
                 for frame in (ours, theirs)]  # fmt: skip
        assert kinds[0] == kinds[1], name


def test_rows_make_the_same_frame_as_columns():
    """
    None is missing, and no rows still have the types.
    """
    columns = {"known": [1, 2], "late": [None, 3]}

    pd.testing.assert_frame_equal(build(columns, TWO), build_rows([(1, None), (2, 3)], TWO))
    pd.testing.assert_frame_equal(empty(TWO), build_rows([], TWO))


def test_a_frame_gives_its_rows_as_plain_values():
    frame = pd.DataFrame(
        {
            "count": pd.array([1, None], dtype="Int64"),
            "share": [0.5, np.nan],
            "name": pd.array(["a", None], dtype="str"),
            "at": pd.to_datetime(["2026-11-20T07:16:17Z", None]),
            "kept": [True, False],
            "mixed": pd.Series([np.int64(7), "text"], dtype=object),
            "group": pd.Categorical(["x", "y"]),
        }
    )

    first, second = rows_of(frame)

    assert {"count": 1, "share": 0.5, "name": "a", "kept": True, "mixed": 7, "group": "x"} == {
        name: value for name, value in first.items() if name != "at"
    }
    assert {int, float, str, bool, pd.Timestamp} == {type(value) for value in first.values()}
    assert pd.Timestamp("2026-11-20T07:16:17Z") == first["at"]
    assert second["count"] is None
    assert np.isnan([second["share"], second["name"]]).all()
    assert pd.NaT is second["at"]
    assert list(frame) == list(second)
    assert repr([first, second]) == repr(frame.to_dict("records"))


def test_a_frame_without_rows_gives_none():
    assert [] == rows_of(pd.DataFrame({"count": pd.array([], dtype="Int64")}))


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint64"])
def test_a_type_without_a_missing_value_needs_one_in_each_row(dtype):
    schema = (*TWO, Column("x", dtype, "", "."))

    assert [dtype] == [str(build({}, schema)["x"].dtype)]
    with pytest.raises(ValueError, match=f"{dtype} cannot be missing"):
        build({"known": [1]}, schema)


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "boolean", "str", "float64", "object", "datetime64[ns, UTC]"]
)
def test_a_type_with_a_missing_value_may_lack_all(dtype):
    frame = build({"known": [1, 2]}, (*TWO, Column("x", dtype, "", ".")))

    assert ([True, True], dtype) == (frame["x"].isna().to_list(), str(frame["x"].dtype))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("masked", [False, True])
def test_arrays_stay_the_callers_unless_the_frame_takes_them(copy, masked):
    known, late = np.array([1, 2]), np.array([3, 4])
    columns = {"known": known, "late": np.ma.array(late, mask=[False, True]) if masked else late}

    frame = build(columns, TWO, copy=copy)
    known[0] = late[0] = 9

    assert ([1, 2] if copy else [9, 2]) == frame["known"].to_list()
    assert frame["late"].isna().to_list() == [False, masked]
    assert not masked or frame["late"].iloc[0] == (3 if copy else 9)


@pytest.mark.parametrize("mask", [[False, True], [False, False]])
def test_a_mask_of_another_type_becomes_missing(mask):
    schema = (Column("s", "float64", "s", "."), Column("n", "Int64", "", "."))
    columns = {
        "s": np.ma.array([0.5, 1.5], mask=mask),
        "n": np.ma.array(np.array([1, 2], np.int32), mask=mask),
    }

    frame = build(columns, schema)

    assert mask == frame["s"].isna().to_list() == frame["n"].isna().to_list()
    assert ["float64", "Int64"] == [str(dtype) for dtype in frame.dtypes]
    assert [0.5, 1] == frame.iloc[0].to_list()


def test_a_frame_carries_what_its_columns_mean_through_pandas_operations():
    smaps = gomem.read_smaps(FIXTURES / "captures/zeroing-go1.24.2/2-loaded/smaps").mappings

    told = gomem.columns(smaps[smaps["Rss"] > 0].sort_values("Rss")).set_index("column")

    assert list(smaps.columns) == list(told.index)
    assert "B" == told.loc["Rss", "unit"]
    assert all(told["means"])


def test_a_column_that_gomem_did_not_make_has_no_meaning():
    smaps = gomem.read_smaps(FIXTURES / "captures/zeroing-go1.24.2/2-loaded/smaps").mappings

    told = gomem.columns(smaps.assign(mine=1)[["mine", "Rss"]])

    assert ["", "B"] == list(told["unit"])
    assert ["", ""] == list(gomem.columns(pd.DataFrame({"a": [1], 2: [3]}))["means"])


def test_a_frame_with_its_dictionary_goes_to_parquet_and_back(tmp_path):
    status = gomem.read_status(FIXTURES / "captures/zeroing-go1.24.2/2-loaded/status").status
    status.to_parquet(tmp_path / "status.parquet")

    back = pd.read_parquet(tmp_path / "status.parquet")

    assert gomem.columns(status).equals(gomem.columns(back))
