"""Heap profiles as Go's runtime writes them, of known objects sampled anew each time."""

import numpy as np
import pandas as pd

from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.table import Profile
from gomem.statistics.sampling import interval, sampling_of_counts, scale_of
from tests.pprof_messages import field, function, location, message, packed, strings

RATE = 512 * 1024
TEXTS = (
    *("", "alloc_objects", "count", "alloc_space", "bytes"),
    *("inuse_objects", "inuse_space", "space", "main.leaf", "main.root"),
)
SITES = 40
ROOT = SITES + 1  # location and function of `main.root`, which calls every site
# From 16 B to 4 MiB, each site with 4 to 400 expected sightings' worth of bytes or a few objects.
SIZES = np.round(np.geomspace(16, 1 << 22, SITES)).astype(int)
OBJECTS = np.maximum(np.geomspace(3, 60, SITES)[::-1] * RATE / SIZES, 3).astype(int)
NAMES = [f"main.site{number:02}" for number in range(SITES)]
MADE = pd.Series(SIZES * OBJECTS, NAMES)


def scale(size, rate=RATE):
    return 1 / (1 - np.exp(-size / rate))


def bucket(objects, space, *, size=None, leaf=1, root=2):
    """A sample with the same numbers for alloc and inuse, of a leaf that a root called."""
    label = message(3, field(1, 4), field(3, size)) if size else b""
    values = packed(2, objects, space, objects, space)
    return message(2, packed(1, leaf, root), values, label)


def stack(*locations):
    """A sample of 9 objects and 9000 bytes with this stack, the innermost first."""
    return message(2, packed(1, *locations), packed(2, 9, 9000, 9, 9000))


def seen(count, size, *, labelled=True, leaf=1, root=2):
    """The bucket that Go writes when it has seen so many objects of a size."""
    objects, space = int(count * scale(size)), int(count * size * scale(size))
    return bucket(objects, space, size=size if labelled else None, leaf=leaf, root=root)


def turned_over(allocated, in_use, size, *, leaf=1, root=2):
    """The bucket of so many objects seen, of which so many are in use."""
    values = [
        value
        for count in (allocated, in_use)
        for value in (int(count * scale(size)), int(count * size * scale(size)))
    ]
    return message(
        2, packed(1, leaf, root), packed(2, *values), message(3, field(1, 4), field(3, size))
    )


def heap(*buckets, **about):
    """A heap profile of these buckets; see `heap_bytes`."""
    raw = heap_bytes(*buckets, **about)
    return Profile("heap.pb", parse_pprof(raw, source="heap.pb")[0])


def heap_bytes(*buckets, rate=RATE, period_type=True, names=("main.leaf", "main.root"), seconds=0):
    """The bytes of a heap profile of these buckets; location n is of the n-th name."""
    types = ((1, 2), (3, 4), (5, 2), (6, 4))
    head = b"".join(message(1, field(1, one), field(2, unit)) for one, unit in types)
    if period_type:
        head += message(11, field(1, 7), field(2, 4))
    texts = (*TEXTS[:8], *names)
    code = b"".join(
        location(number, number) + function(number, 7 + number, file=0)
        for number in range(1, len(names) + 1)
    )
    head += field(9, seconds * 10**9) if seconds else b""
    return head + field(12, rate) + b"".join(buckets) + code + strings(*texts)


def sampled_program(run, *, doubled=None):
    """The heap profile of one run of a program that has `MADE` live bytes at its sites."""
    objects = np.where(np.array(NAMES) == doubled, 2 * OBJECTS, OBJECTS)
    counts = np.random.default_rng(run).binomial(objects, 1 / scale(SIZES))
    buckets = [
        seen(int(count), int(size), leaf=number, root=ROOT)
        for number, (count, size) in enumerate(zip(counts, SIZES, strict=True), start=1)
        if count
    ]
    return heap(*buckets, names=(*NAMES, "main.root"))


def bounds(counts, sizes):
    """The interval of each row of counts, summed over sizes, and what the profile would say."""
    sizes = np.asarray(sizes, float)
    scale = scale_of(sizes, RATE)
    parts = sampling_of_counts(sizes, counts.astype(float), scale)
    estimate = (counts * sizes * scale).sum(axis=1)
    return interval(estimate, parts.mapped(lambda part: part.sum(axis=1)))
