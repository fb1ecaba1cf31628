"""Describes the columns of a table: name, dtype, unit, meaning. The data dictionary is code."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.numbered import KINDS
from gomem.text import File, Quoted, Text, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from gomem.errors import Damage

_NUMBER_UNITS = ("count", "fraction", "address", "Hz", "ratio")
UNITS = frozenset({"", "B", "B/s", "s", "ns", "pages", *_NUMBER_UNITS})
_PLAIN = frozenset({"bool", "float64", "int64"})  # NumPy dtypes for which a plain array is enough


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str  # Go's, the kernel's or pprof's own name, else gomem's, which ends in the unit
    dtype: str  # the pandas dtype: `Int64` and `boolean` if values can be missing
    unit: str  # one of `UNITS`; empty for names, times and flags
    means: str  # one sentence, with the resolution if it is coarser than the unit
    # For text columns: whose words they are (gomem's, Go's, the kernel's), which decides what
    # redacted output shows. `Text` is a sentence with parts.
    holds: type[Text] | None = None


# Dtype and unit of common columns.
SECONDS, FRACTION, TEXT = ("float64", "s"), ("float64", "fraction"), ("str", "")


class Dictionary(dict[str, dict[str, str]]):
    """A frame's `attrs["columns"]`: by column its unit, its meaning, and the type of text.

    pandas copies `attrs` with each operation; this object is shared instead, and never changes.
    """

    def __deepcopy__(self, memo: object) -> Dictionary:
        return self


@lru_cache(maxsize=256)
def dictionary_of(schema: tuple[Column, ...]) -> Dictionary:
    """Return the data dictionary of a schema."""
    return Dictionary({column.name: _entry(column) for column in schema})


def _entry(column: Column) -> dict[str, str]:
    told = {"unit": column.unit, "means": column.means}
    return told if column.holds is None else told | {"holds": column.holds.__name__}


def maker_of(entry: Mapping[str, str] | None) -> Callable[[Any], Any]:
    """Return the function that gives a value its type of text, by its dictionary entry."""
    return _maker(KINDS[(entry or {}).get("holds", Words.__name__)])


def made_by(column: Column) -> Callable[[Any], Any]:
    """Return the function that gives a value its type of text, by its column."""
    return _maker(column.holds or Words)


def as_it_is(value: Any) -> Any:
    """Return the value unchanged: plain words or a number."""
    return value


@cache
def _maker(kind: type[Text]) -> Callable[[Any], Any]:
    """A sentence that has become a plain string counts as a quotation."""
    if kind is Words:
        return as_it_is
    make = Quoted if kind is Text else kind
    return lambda value: make(value) if type(value) is str else value


COLUMNS = (
    Column("column", "str", "", "Its name.", Words),
    Column("dtype", "str", "", "Its pandas dtype.", Words),
    Column("unit", "str", "", "Its unit; empty for names, times and flags, or if unknown.", Words),
    Column("means", "str", "", "Its meaning; empty for a column that gomem did not make.", Words),
)


def columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the data dictionary of a frame: `column`, `dtype`, `unit`, `means`, in frame order.

    A frame of gomem keeps its dictionary in pandas operations, because these keep `attrs`.
    """
    told, nothing = frame.attrs.get("columns", {}), {"unit": "", "means": ""}
    said = ((name, dtype, told.get(name, nothing)) for name, dtype in frame.dtypes.items())
    rows = ((str(name), str(dtype), entry["unit"], entry["means"]) for name, dtype, entry in said)
    return build_rows(rows, COLUMNS)


def build(
    columns: Mapping[str, Any], schema: Iterable[Column], *, copy: bool = True
) -> pd.DataFrame:
    """Build a typed frame from columns; a column missing in the artefact is all `<NA>`.

    Columns have equal length: NumPy arrays, masked if values can be missing, or lists. Without
    `copy` the frame shares arrays that fit. Raises ValueError for a column that is not in the
    schema.
    """
    import pandas as pd  # takes half a second, and code that only names columns does not need it

    schema = tuple(schema)
    unknown = set(columns) - {column.name for column in schema}
    if unknown:
        raise ValueError(f"columns without a place in the schema: {sorted(unknown)}")
    rows = max((len(values) for values in columns.values()), default=0)
    if not rows:
        return _of_no_rows(schema).copy(deep=False)
    series = {
        column.name: _series(_said(columns.get(column.name), column), column.dtype, rows, copy=copy)
        for column in schema
    }
    frame = pd.DataFrame(series, index=pd.RangeIndex(rows), copy=False)
    frame.attrs["columns"] = dictionary_of(schema)
    return frame


@lru_cache(maxsize=256)
def _of_no_rows(schema: tuple[Column, ...]) -> pd.DataFrame:
    """Return an empty frame: most artefacts lack most tables, and a copy costs a tenth."""
    import pandas as pd

    series = {column.name: _missing(column.dtype, 0) for column in schema}
    frame = pd.DataFrame(series, index=pd.RangeIndex(0), copy=False)
    frame.attrs["columns"] = dictionary_of(schema)
    return frame


