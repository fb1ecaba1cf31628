"""Who holds the heap, by profiles of references as cloudwego/goref writes them."""

import shutil

import pytest

import gomem
from gomem.analysis.profiles.references import roots
from gomem.inputs.pprof.read import read_pprof
from gomem.views.document import Table
from gomem.views.report.keepers import keepers_section
from tests.builders import as_html, as_text
from tests.heap_dumps import path_of
from tests.pprof_messages import field, message, packed, strings

MIB = 1 << 20
TEXTS = ("", "inuse_objects", "count", "inuse_space", "bytes")
NAMES = (
    "main.cache (map[string]*main.entry)", "$mapval. (*main.entry)", "buf. ([]uint8)",
    "main.main.local (*main.small)",
)  # fmt: skip
TYPES = message(1, field(1, 1), field(2, 2)) + message(1, field(1, 3), field(2, 4))


def goref(*stacks, names=NAMES, file=0, extra=b""):
    """
    Samples of names from the innermost to the root, each of one function without file or line.

    After pkg/proc/protobuf.go of goref: a location's id and its function's are the string's.
    """
    places = {name: place for place, name in enumerate((*TEXTS, *names))}
    parts = [TYPES]
    for stack, size in stacks:
        values, ids = packed(2, 1, size), packed(1, *(places[name] for name in stack))
        parts.append(message(2, values, ids))
    for name in names:
        place = places[name]
        parts.append(message(4, field(1, place), message(4, field(1, place))))
        parts.append(
            message(5, field(1, place), field(2, place), *([field(4, file)] if file else []))
        )
    mapping = message(3, field(1, 1), field(3, 255), field(5, len(TEXTS) + len(names)))
    return b"".join([*parts, mapping, strings(*TEXTS, *names, "-"), extra])


CACHE, VALUE, BUFFER, LOCAL = NAMES
STACKS = (((BUFFER, VALUE, CACHE), 300 * MIB), ((VALUE, CACHE), 4 * MIB), ((LOCAL,), 8 * MIB))


def test_goref_writes_references_and_no_heap_profile():
    found = read_pprof(goref(*STACKS))

    assert "references" == found.kind
    assert 312 * MIB == found.total("inuse_space")
    assert found.top("inuse_space")["flat_low"].isna().all()


@pytest.mark.parametrize(
    "data",
    [
        goref(*STACKS, file=1),
        goref(*STACKS, extra=field(9, 1_700_000_000)),
        goref(*STACKS, extra=field(12, 524288)),
        goref(((("main.f"),), MIB), names=("main.f",)),
        goref((("main.Map[int (x)]",), MIB), names=("main.Map[int (x)]",)),
    ],
    ids=["file", "time", "period", "function", "generic"],
)
def test_a_heap_profile_of_two_types_stays_one(data):
    assert "heap" == read_pprof(data).kind


def test_roots_hold_and_what_hangs_below_them():
    first, second = roots(read_pprof(goref(*STACKS)))

    assert (CACHE, 304 * MIB, (VALUE, BUFFER)) == (first.name, first.held_bytes, first.through)
    assert (LOCAL, 8 * MIB, ()) == (second.name, second.held_bytes, second.through)


def test_a_report_says_who_holds_and_not_who_allocated(tmp_path):
    path = tmp_path / "capture" / "grf.out"
    path.parent.mkdir()
    path.write_bytes(goref(*STACKS))

    diagnosis = gomem.diagnose(gomem.load(path.parent))

    said = diagnosis.verdict.sentence
    assert CACHE in said
    assert "held by" in said
    assert [312 * MIB] == [part.value for part in said.parts if type(part).__name__ == "Bytes"]
    shown = as_text(diagnosis)
    assert "allocated by" not in shown
    assert "GCs old" not in shown
    assert "Allocation sites" not in shown


def test_the_section_of_keepers_has_its_roots_under_its_own_name(tmp_path):
    path = tmp_path / "capture" / "grf.out"
    path.parent.mkdir()
    path.write_bytes(goref(*STACKS))
    diagnosis = gomem.diagnose(gomem.load(path.parent))

    section = keepers_section(diagnosis)

    assert f"{CACHE} holds 304 MiB of 312 MiB (97 %), by goref." == section.gist
    (rows,) = (block for block in section.blocks if isinstance(block, Table))
    assert "Memory held by each root, according to goref: 312 MiB total" == rows.caption
    assert [CACHE, LOCAL] == [row[0].text for row in rows.rows]
    assert f"{VALUE} → {BUFFER}" == rows.rows[0][-1].text
    assert 'aria-labelledby="held-title held-desc"' in as_html(diagnosis)


def test_beside_a_heap_dump_both_are_told(tmp_path):
    """
    The dump's keepers come first, and answer in the head.
    """
    shutil.copy(path_of("1.24.13"), tmp_path / "heap.dump.gz")
    (tmp_path / "grf.out").write_bytes(goref(*STACKS))
    section = keepers_section(gomem.diagnose(gomem.load(tmp_path)))

    captions = [block.caption for block in section.blocks if isinstance(block, Table)]
    assert "Memory that would become garbage without each keeper" == captions[0]
    assert "according to goref" in captions[-1]
    assert "goref" not in section.gist
