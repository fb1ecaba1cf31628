"""Do the work on a dask cluster: one task per chunk, and no communication between tasks.

Workers must see the captures at the same paths, or read them through fsspec. Each worker returns a
few kilobytes of Parquet per capture, which this process writes. If the worker of a task dies,
another worker gets the task. A task that kills several workers is abandoned; the other tasks
continue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.fleets.work import Chunk, Done, given_up, work
from gomem.numbered import Address
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


RETRIES = 2  # of a task that raises an error
WINDOW = 4  # chunks submitted per worker thread; the scheduler holds their results
MIN_WINDOW = 16


def on_dask(chunks: Sequence[Chunk], scheduler: str | None) -> Iterator[Done]:
    """Yield the results of the chunks as they complete.

    Raises:
        CaptureError: dask is not installed, or no scheduler answers at the address.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        how = "pip install 'gomem[fleet]'"
        raise CaptureError(f"--engine dask needs dask.distributed: {how}") from error
    if not scheduler:
        raise CaptureError("--engine dask: wanted --scheduler, such as tcp://10.0.0.1:8786")
    try:
        client = Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        what = text("{}: no dask scheduler answers: {}", Address(scheduler), Quoted(error))
        raise CaptureError(what) from error
    with client:
        left = list(reversed(chunks))
        window = max(MIN_WINDOW, WINDOW * sum(client.nthreads().values()))
        by_key: dict[str, Chunk] = {}

        def submitted() -> object:
            chunk = left.pop()
            future = client.submit(work, chunk, key=f"gomem-{chunk.part}", retries=RETRIES)
            by_key[future.key] = chunk
            return future

        first = [submitted() for _ in range(min(window, len(left)))]
        finished = as_completed(first, loop=client.loop)
        for future in finished:
            if left:
                finished.add(submitted())
            chunk = by_key.pop(future.key)
            failure = future.exception()
            yield future.result() if failure is None else given_up(chunk, f"its worker: {failure}")
            future.release()
