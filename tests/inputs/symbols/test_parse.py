"""Symbols of an executable, as `go tool nm` prints them."""

import os
import shutil
import subprocess

import pytest

from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.symbols.table import read_symbols
from tests.heap_dumps import RELEASES, path_of

TEXT = b"""\
  60b8c0          8 D main.cache
                  U _cgo_init
  401000        128 t runtime.text
  60b8c8         16 b main.a name, of two words
"""


def test_each_line_is_a_symbol_and_what_is_undefined_has_no_address():
    symbols = read_symbols(TEXT).symbols

    assert [
        [0x60B8C0, 8, "D", "main.cache"],
        [0x401000, 128, "t", "runtime.text"],
        [0x60B8C8, 16, "b", "main.a name, of two words"],
    ] == symbols.iloc[:, :4].to_numpy().tolist()
    assert symbols[["is_wrapper", "wraps"]].isna().all(axis=None)
    assert kind_of(TEXT) is BY_NAME["symbols"]


def test_without_sizes_none_is_known():
    assert [0] == read_symbols(b"  60b8c0 D main.cache\n").symbols["size"].tolist()


def test_a_line_that_is_none_is_damage_with_its_place():
    read = read_symbols(TEXT + b"what is this\n" + b"  40 8 D main.x\n")

    assert ["line 5"] == [fault.where for fault in read.damaged]
    assert 4 == len(read.symbols)


@pytest.mark.parametrize("release", RELEASES)
def test_the_programs_variables_are_among_the_recorded_symbols(release):
    symbols = read_symbols(path_of(release, "nm.txt")).symbols.set_index("name")

    assert 8 == symbols.loc["main.cache", "size"]
    assert 24 == symbols.loc["main.magic", "size"]
    assert symbols.loc["runtime.data", "address"] <= symbols.loc["main.cache", "address"]


@pytest.mark.go
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
@pytest.mark.parametrize(("flags", "least"), [("", 1.0), ("-s -w", 0.9)])
def test_functions_of_a_big_endian_executable_are_those_that_go_prints(flags, least, tmp_path):
    """
    A stripped one has them in the table of the program's lines, without those in assembly.
    """
    (tmp_path / "go.mod").write_text("module big\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text('package main\n\nfunc main() { println("big") }\n')
    settings = {**os.environ, "GOARCH": "s390x", "CGO_ENABLED": "0"}
    for name, said in (("whole", ""), ("asked", flags)):
        build = ["go", "build", f"-ldflags={said}", "-o", name, "."]
        subprocess.run(build, cwd=tmp_path, env=settings, check=True)
    printed = subprocess.run(
        ["go", "tool", "nm", tmp_path / "whole"], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 2) for line in printed.stdout.splitlines())
    wanted = {(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "Tt"}

    symbols = read_symbols(tmp_path / "asked").symbols

    found = wanted & set(zip(symbols["address"], symbols["name"], strict=True))
    assert len(wanted) > 1000
    assert len(found) >= least * len(wanted)
