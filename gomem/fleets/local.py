"""Work on one machine: a few processes, each with one chunk at a time.

A chunk is handed out only when a worker is free, so the number of workers bounds the memory. If a
process dies, the captures of its chunk are tried again one by one. A capture that kills its worker
twice is abandoned; all others are read.
"""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from gomem.fleets.work import Chunk, Done, chunks_of, given_up, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


AHEAD = 2  # chunks per worker that are submitted: one in work, one waiting
KILLED = "its worker was killed, as by a lack of memory; try it alone: gomem report {}"


def here(chunks: Sequence[Chunk]) -> Iterator[Done]:
    """Read the chunks in this process, one after the other."""
    yield from map(work, chunks)


def in_processes(chunks: Sequence[Chunk], workers: int | None = None) -> Iterator[Done]:
    """Read the chunks in processes, by default one per CPU; yields results as they complete."""
    count = max(1, min(workers or cpus(), len(chunks)))
    left = list(reversed(chunks))
    suspects: list[Chunk] = []  # from a process that died
    while left or suspects:
        if suspects:
            yield from _one_by_one(suspects)
            suspects = []
            continue
        in_flight: dict[Future[Done], Chunk] = {}
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            try:
                while left or in_flight:
                    while left and len(in_flight) < AHEAD * count:
                        # Keep it until the pool accepts it: a broken pool refuses it.
                        in_flight[pool.submit(work, left[-1])] = left[-1]
                        left.pop()
                    done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
                    for future in done:
                        answer = future.result()
                        del in_flight[future]
                        yield answer
            except BrokenProcessPool:
                suspects = list(in_flight.values())


def cpus() -> int:
    """Return the number of CPUs that this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_by_one(chunks: Sequence[Chunk]) -> Iterator[Done]:
    """Each capture alone in a process, so that a crash loses no other capture."""
    left = [single for chunk in reversed(chunks) for single in chunks_of(chunk.captures, 1)[::-1]]
    while left:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                while left:
                    done = pool.submit(work, left[-1]).result()
                    left.pop()
                    yield done
            except BrokenProcessPool:
                single = left.pop()
                yield given_up(single, KILLED.format(single.captures[0].path))
