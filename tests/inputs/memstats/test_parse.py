"""MemStats JSON in its usual shapes, and JSON that only looks like it."""

import json

import numpy as np
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.memstats.parse import parse_memstats
from gomem.inputs.memstats.table import read_memstats
from tests.builders import FIXTURES, MOMENTS, memstats_json, moment_id

MALFORMED = FIXTURES / "malformed" / "memstats"
DUMP = json.loads(memstats_json(HeapAlloc=11, Sys=22))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(DUMP), id="one object"),
        pytest.param(json.dumps(DUMP, indent=2), id="one object over many lines"),
        pytest.param(json.dumps([DUMP]), id="an array"),
        pytest.param(json.dumps({"cmdline": ["/app"], "memstats": DUMP}), id="expvar"),
    ],
)
def test_a_dump_is_found_in_every_usual_shape(text):
    dumps, damage = parse_memstats(text.encode(), source="memstats.json")

    assert [] == damage
    assert [11] == list(dumps.counters["HeapAlloc"])
    assert [22] == list(dumps.counters["Sys"])


def test_json_lines_are_a_dump_a_line_with_its_place():
    text = "\n".join(json.dumps({**DUMP, "NumGC": number}) for number in (1, 2, 3))

    dumps, _ = parse_memstats(text.encode(), source="m")

    assert [1, 2, 3] == list(dumps.counters["NumGC"])
    assert ["line 1", "line 2", "line 3"] == dumps.place


def test_a_field_that_a_dump_lacks_is_unknown():
    """
    Go before 1.8 has no NumForcedGC: that is not 0 forced collections.
    """
    dumps, _ = parse_memstats(memstats_json(), source="m")

    assert [True] == list(np.ma.getmaskarray(dumps.counters["NumForcedGC"]))


@pytest.mark.parametrize("goal", [2**64 - 1, 2**63 - 1, 8946670875745458431, 184467440737053573])
def test_no_goal_is_unknown_and_not_a_size(goal):
    """
    With GOGC=off every release prints another absurd NextGC; the last is of Go 1.5.
    """
    dumps, damage = parse_memstats(memstats_json(NextGC=goal), source="m")

    if goal >= 2**60:
        assert [True] == list(np.ma.getmaskarray(dumps.counters["NextGC"]))
    assert [] == damage


def test_the_pause_ring_is_unrolled_oldest_first():
    lengths, ends = [0] * 256, [0] * 256
    for number in range(200, 301):
        lengths[(number + 255) % 256], ends[(number + 255) % 256] = number, number * 10
    text = memstats_json(NumGC=300)
    dump = {**json.loads(text), "PauseNs": lengths, "PauseEnd": ends}

    dumps, _ = parse_memstats(json.dumps(dump).encode(), source="m")

    assert [0, 300, 3000, 300] == list(dumps.pauses[-1])
    assert [0, 299, 2990, 299] == list(dumps.pauses[-2])
    assert 256 == len(dumps.pauses)


def test_json_without_memstats_names_the_keys_it_found():
    with pytest.raises(FormatError, match="found the keys status, uptime; wanted HeapAlloc"):
        parse_memstats((MALFORMED / "other-json.json").read_bytes(), source="other.json")


def test_cut_json_is_an_error_with_its_place():
    with pytest.raises(FormatError, match=r"cut\.json: line 1: cannot be read as JSON"):
        parse_memstats((MALFORMED / "cut-short.json").read_bytes(), source="cut.json")


def test_one_bad_line_does_not_take_the_others():
    text = memstats_json(NumGC=1) + b'\n{"HeapAlloc": 1\n' + memstats_json(NumGC=3)

    dumps, damage = parse_memstats(text, source="m.jsonl")

    assert [1, 3] == list(dumps.counters["NumGC"])
    assert ["m.jsonl: line 2"] == [one.place for one in damage]


