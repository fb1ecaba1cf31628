"""The functions of an executable, by Go's own table: every form, found everywhere, and damaged."""

import gzip
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.errors import FormatError
from gomem.inputs.elf import Elf
from gomem.inputs.symbols.table import read_symbols
from tests.go_executables import (
    FUNCTIONS,
    MAGIC,
    NAMES_AT,
    TEXT,
    Machine,
    executable,
    table,
)
from tests.heap_dumps import STARTED, started

MANY, MAX_SECONDS = 30_000, 2
MACHINES = (Machine(), Machine("<", 4), Machine(">", 8), Machine(">", 4))


def named(data):
    """Names of the functions by their entries."""
    symbols = read_symbols(data).symbols
    functions = symbols[symbols["letter"] == "T"]
    return dict(zip(functions["address"].tolist(), functions["name"], strict=True))


@pytest.mark.parametrize("form", MAGIC)
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_every_form_names_its_functions_by_their_entries(form, machine):
    assert dict(FUNCTIONS) == named(executable(table(form, machine=machine), machine))


@pytest.mark.parametrize("section", [".gopclntab", ".data.rel.ro.gopclntab", None])
@pytest.mark.parametrize("form", MAGIC)
def test_the_table_is_found_by_either_name_of_its_section_or_by_how_it_begins(form, section):
    content = table(form) if section else bytes(24) + table(form)

    assert dict(FUNCTIONS) == named(executable(content, section=section))


def test_what_begins_like_a_table_and_is_none_is_passed_over():
    alike = struct.pack("<I", MAGIC["1.20"]) + bytes([0, 0, 1, 8]) + bytes(80)

    assert dict(FUNCTIONS) == named(executable(alike + table("1.20"), section=None))


@pytest.mark.parametrize("form", MAGIC)
def test_the_table_says_no_sizes_and_without_moduledata_nothing_of_wrappers(form):
    symbols = read_symbols(executable(table(form))).symbols
    symbols = symbols[symbols["letter"] == "T"]

    assert [0, 0, 0] == symbols["size"].tolist()
    assert symbols["is_wrapper"].isna().all()
    assert symbols["wraps"].isna().all()


FUNCTION, VARIABLE = 2, 1  # types of an ELF symbol


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_the_symbol_table_comes_first_and_then_what_it_lacks(machine):
    symbols = ((TEXT + 64, 80, FUNCTION, "main.work.abi0"), (0x600000, 8, VARIABLE, "main.cache"))
    read = read_symbols(executable(table("1.16", machine=machine), machine, symbols=symbols))

    assert [
        [TEXT + 64, 80, "T", "main.work.abi0"],
        [0x600000, 8, "D", "main.cache"],
        [TEXT, 0, "T", "main.main"],
        [TEXT + 160, 0, "T", "type:.eq.main.pair"],
    ] == read.symbols.iloc[:, :4].to_numpy().tolist()


def test_an_executable_without_the_table_has_its_symbols():
    symbols = ((TEXT, 80, FUNCTION, "main"), (0x600000, 8, VARIABLE, "environ"))
    read = read_symbols(executable(b"C's", section=None, symbols=symbols))

    assert ["main", "environ"] == read.symbols["name"].tolist()
    assert read.symbols["is_wrapper"].isna().all()


def test_symbols_whose_names_lie_in_one_another_are_damage():
    data = executable(table("1.20"), symbols=[(TEXT + n, 0, FUNCTION, "") for n in range(5000)])
    begin = data.rindex(bytes(5000))

    read = read_symbols(data[:begin] + b"x" * 4999 + data[begin + 4999 :])

    assert [".symtab"] == [fault.where for fault in read.damaged]
    assert {name for _, name in FUNCTIONS} <= set(read.symbols["name"])


def test_an_executable_that_go_did_not_build_is_refused():
    with pytest.raises(FormatError, match=r"without Go's list of functions \(.gopclntab\)"):
        read_symbols(executable(b"\ngc 1 @0.1s 2%: \xff Go buildinf:", section=None))


