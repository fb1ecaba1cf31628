"""Stacks have one number in all profiles, and a text that is bounded."""

import numpy as np

import gomem
from gomem.inputs.pprof.calls.stacks import CUT, MAX_FRAMES, MAX_NAME, Stacks
from tests.builders import FIXTURES
from tests.heap_profiles import bucket, heap, stack

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"


def stacks_of(profile):
    return Stacks(profile.columns)


def test_a_stack_has_one_number_in_two_profiles():
    """
    Functions and places have other numbers in each; names count, and their order.
    """
    one = stacks_of(heap(bucket(9, 9000, leaf=1, root=2), names=("main.a", "main.b")))
    other = stacks_of(
        heap(bucket(9, 9, leaf=2, root=1), bucket(9, 9, leaf=1, root=2), names=("main.b", "main.a"))
    )

    assert one.keys[0] == other.keys[0]
    assert one.keys[0] != other.keys[1]


def test_numbers_tell_the_same_stacks_apart_as_texts():
    profile = gomem.read_pprof(SPIKY / "settled" / "heap.pb.gz")
    stacks = stacks_of(profile)

    texts = [stacks.text(sample) for sample in range(len(profile.values()))]

    pairs = set(zip(texts, stacks.keys.tolist(), strict=True))
    assert len(set(texts)) == len(np.unique(stacks.keys)) == len(pairs)
    assert len(pairs) > 20


def test_a_text_is_a_folded_stack():
    """
    Held against the other way to it, of a real profile with inlined calls.
    """
    profile = gomem.read_pprof(SPIKY / "settled" / "heap.pb.gz")
    stacks = stacks_of(profile)

    written = {line.rpartition(" ")[0] for line in profile.to_folded("inuse_space").splitlines()}

    texts = {stacks.text(int(n)) for n in np.flatnonzero(profile.values("inuse_space"))}
    assert texts == written


def test_an_endless_stack_and_an_endless_name_are_cut():
    stacks = stacks_of(heap(stack(*[1] * 100_000), names=("main." + "x" * 100_000, "main.root")))

    frames = stacks.text(0).split(";")
    assert [CUT, MAX_FRAMES + 1] == [frames[0], len(frames)]
    assert {MAX_NAME} == set(map(len, frames[1:]))


def test_a_sample_without_a_stack_has_an_empty_text():
    stacks = stacks_of(heap(stack()))

    assert ["", 0] == [stacks.text(0), stacks.keys[0]]
