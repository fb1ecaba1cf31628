"""Fuzzing without coverage: each reader reads what chance makes of its seeds, and none of it wrong.

`make fuzz` runs the same targets for as long as it is given, guided by coverage.
"""

import gzip
import random
import subprocess
import sys

import pytest

from gomem.errors import Damage
from gomem.inputs.limits.parse import parse_limits
from gomem.inputs.smaps.parse import parse_smaps
from tests.builders import FIXTURES, smaps_entry
from tools.fuzz.drive import Finds, execute, run
from tools.fuzz.mutations import field_bytes, fields_of, varint
from tools.fuzz.second_readers import Profile, faults_of, is_within, objects_of
from tools.fuzz.seeds import MAX_WHOLE_BYTES
from tools.fuzz.target import Find, Target, parsed
from tools.fuzz.targets import TARGETS, kernel, memory, profiles

CHEAP, DEAR = 25, 3  # executions, some hundredths of a second
BY_COST = {"report": 1, "read": DEAR, "gctrace": 8, "archive": 8, "printed": 12, "recognise": 12}
PROFILE = FIXTURES / "profiles/go1.27.3/heap-a.pb.gz"


@pytest.mark.parametrize("name", TARGETS)
def test_what_chance_makes_of_an_input_is_read_right_or_refused(name):
    """
    Sums and rows are a second reader's, places are in the file, and nothing takes seconds.
    """
    count = BY_COST.get(name, CHEAP)

    done, finds = run(TARGETS[name], count, seed=1)

    assert count == done
    assert {} == {place: said for place, (_, said) in finds.by_place.items()}


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_small_and_apart(name):
    """
    A large input takes the time of many small ones.
    """
    seeds = TARGETS[name].seeds()

    assert seeds
    assert all(seeds)
    assert len(set(seeds)) == len(seeds)
    assert max(map(len, seeds)) <= 3 * MAX_WHOLE_BYTES


def mistaken(monkeypatch, module, name, change):
    """Let a reader make a mistake: what it reads is changed."""
    real = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **named: change(real(*args, **named)))


def test_a_size_that_is_lost_is_found(monkeypatch):
    def change(read):
        read[0].fields["Rss"][0] = 0
        return read

    mistaken(monkeypatch, kernel, "parse_smaps", change)
    text = smaps_entry(0x1000, 0x5000, rss_kib=8).encode()

    with pytest.raises(Find, match="the sum of Rss is short: 0, 8192"):
        TARGETS["smaps"].execute(text)


def test_a_limit_that_is_lost_is_found(monkeypatch):
    mistaken(monkeypatch, kernel, "parse_limits", lambda read: (read[0][1:], read[1]))

    with pytest.raises(Find, match="a limit is lost"):
        TARGETS["limits"].execute(TARGETS["limits"].seeds()[0])


def test_a_counter_that_is_wrong_is_found(monkeypatch):
    def change(read):
        read[0].counters["Sys"][0] += 1
        return read

    mistaken(monkeypatch, memory, "parse_memstats", change)

    with pytest.raises(Find, match="a counter: 'Sys'"):
        TARGETS["memstats"].execute(b'{"HeapAlloc":1,"HeapSys":2,"Sys":3}')


def test_a_failure_is_a_find_and_the_shortest_input_stays(tmp_path):
    def fail(data):
        raise IndexError(len(data))

    target = Target("x", lambda: [b"a"], fail, lambda data, _: data)
    finds = Finds(tmp_path / "x")

    assert [True, False, False] == [execute(target, b"a" * n, finds) for n in (9, 12, 3)]
    ((data, said),) = finds.by_place.values()
    assert b"aaa" == data
    assert "IndexError: 3" in said
    assert [b"aaa"] == [path.read_bytes() for path in (tmp_path / "x").glob("*.input")]


def test_a_place_behind_the_end_is_found():
    def parse(data, *, source):
        _, damage = parse_limits(b"\n\n\n" + data, source=source)
        return None, damage

    with pytest.raises(Find, match="a place behind the end: 'line 2', 1"):
        parsed(parse, b"x")


def test_fields_of_a_message_are_written_as_they_were():
    profile = gzip.decompress(PROFILE.read_bytes())

    fields = fields_of(profile)

    assert profile == b"".join(field_bytes(*field) for field in fields)
    assert {1, 2, 4, 5, 6} <= {number for number, *_ in fields}


@pytest.mark.parametrize("number", [0, 127, 128, 2**63, 2**64 - 1])
def test_a_varint_is_as_protobuf_writes_it(number):
    message = Profile(location=[{"id": number}])

    assert message.SerializeToString()[2:] == (b"\x08" + varint(number) if number else b"")


def test_the_second_reader_of_profiles_takes_a_recorded_one():
    profile = Profile.FromString(gzip.decompress(PROFILE.read_bytes()))

    assert "" == faults_of(profile)
    profile.sample[0].location_id.append(10**6)
    assert "a location that is not there" == faults_of(profile)


def test_the_second_reader_of_dumps_finds_objects_and_the_end():
    dump = TARGETS["heapdump"].seeds()[0]

    assert 9 == len(objects_of(dump)[0])
    assert objects_of(dump)[1]
    assert not objects_of(dump[:-1])[1]


@pytest.mark.parametrize(("few", "many", "is_so"), [
    ([1, 3], [1, 2, 3], True), ([3, 1], [1, 2, 3], False), ([1, 1], [1], False), ([], [], True),
])  # fmt: skip
def test_rows_are_within_others_in_their_order(few, many, is_so):
    assert is_so == is_within(few, many)


def test_mutations_are_the_same_for_the_same_seed():
    smaps = TARGETS["smaps"]
    data = smaps.seeds()[0]

    first, second = (smaps.mutate(data, random.Random(7)) for _ in range(2))  # noqa: S311

    assert first == second
    assert parse_smaps(data, source="s")[0].path


def test_without_atheris_it_says_what_to_install():
    blocked = "import sys; sys.modules['atheris'] = None; import runpy; "
    blocked += "sys.argv = ['fuzz']; runpy.run_module('tools.fuzz', run_name='__main__')"

    ended = subprocess.run(
        [sys.executable, "-c", blocked], capture_output=True, text=True, check=False
    )

    assert 1 == ended.returncode
    assert "pip install -e '.[fuzz]'" in ended.stderr


HEADER = b"heap profile: 1: 8 [1: 8] @ heap/1048576\n"


def test_a_record_that_is_told_to_be_too_large_is_no_find():
    TARGETS["heap_text"].execute(HEADER + b"999999999: 8 [1: 8] @ 0x1\n")


def test_a_record_that_is_told_but_would_fit_is_found(monkeypatch):
    """
    Damage excuses only what 64 bits do not hold.
    """

    def change(read):
        return read[0], [*read[1], Damage("fuzz", "line 2", "not a record")]

    mistaken(monkeypatch, profiles, "parse_heap_text", change)
    monkeypatch.setattr(profiles, "_is_near", lambda *_: False)

    with pytest.raises(Find, match="a record is lost"):
        TARGETS["heap_text"].execute(HEADER + b"1: 8 [1: 8] @ 0x1\n")


@pytest.mark.parametrize("end", [b"\r\n", b"\r\r\n"])
def test_line_ends_of_windows_are_no_find(end):
    for name in ("count_text", "smaps", "status"):
        for seed in TARGETS[name].seeds()[:3]:
            TARGETS[name].execute(seed.replace(b"\n", end))