def test_text_where_a_count_should_be_is_damage_and_unknown():
    dumps, damage = parse_memstats(
        (MALFORMED / "text-for-a-count.json").read_bytes(), source="m.json"
    )

    assert [True] == list(np.ma.getmaskarray(dumps.counters["HeapAlloc"]))
    assert ["m.json: HeapAlloc is not a count: \"'big'\""] == [str(one) for one in damage]


@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_the_runtimes_identities_hold_in_every_fixture(moment):
    dumps, damage = parse_memstats((moment / "memstats.json").read_bytes(), source="m")
    field = {name: int(values[0]) for name, values in dumps.counters.items()}
    systems = ("HeapSys", "StackSys", "MSpanSys", "MCacheSys", "BuckHashSys", "GCSys", "OtherSys")

    assert [] == damage
    assert field["Sys"] == sum(field[name] for name in systems)
    assert field["HeapSys"] == field["HeapInuse"] + field["HeapIdle"]
    assert field["HeapIdle"] >= field["HeapReleased"]
    assert field["HeapObjects"] == field["Mallocs"] - field["Frees"]
    if field["NumGC"]:
        assert field["LastGC"] == int(dumps.pauses[-1][2])
        assert field["NumGC"] == int(dumps.pauses[-1][1])
    if field["NumGC"] <= 256:
        assert field["PauseTotalNs"] == int(dumps.pauses[:, 3].sum())


NO_MACHINE = 2**60  # bytes


@pytest.mark.parametrize(
    ("name", "value", "kept", "damaged"),
    [
        ("HeapAlloc", NO_MACHINE - 1, True, False),
        ("HeapAlloc", NO_MACHINE, False, True),
        ("NextGC", NO_MACHINE - 1, True, False),
        ("NextGC", NO_MACHINE, False, False),
        ("LastGC", NO_MACHINE, True, False),
        ("LastGC", 2**63 - 1, True, False),
        ("LastGC", 2**63, False, False),
        ("NumGC", 0, True, False),
        ("NumGC", -1, False, True),
        ("NumGC", 7.0, True, False),
        ("NumGC", 7.5, False, True),
        ("NumGC", True, False, True),
    ],
)
def test_what_can_be_a_count(name, value, kept, damaged):
    """
    No machine has an exbibyte; nanoseconds since 1970 are more, and a goal of more is none.
    """
    dumps, damage = parse_memstats(json.dumps({**DUMP, name: value}).encode(), source="m")

    unknown = np.ma.getmaskarray(dumps.counters[name])
    assert kept == (not unknown[0])
    assert damaged == bool(damage)
    if kept:
        assert int(value) == int(dumps.counters[name][0])


def ring(number, **about):
    """A dump after so many collections, whose ring holds each one's number."""
    held = [0] * 256
    for gc in range(max(1, number - 255), number + 1):
        held[(gc + 255) % 256] = gc
    return {**DUMP, "NumGC": number, "PauseNs": held, "PauseEnd": [10 * gc for gc in held]} | about


def pauses(dump):
    return parse_memstats(json.dumps(dump).encode(), source="m")[0].pauses.tolist()


@pytest.mark.parametrize(("number", "oldest"), [(1, 1), (255, 1), (256, 1), (257, 2), (600, 345)])
def test_the_ring_holds_the_last_256(number, oldest):
    found = pauses(ring(number))

    assert [[0, gc, 10 * gc, gc] for gc in range(oldest, number + 1)] == found


@pytest.mark.parametrize(
    "about",
    [
        {"NumGC": 0},
        {"NumGC": None},
        {"NumGC": "7"},
        {"PauseNs": [0] * 255},
        {"PauseEnd": [0] * 257},
        {"PauseNs": [-1] + [0] * 255},
        {"PauseEnd": [2**63] + [0] * 255},
        {"PauseNs": None},
    ],
    ids=str,
)
def test_a_ring_that_cannot_be_has_no_pauses(about):
    assert [] == pauses({**ring(7), **about})


