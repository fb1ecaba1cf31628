"""A pprof profile as pandas frames: its contents, and the results of the engine in `calls`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.calls.names import package_of
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.inputs.pprof.columns import BASE_UNITS, object_sizes, offsets_of
from gomem.inputs.schema import Column, build
from gomem.numbered import Digest, Label
from gomem.text import File, Function, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from gomem.inputs.pprof.calls.graph import Edges, Frames
    from gomem.inputs.pprof.columns import PprofColumns, ValueType

# The columns of `samples` that every profile has, after a column for each sample type.
SAMPLES = (
    Column("frames", "int64", "count", "Frames of the stack, inlined calls among them."),
    Column("object_bytes", "Int64", "B", "The label `bytes`: in Go's heap profiles, object size."),
)
STACKS = (
    Column("sample", "int32", "", "Row of the sample."),
    Column(
        "depth",
        "int32",
        "count",
        "Frames above it on the stack; 0 is the frame that allocated or ran.",
    ),
    Column("function", "category", "", "Function, as pprof prints it.", Function),
    Column("file", "category", "", "Its source file.", File),
    Column("line", "Int64", "", "Line of the file."),
    Column("inlined", "bool", "", "Inlined into the frame after it."),
)
FUNCTIONS = (
    Column("name", "str", "", "Function, as pprof prints it.", Function),
    Column("system_name", "str", "", "Its name in the binary.", Function),
    Column("package", "str", "", "Import path of its package.", Function),
    Column("file", "str", "", "Source file.", File),
    Column("start_line", "Int64", "", "Line where it begins; in Go's profiles since 1.20."),
)
MAPPINGS = (
    Column("start", "uint64", "address", "First address."),
    Column("limit", "uint64", "address", "One past the last address."),
    Column("offset", "uint64", "B", "Where in the file the mapping begins."),
    Column("file", "str", "", "The mapped file.", File),
    Column("build_id", "str", "", "Its build ID.", Digest),
    Column("has_functions", "bool", "", "Whether its functions are known."),
)
LABELS = (
    Column("sample", "int32", "", "Row of the sample."),
    Column("key", "str", "", "The label's name.", Label),
    Column("text", "str", "", "Its value, if that is text.", Label),
    Column("number", "Int64", "", "Its value, if that is a number."),
    Column("unit", "str", "", "The number's unit, as the profile declares it.", Label),
)
EDGES = (
    Column("caller", "str", "", "The frame that calls, as pprof prints it.", Function),
    Column("callee", "str", "", "The frame that is called.", Function),
    Column("weight", "int64", "", "Sum over samples with the call in their stack, each once."),
    Column("inlined", "bool", "", "Inlined into the caller wherever it is counted."),
)
TREE = (
    Column("function", "str", "", "The frame that the row is about, as pprof prints it.", Function),
    Column("relation", "str", "", "What `other` is to it: caller, self or callee.", Words),
    Column(
        "other", "str", "", "A frame that calls it, or is called by it, or it itself.", Function
    ),
    Column("flat", "Int64", "", "Sum over samples with it as innermost frame; in its own rows."),
    Column("cum", "int64", "", "Sum over samples with it, or the call, in their stack."),
    Column("cum_fraction", "float64", "fraction", "Cum by the total; of a call, by its own cum."),
    Column("inlined", "bool", "", "The call is inlined wherever it is counted."),
)
TRACES = (
    Column("sample", "int32", "", "Row of the sample."),
    Column("value", "int64", "", "The sample's value."),
    Column(
        "depth",
        "int64",
        "count",
        "Frames above it on the stack; 0 is the frame that allocated or ran.",
    ),
    Column("function", "str", "", "The frame, as pprof prints it.", Function),
    Column("inlined", "bool", "", "Inlined into the frame after it."),
)
TAGS = (
    Column("key", "str", "", "The label's name.", Label),
    Column("text", "str", "", "Its value, if that is text.", Label),
    Column("number", "Int64", "", "Its value, if that is a number."),
    Column("unit", "str", "", "The number's unit.", Label),
    Column("value", "int64", "", "What the samples with it add up to."),
    Column("fraction", "float64", "fraction", "That by the profile's total."),
)


def samples_table(columns: PprofColumns) -> pd.DataFrame:
    """A row per sample: a column for each sample type, then those of `SAMPLES`."""
    names = value_names(columns.sample_types)
    table: dict[str, Any] = dict(zip(names, columns.value.T, strict=True))
    # A location without lines is one frame.
    per_location = np.maximum(np.diff(columns.locations.line_offsets), 1)
    table["frames"] = np.diff(offsets_of(per_location[columns.stack])[columns.stack_offsets])
    sizes, known = object_sizes(columns)
    table["object_bytes"] = np.ma.masked_array(sizes, ~known)
    schema = [
        Column(name, "int64", BASE_UNITS.get(kind.unit, ""), f"{kind.type}, in {kind.unit}.")
        for name, kind in zip(names, columns.sample_types, strict=True)
    ]
    return build(table, (*schema, *SAMPLES))


def stacks_table(columns: PprofColumns) -> pd.DataFrame:
    """A row per frame of each sample, innermost first; see `STACKS`."""
    locations, stack = columns.locations, columns.stack
    lines = np.diff(locations.line_offsets)
    per_entry = np.maximum(lines, 1)[stack]
    entry = np.repeat(np.arange(len(stack)), per_entry)
    ends = np.cumsum(per_entry)
    inner = np.arange(len(entry)) - np.repeat(ends - per_entry, per_entry)
    location = stack[entry]
    line = np.where(lines[location] > 0, locations.line_offsets[location] + inner, -1)
    before = np.concatenate(([0], ends))[columns.stack_offsets]
    frames = np.diff(before)
    function = np.append(locations.line_function, -1)[line]
    number = np.append(locations.line_number, 0)[line]
    table = {
        "sample": np.repeat(np.arange(len(frames)), frames).astype(np.int32),
        "depth": (np.arange(len(entry)) - np.repeat(before[:-1], frames)).astype(np.int32),
        "function": _categories(function_names(columns), function),
        "file": _categories(function_files(columns), function),
        "line": np.ma.masked_equal(number, 0),
        "inlined": inner < per_entry[entry] - 1,
    }
    return build(table, STACKS)


def functions_table(columns: PprofColumns) -> pd.DataFrame:
    """A row per function; see `FUNCTIONS`."""
    functions, names = columns.functions, function_names(columns)
    table = {
        "name": names,
        "system_name": _texts(columns, functions.system_name),
        "package": [package_of(name) for name in names],
        "file": function_files(columns),
        "start_line": np.ma.masked_equal(functions.start_line, 0),
    }
    return build(table, FUNCTIONS)


def mappings_table(columns: PprofColumns) -> pd.DataFrame:
    """A row per mapped file; see `MAPPINGS`."""
    table = {column.name: getattr(columns.mappings, column.name) for column in MAPPINGS}
    texts = {name: _texts(columns, table[name]) for name in ("file", "build_id")}
    return build(table | texts, MAPPINGS)


def labels_table(columns: PprofColumns) -> pd.DataFrame:
    """A row per label of a sample; see `LABELS`."""
    labels = columns.labels
    strings = np.array(columns.strings, dtype=object)
    table = {
        "sample": labels.sample,
        "key": strings[labels.key],
        "text": _chosen(strings, labels.text),
        "number": np.ma.masked_array(labels.number, labels.text != 0),
        "unit": _chosen(strings, labels.unit),
    }
    return build(table, LABELS)


def edges_table(edges: Edges, names: list[str]) -> pd.DataFrame:
    """Return the calls between nodes, largest first; see `EDGES`. `names` has the nodes' names."""
    largest_first = np.argsort(-np.abs(edges.weight), kind="stable")
    table: dict[str, Any] = {name: column[largest_first] for name, column in vars(edges).items()}
    for name in ("caller", "callee"):
        table[name] = [names[node] for node in table[name].tolist()]
    return build(table, EDGES)