@pytest.mark.parametrize("form", MAGIC)
def test_functions_that_are_claimed_and_not_there_are_damage(form):
    read = read_symbols(executable(table(form, count=7)))

    assert dict(FUNCTIONS).items() <= named(executable(table(form, count=7))).items()
    assert [".gopclntab"] == [fault.where for fault in read.damaged]
    assert "of 7 functions have no name" in read.damaged[0].what


def overlapping(form, names_at):
    """Names of which each is a letter shorter than the one before: 450 MB in all."""
    content = bytearray(table(form, [(TEXT + 16 * n, "") for n in range(MANY)]))
    content[names_at(content) : names_at(content) + MANY - 1] = b"x" * (MANY - 1)
    return executable(bytes(content))


def test_a_name_within_another_is_none():
    read = read_symbols(overlapping("1.20", lambda _: NAMES_AT))

    assert 1 == (read.symbols["letter"] == "T").sum()
    assert f"{MANY - 1} of {MANY} functions have no name" in read.damaged[0].what


def test_names_that_lie_in_one_another_are_not_read_where_they_have_no_place_of_their_own():
    data = overlapping("1.2", lambda content: len(content) - MANY)
    started_at = time.process_time()

    with pytest.raises(FormatError, match="without a symbol table"):
        read_symbols(data)

    assert time.process_time() - started_at < MAX_SECONDS


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(MAGIC)),
    st.lists(st.tuples(st.integers(0, 0x1200), st.integers(0, 255)), max_size=12),
    st.integers(0, 0x1400),
)
def test_a_broken_executable_is_damage_or_refused(form, changes, length):
    data = bytearray(executable(table(form)))
    for place, value in changes:
        data[place % len(data)] = value

    try:
        read = read_symbols(bytes(data[: length or None]))
    except FormatError:
        return

    assert len(read.symbols) == read.symbols["name"].str.len().gt(0).sum()


@pytest.mark.parametrize("release", STARTED)
def test_a_stripped_executable_has_functions_and_no_variables(release):
    read = read_symbols(started(release, "exe"))
    symbols = read.symbols

    assert () == read.damaged
    assert {"T", "R"} == set(symbols["letter"])
    assert {"main.main", "main.work", "runtime.gcenable", "time.goFunc"} <= set(symbols["name"])
    assert symbols["address"].is_unique


@pytest.mark.parametrize("release", STARTED)
def test_each_wrapper_of_a_go_statement_says_what_it_was_made_for(release):
    symbols = read_symbols(started(release, "exe")).symbols.set_index("name")
    wrappers = symbols[symbols["is_wrapper"].fillna(False).astype(bool)]
    of_main = wrappers[wrappers.index.str.match(r"main\.(start|accept)\.(func|gowrap)")]

    called = of_main["wraps"].str.replace(r"\[.*\]", "", regex=True).tolist()
    # Before the call nobody knows what a variable or an interface will call: but Go 1.27 does, if
    # it can be only one. Up to Go 1.21, nor is it said of what the statement itself contains.
    method, literal = "main.(*conn).serve", "main.start.func1"
    unsaid = {
        "1.18.10": ["", "", ""],
        "1.24.13": ["", "", literal],
        "1.27.3": ["", method, literal],
    }
    wanted = ["main.each", "main.serve", "main.serve", "main.work", method, *unsaid[release]]
    assert sorted(wanted) == sorted(called)
    assert not symbols.loc["main.start", "is_wrapper"]
    assert "" == symbols.loc["main.start", "wraps"]


def test_a_function_value_points_at_a_word_that_holds_the_functions_entry():
    symbols = read_symbols(started("1.24.13", "exe")).symbols.set_index("name")
    data = gzip.decompress(started("1.24.13", "exe").read_bytes())
    elf = Elf.of(lambda offset, length: data[offset : offset + length])

    word = elf.memory(int(symbols.loc["main.unmap·f", "address"]), 8)

    assert symbols.loc["main.unmap", "address"] == int.from_bytes(word, "little")
