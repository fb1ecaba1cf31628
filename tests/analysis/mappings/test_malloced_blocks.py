"""Large anonymous blocks are malloc's where C's heap is in use, or where they have its shape."""

import pandas as pd
import pytest

from gomem.analysis.mappings.native import LargeBlocks, malloced_blocks
from gomem.analysis.mappings.runtime import BEYOND, CUT_BEYOND
from gomem.units import KIB, MIB

BLOCK = {"kind": "anonymous-other", "path": "", "perms": "rw-p", "rule": BEYOND, "Rss": 0}
ODD, EVEN = MIB + 4 * KIB, MIB


def heap(resident: int) -> dict:
    return BLOCK | {"kind": "native-heap", "path": "[heap]", "size": 132 * KIB, "Rss": resident}


def mapped(*rows: dict) -> pd.DataFrame:
    frame = pd.DataFrame([BLOCK | row for row in rows])
    frame["start"] = (1 << 40) + (1 << 32) * frame.index
    frame["end"] = frame["start"] + frame.pop("size")
    return frame


def blocks(*rows: dict, beside: tuple[pd.DataFrame, ...] = ()) -> list[bool]:
    of_all = LargeBlocks([mapped(*rows), *beside]) if beside else None
    return malloced_blocks(mapped(*rows), of_all).tolist()


def test_cs_heap_is_in_use_from_1_mib_on():
    even = {"size": EVEN + 64 * KIB}

    assert [False, True] == blocks(heap(MIB), even)
    assert [False, False] == blocks(heap(MIB - 1), even)


def test_beside_cs_heap_in_use_whole_mib_are_mapped_by_the_program():
    """
    As a cache that maps chunks of 64 MiB; if most blocks have malloc's shape, so have these.
    """
    odd, cache = {"size": 40 * MIB + 4 * KIB}, {"size": 64 * MIB}

    assert [False, True, False] == blocks(heap(MIB), odd, cache)
    assert [False, True, True, True] == blocks(heap(MIB), odd, odd, cache)


def test_without_any_of_cs_heap_resident_no_shape_is_mallocs():
    assert [False, True] == blocks(heap(1), {"size": ODD})
    assert [False, False] == blocks(heap(0), {"size": ODD})


@pytest.mark.parametrize(("about", "expected"), [
    ({"size": 128 * KIB}, True),
    ({"size": 124 * KIB}, False),
    ({"size": MIB, "path": "[anon: cache]"}, False),
    ({"size": MIB, "perms": "r--p"}, False),
    ({"size": MIB, "perms": "rw-s"}, False),
    ({"size": MIB, "kind": "go-runtime"}, False),
    ({"size": MIB, "rule": CUT_BEYOND}, True),
])  # fmt: skip
def test_a_block_is_large_private_writable_and_without_a_name(about, expected):
    assert [False, expected] == blocks(heap(MIB), about)


def test_the_shape_of_most_bytes_decides():
    """
    Sixteen blocks with a page more each are round again, and a cut one has no shape.
    """
    cut = {"size": EVEN, "rule": CUT_BEYOND}

    assert [False, True, True] == blocks(heap(1), {"size": 2 * ODD}, {"size": EVEN})
    assert [False, False, False] == blocks(heap(1), {"size": ODD}, {"size": 2 * EVEN})
    assert [False, True, True] == blocks(heap(1), {"size": ODD}, cut)
    assert [False, False] == blocks(heap(1), cut | {"size": ODD})


def test_joined_blocks_are_multiples_of_one_that_is_not_round():
    """
    Eight of 8 MiB and 8 KiB are round, seven are not. A round size that shares nothing with an odd
    one but a round part, or less than a block, is the program's.
    """
    block = 8 * MIB + 8 * KIB

    assert [False, True, True] == blocks(heap(1), {"size": 8 * block}, {"size": 7 * block})
    assert [False, False] == blocks(heap(1), {"size": 8 * block})
    assert [False, False, False] == blocks(heap(1), {"size": 64 * MIB}, {"size": 7 * block})
    odd, shared = 31 * 132 * KIB, 16 * 132 * KIB
    assert [False, True, True] == blocks(heap(1), {"size": 16 * shared}, {"size": odd})
    odd, shared = 31 * 124 * KIB, 16 * 124 * KIB
    assert [False, False, False] == blocks(heap(1), {"size": 16 * shared}, {"size": odd})


def test_half_of_the_bytes_are_not_most():
    """
    Two blocks of 1 MiB and 32 KiB, and as much in two round ones that share 32 KiB with them.
    """
    odd = {"size": MIB + 32 * KIB}

    assert [False] * 5 == blocks(heap(1), odd, odd, {"size": MIB}, {"size": MIB + 64 * KIB})
    assert [False] + [True] * 4 == blocks(heap(1), odd, odd, {"size": MIB}, {"size": MIB})


def test_the_shape_is_that_of_all_moments():
    """
    Of one moment all blocks are round by chance; what stays as it is counts once.
    """
    odd, even = {"size": 4 * ODD}, {"size": 3 * EVEN}

    assert [False, False] == blocks(heap(1), even)
    assert [False, True] == blocks(heap(1), even, beside=(mapped(heap(1), odd),))
    assert [False, True] == blocks(
        heap(1), even, beside=(mapped(heap(1), odd), *[mapped(heap(1), even)] * 3)
    )
    assert [False, False] == blocks(heap(0), even, beside=(mapped(heap(1), odd),))