def traces_table(frames: Frames, names: list[str], weights: NDArray[np.int64]) -> pd.DataFrame:
    """Return frames with their sample's weight; see `TRACES`. `names` has the nodes' names."""
    first = np.ones(len(frames.sample), np.bool_)
    first[1:] = frames.sample[1:] != frames.sample[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    table = {
        "sample": frames.sample.astype(np.int32),
        "value": weights[frames.sample],
        "depth": np.arange(len(first)) - start,
        "function": [names[node] for node in frames.node.tolist()],
        "inlined": frames.inlined,
    }
    return build(table, TRACES)


def value_names(sample_types: Sequence[ValueType]) -> list[str]:
    """Return column names for the sample types; duplicates get the unit as a suffix."""
    types = [kind.type for kind in sample_types]
    reserved = {column.name for column in SAMPLES}
    return [
        f"{kind.type}_{kind.unit}"
        if types.count(kind.type) > 1 or kind.type in reserved
        else kind.type
        for kind in sample_types
    ]


def _texts(columns: PprofColumns, indices: NDArray[np.int32]) -> list[str]:
    return [columns.strings[index] for index in indices.tolist()]


def _chosen(strings: NDArray[Any], index: NDArray[np.int32]) -> NDArray[Any]:
    """Return strings by index; None for index 0, which means that the profile has none."""
    texts = strings[index]
    texts[index == 0] = None
    return texts


def _categories(texts: list[str], row: NDArray[np.int32]) -> pd.Categorical:
    """Return a text of each row's function; missing if the function is unknown."""
    import pandas as pd

    distinct = list(dict.fromkeys(text for text in texts if text))
    code_of = {text: code for code, text in enumerate(distinct)}
    codes = np.array([*(code_of.get(text, -1) for text in texts), -1], np.int32)
    return pd.Categorical.from_codes(codes[row], pd.Index(distinct, dtype="str"))
