"""Heap profiles of any size, as a large service writes them: made, not recorded."""

import gzip

import numpy as np

from gomem.inputs.pprof.columns import (
    Functions,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    ValueType,
)
from gomem.inputs.pprof.protobuf.write import write_pprof

RATE = 524_288
SIZES = np.array([16, 32, 48, 64, 96, 128, 256, 512, 1024, 4096, 8192, 65_536, 1 << 20])
TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
DEPTH = 24


def large_profile(
    samples: int, *, locations: int = 6000, functions: int = 3000, seed: int = 1
) -> bytes:
    """A gzipped heap profile: few functions are in most stacks, most are in few."""
    random = np.random.default_rng(seed)
    names = [
        f"github.com/acme/service/pkg{i % 97}.(*Type{i % 13}).Method{i}" for i in range(functions)
    ]
    files = [f"/src/service/pkg{i % 97}/file{i}.go" for i in range(400)]
    strings = ["", "bytes", "/app/server", *names, *files]
    stack = np.minimum(random.pareto(0.6, samples * DEPTH), locations - 1).astype(np.int32)
    size = random.choice(SIZES, samples)
    scale = 1 / -np.expm1(-size / RATE)
    seen = random.integers(1, 5, samples)
    live = random.integers(0, seen + 1)
    value = [seen * scale, seen * size * scale, live * scale, live * size * scale]
    zero, none = np.zeros(samples, np.int32), np.zeros(0, np.uint64)
    lines = np.where(np.arange(locations) % 10 == 0, 2, 1)
    count = int(lines.sum())
    ids = np.arange(1, functions + 1)
    name = np.arange(3, functions + 3, dtype=np.int32)
    columns = PprofColumns(
        sample_types=tuple(
            ValueType(one, "count" if one.endswith("objects") else "bytes") for one in TYPES
        ),
        value=np.column_stack(value).astype(np.int64),
        stack_offsets=np.arange(0, (samples + 1) * DEPTH, DEPTH),
        stack=stack,
        labels=Labels(np.arange(samples, dtype=np.int32), zero + 1, zero, size, zero),
        locations=Locations(
            id=np.arange(1, locations + 1),
            mapping=np.full(locations, -1, np.int32),
            address=(0x400000 + 64 * np.arange(locations)).astype(np.uint64),
            folded=np.zeros(locations, np.bool_),
            line_offsets=np.concatenate(([0], np.cumsum(lines))),
            line_function=random.integers(0, functions, count).astype(np.int32),
            line_number=random.integers(10, 300, count),
            line_column=np.zeros(count, np.int64),
        ),
        functions=Functions(
            ids, name, name, (functions + 3 + ids % 400).astype(np.int32), np.full(functions, 3)
        ),
        mappings=Mappings(
            np.zeros(0, np.int64),
            *(none,) * 3,
            *(np.zeros(0, np.int32),) * 2,
            *(np.zeros(0, np.bool_),) * 4,
        ),
        strings=strings,
        time_nanos=1_700_000_000_000_000_000,
        duration_nanos=0,
        period_type=ValueType("space", "bytes"),
        period=RATE,
        default_sample_type="",
        comments=(),
        doc_url="",
        drop_frames="",
        keep_frames="",
    )
    return write_pprof(columns)


def raw(profile: bytes) -> bytes:
    """The same, not compressed."""
    return gzip.decompress(profile)