def test_size_classes_that_cannot_be_are_left_out():
    """
    Each dump's are told apart by its number.
    """
    whole = {"Size": 8, "Mallocs": 5, "Frees": 0}
    classes = [whole, {**whole, "Size": -1}, {**whole, "Mallocs": "5"}, {**whole, "Frees": None}, 7]
    dumps = [DUMP | {"BySize": BySize} for BySize in (classes, None, [whole])]

    found = parse_memstats(json.dumps(dumps).encode(), source="m")[0]

    assert [[0, 8, 5, 0], [2, 8, 5, 0]] == found.size_classes.tolist()


def test_what_is_no_dump_beside_dumps_is_damage_with_its_place():
    text = json.dumps(DUMP) + '\n{"port": 80}\n' + json.dumps(DUMP)

    dumps, damage = parse_memstats(text.encode(), source="m")

    assert ["line 1", "line 3"] == dumps.place
    assert ["line 2"] == [one.where for one in damage]
    assert damage[0].what.startswith("not a MemStats dump: ")


@pytest.mark.parametrize(
    ("fraction", "known"), [(0.5, True), (0, True), (True, False), ("0.5", False), (None, False)]
)
def test_a_fraction_is_a_number(fraction, known):
    dumps, _ = parse_memstats(json.dumps({**DUMP, "GCCPUFraction": fraction}).encode(), source="m")

    assert known == (not np.isnan(dumps.gc_cpu_fraction[0]))


def test_a_time_of_nothing_is_unknown():
    """
    A slot whose end is 0, beside one of a nanosecond after 1970 began; and no last collection.
    """
    dump = ring(2, LastGC=0)
    dump["PauseEnd"][1], dump["PauseEnd"][0] = 0, 1

    read = read_memstats(json.dumps(dump).encode())

    assert [False, True] == list(read.pauses["end"].isna())
    assert 1 == read.pauses["end"].iloc[0].value
    assert [1e-9, 2e-9] == pytest.approx(list(read.pauses["pause_seconds"]))
    assert read.stats["LastGC"].isna().all()
    last = read_memstats(json.dumps({**dump, "LastGC": 7}).encode()).stats["LastGC"]
    assert 7 == last.iloc[0].value


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("GCSys", "Sys is "),
        ("HeapIdle", "HeapSys is "),
        ("Frees", "HeapObjects is "),
        ("Alloc", "HeapAlloc is "),
    ],
)
def test_a_dump_that_does_not_add_up_is_damage(field, said):
    """
    The world stands still while the runtime counts: one byte off, and a number is wrong.
    """
    dump = json.loads((FIXTURES / "doors/go1.24.2/memstats.json").read_bytes())
    whole = json.dumps(dump).encode()
    dump[field] += 1

    _, damage = parse_memstats(json.dumps(dump).encode(), source="m")

    assert [] == parse_memstats(whole, source="m")[1]
    assert [True] == [one.what.startswith(said) for one in damage]


def test_a_dump_with_a_part_missing_cannot_be_added_up():
    dump = {"HeapAlloc": 1, "HeapSys": 9, "HeapInuse": 3, "Sys": 12}

    assert [] == parse_memstats(json.dumps(dump).encode(), source="m")[1]


def test_dumps_that_share_their_rings_give_each_pause_once():
    dump = json.loads((FIXTURES / "doors/go1.24.2/memstats.json").read_bytes())
    lines = b"\n".join([json.dumps(dump).encode()] * 3)

    read = gomem.read_memstats(lines)

    assert 3 == len(read.stats)
    assert list(range(1, dump["NumGC"] + 1)) == read.pauses["number"].to_list()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("PauseNs", [1, "x"]), ("PauseEnd", "none"), ("BySize", [{"Size": "x"}]),
        ("BySize", {}), ("GCCPUFraction", "text"),
    ],
)  # fmt: skip
def test_what_else_is_no_number_is_damage_and_the_counters_are_read(field, value):
    dump = json.loads(memstats_json(HeapAlloc=1234)) | {field: value}

    read = read_memstats(json.dumps(dump).encode())

    assert [1234] == list(read.stats["HeapAlloc"])
    (damage,) = read.damaged
    assert damage.what.startswith(f"{field} ")
