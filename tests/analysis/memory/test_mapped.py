"""Which mappings have resident memory outside Go, by group and name."""

import pandas as pd
import pytest

from gomem.analysis.memory.groups import FILES, NATIVE, PROGRAM
from gomem.analysis.memory.mapped import mapped_parts
from gomem.inputs.pprof.calls.rooted import Frame

API, LIBC = Frame("api", "/app/api"), Frame("libc.so.6", "/usr/lib/libc.so.6")


def parts(*rows: tuple, malloced=(), unnamed=()):
    """Parts of mappings of (kind, path, perms, Rss); masks are given by row."""
    frame = pd.DataFrame(rows, columns=["kind", "path", "perms", "Rss"])
    frame["Rss"] = frame["Rss"].astype("Int64")
    masks = (pd.Series([row in marked for row in frame.index]) for marked in (malloced, unnamed))
    return mapped_parts(frame, *masks)


@pytest.mark.parametrize(
    ("perms", "section"),
    [
        ("r-xp", "program text"),
        ("rwxp", "program text"),
        ("r--p", "read-only data"),
        ("rw-p", "data and bss"),
        ("---p", "read-only data"),
    ],
)
def test_a_program_is_divided_by_its_permissions(perms, section):
    assert {PROGRAM: [((API, Frame(section)), 5)]} == parts(("binary", "/app/api", perms, 5))


def test_zeroed_data_without_a_name_is_of_the_file_before_it():
    """
    Of the last file of its own kind: a library between them changes nothing.
    """
    found = parts(
        ("binary", "/app/api", "rw-p", 5),
        ("library", "/usr/lib/libc.so.6", "r-xp", 7),
        ("binary", "", "rw-p", 30),
        ("library", "", "rw-p", 200),
    )

    assert {
        PROGRAM: [
            ((API, Frame("data and bss")), 35),
            ((LIBC, Frame("program text")), 7),
            ((LIBC, Frame("data and bss")), 200),
        ]
    } == found


def test_a_program_of_which_no_file_is_known_has_its_parts_alone():
    assert {PROGRAM: [((Frame("data and bss"),), 5)]} == parts(("binary", "", "rw-p", 5))


@pytest.mark.parametrize(
    ("kind", "malloced", "name"),
    [
        ("native-heap", False, "malloc"),
        ("native-heap", True, "malloc, large blocks"),
        ("thread-stack", False, "thread stacks"),
        ("anonymous-other", False, "anonymous memory outside Go"),
        ("anonymous-other", True, "malloc, large blocks"),
    ],
)
def test_native_memory_is_named_by_what_it_is_for(kind, malloced, name):
    found = parts((kind, "", "rw-p", 5), malloced={0} if malloced else ())

    assert {NATIVE: [((Frame(name),), 5)]} == found


def test_the_kernels_names_are_no_files():
    assert {NATIVE: [((Frame("malloc"), Frame("[heap]")), 5)]} == parts(
        ("native-heap", "[heap]", "rw-p", 5)
    )
    assert {PROGRAM: [((Frame("kernel"), Frame("[vdso]")), 1)]} == parts(
        ("kernel", "[vdso]", "r-xp", 1)
    )


def test_shared_memory_has_its_file_or_is_said_to_have_none():
    found = parts(
        ("shared-memory", "/dev/shm/ring", "rw-s", 5),
        ("shared-memory", "/dev/zero (deleted)", "rw-s", 9),
        unnamed={1},
    )

    shared = Frame("shared memory")
    ring, nameless = Frame("ring", "/dev/shm/ring"), Frame("shared anonymous memory")
    assert {FILES: [((shared, ring), 5), ((shared, nameless), 9)]} == found


def test_a_mapped_file_is_its_name_alone_and_its_mappings_add_up():
    found = parts(
        ("mapped-file", "/data/a.db", "r--s", 5), ("mapped-file", "/data/a.db", "rw-s", 2)
    )

    assert {FILES: [((Frame("a.db", "/data/a.db"),), 7)]} == found


def test_a_path_that_ends_in_a_slash_is_named_whole():
    assert {FILES: [((Frame("/memfd:a/", "/memfd:a/"),), 5)]} == parts(
        ("mapped-file", "/memfd:a/", "rw-s", 5)
    )


def test_gos_own_memory_and_what_is_not_resident_is_left_out():
    found = parts(
        ("go-heap", "", "rw-p", 90),
        ("go-runtime", "", "rw-p", 9),
        ("native-heap", "", "rw-p", 0),
        ("thread-stack", "", "rw-p", pd.NA),
    )

    assert {} == found


def test_a_file_with_nothing_resident_still_names_its_zeroed_data():
    found = parts(("binary", "/app/api", "r--p", 0), ("binary", "", "rw-p", 8))

    assert {PROGRAM: [((API, Frame("data and bss")), 8)]} == found