def build_rows(rows: Iterable[Sequence[Any]], schema: Iterable[Column]) -> pd.DataFrame:
    """Build a typed frame from rows in schema order, with None for missing values."""
    rows, schema = list(rows), tuple(schema)
    columns = {column.name: [row[place] for row in rows] for place, column in enumerate(schema)}
    return build(columns, schema)


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame's rows as plain values by column, with None for missing values.

    Names get their column's text type (`Column.holds`), so that sentences built from them keep them
    as parts.
    """
    # The same as `to_dict("records")`, in a third of its time for small frames.
    import pandas as pd

    def plain(value: Any) -> Any:
        if value is pd.NA:
            return None
        return value.item() if isinstance(value, np.generic) else value

    names = list(frame.columns)
    found = [
        dict(zip(names, map(plain, row), strict=True))
        for row in frame.to_numpy(dtype=object).tolist()
    ]
    told = frame.attrs.get("columns", {})
    for name in names:
        if (make := maker_of(told.get(name))) is not as_it_is:
            for row in found:
                row[name] = make(row[name])
    return found


def empty(schema: Iterable[Column]) -> pd.DataFrame:
    """Return an empty frame with the schema's columns and types."""
    return build({}, schema)


DAMAGE = (
    Column("source", "str", "", "The artefact: as a rule its path inside the capture.", File),
    Column(
        "where", "str", "", "The place in it, such as a line or a byte; empty for the whole.", Words
    ),
    Column("what", "object", "", "What was found, what was wanted, and the way out.", Text),
    Column("text", "str", "", "The offending text, shortened.", Quoted),
)


def damage_table(damage: Iterable[Damage]) -> pd.DataFrame:
    """Convert damage to rows, in the order of its discovery."""
    return build_rows(
        ((place.source, place.where, place.what, place.text) for place in damage), DAMAGE
    )


class WithDamage:
    """Base of reader results: frames as attributes, and the damage."""

    damaged: tuple[Damage, ...]

    @property
    def damage(self) -> pd.DataFrame:
        """What could not be read: source, where, what, text."""
        return damage_table(self.damaged)


@dataclass(frozen=True)
class Frames(WithDamage):
    """The frames of one artefact, the most informative first; `damaged` is what was unreadable."""

    damaged: tuple[Damage, ...] = field(default=(), kw_only=True)

    def _repr_html_(self) -> str:
        """Return the first frame as HTML; a single row is transposed."""
        frame = getattr(self, fields(self)[1].name)
        if len(frame) == 1:
            return frame.T.to_html(escape=True, header=False)
        return frame.to_html(escape=True, index=False, max_rows=20)


def _said(values: Any, column: Column) -> Any:
    """Return a column's values; plain strings in a column of sentences become `Text`."""
    if column.holds is not Text or values is None:
        return values
    return [Text(value) if isinstance(value, str) else value for value in values]


def _series(values: Any, dtype: str, rows: int, *, copy: bool) -> Any:
    """Return a column for a frame: an array if that is enough, as a series is slow to create."""
    import pandas as pd

    if values is None:
        return _missing(dtype, rows)
    if type(values) is np.ndarray and values.dtype.kind in "iufb" and values.dtype.name == dtype:
        return values.copy() if copy else values
    if type(values) is list and (array := _of_list(values, dtype)) is not None:
        return array
    if isinstance(values, np.ma.MaskedArray):
        if dtype == "Int64" and values.dtype == np.int64:
            return pd.arrays.IntegerArray(values.data, np.ma.getmaskarray(values), copy=copy)
        series = pd.Series(values.data, copy=copy).astype(dtype)
        mask = np.ma.getmaskarray(values)
        return series.mask(mask) if mask.any() else series
    return pd.Series(values, dtype=dtype, copy=None if copy else False)


def _of_list(values: list[Any], dtype: str) -> Any:
    """Return the array of a list; None if pandas must infer or convert values."""
    import pandas as pd

    if dtype in _PLAIN:
        array = np.array(values)
        return array if array.dtype.name == dtype else None
    if dtype == "str":
        return texts(values)
    if dtype == "Int64":
        missing = np.array([value is None for value in values], dtype=bool)
        whole = np.array([value or 0 for value in values] if missing.any() else values)
        if whole.dtype == np.int64:
            return pd.arrays.IntegerArray(whole, missing)
        return pd.array(values, dtype=dtype)
    return None


def texts(values: list[Any]) -> Any:
    """Return pandas' `str` array via Arrow, because pandas itself checks each value."""
    import pandas as pd
    import pyarrow as pa

    text = pd.StringDtype(storage="pyarrow", na_value=np.nan)
    try:
        arrow = pa.array(values, pa.large_string(), from_pandas=True)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return pd.array(values, dtype=text)  # some are not text
    return pd.arrays.ArrowStringArray(arrow, dtype=text)


def _missing(dtype: str, rows: int) -> Any:
    """Return an all-missing column; raises ValueError if its dtype has no missing value."""
    import pandas as pd

    if rows and not _can_be_missing(dtype):
        raise ValueError(f"a column of dtype {dtype} cannot be missing")
    if dtype == "Int64":
        return pd.arrays.IntegerArray(np.ones(rows, dtype=np.int64), np.ones(rows, dtype=bool))
    if dtype in _PLAIN:
        return np.full(rows, np.nan if rows else 0, dtype=dtype)
    if dtype == "str":
        return _of_list([None] * rows, dtype)
    if not rows:
        return pd.Series([], dtype=dtype)
    nothing = [None] * rows if dtype == "object" else None  # a list is slow, so only if needed
    return pd.Series(nothing, index=pd.RangeIndex(rows), dtype=dtype)


def _can_be_missing(dtype: str) -> bool:
    is_known = dtype in {"boolean", "str", "float64", "object"}
    return is_known or dtype[0].isupper() or dtype.startswith("datetime64")
