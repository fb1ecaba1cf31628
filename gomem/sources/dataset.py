"""An append-only dataset in Parquet: a folder per kind, files by month.

    DIR/levels/month=2026-11/part-0123456789abcdef.parquet
    DIR/committed/part-0123456789abcdef.json               its keys, written last

A part has the results of every kind for one chunk of captures. Readers see only committed parts. If
a run is killed, the next run that writes removes its uncommitted files.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gomem.errors import CaptureError
from gomem.sources.names import readable_name
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa
    import pyarrow.dataset as ds

ABOUT = "gomem-fleet.json"
SCHEMA = "gomem.fleet-dataset/1"
COMMITTED = "committed"
MONTH, UNKNOWN = "month", "unknown"
PART = "part-{}"


@dataclass(frozen=True)
class Dataset:
    """A folder of Parquet files."""

    folder: Path

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Dataset:
        """Return the dataset of a folder, whether or not it exists yet."""
        return cls(Path(folder))

    @classmethod
    def at(cls, folder: str | os.PathLike[str]) -> Dataset:
        """Open the dataset of a folder; raises CaptureError if it is not one."""
        found = cls(Path(folder))
        if not found.about:
            named = File(readable_name(str(folder)))
            what = "{}: no fleet in it; write one: gomem fleet WHERE -o {}"
            raise CaptureError(text(what, named, named))
        return found

    @classmethod
    @contextmanager
    def temporary(cls) -> Iterator[Dataset]:
        """Yield a dataset that is deleted when the block ends."""
        with tempfile.TemporaryDirectory(prefix="gomem-fleet-") as folder:
            yield cls(Path(folder))

    @property
    def about(self) -> dict[str, Any]:
        """How the dataset was made; empty if the dataset does not exist."""
        try:
            known = json.loads((self.folder / ABOUT).read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) and known.get("schema") == SCHEMA else {}

    def prepare(self, about: Mapping[str, Any]) -> None:
        """Create the dataset, or check that the existing one was made in the same way.

        Raises:
            CaptureError: The folder has other content, or a dataset made with other labels.
        """
        known, named = self.about, self._named
        if known:
            for name, value in about.items():
                if known.get(name) != value:
                    old, new = (Quoted(label or "none") for label in (known.get(name), value))
                    why = text("was made with {} {}, not {}", name, old, new)
                    raise CaptureError(text("{}: {}; name another folder with -o", named, why))
            self._sweep()
            return
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            what = "{}: exists, and is no fleet; name another folder with -o"
            raise CaptureError(text(what, named))
        try:
            (self.folder / COMMITTED).mkdir(parents=True, exist_ok=True)
            _write(self.folder / ABOUT, _json({"schema": SCHEMA, **about}))
        except OSError as error:
            raise self._unwritable(error) from error

    @property
    def _named(self) -> File:
        """The name in messages."""
        return File(readable_name(str(self.folder)))

    def _unwritable(self, error: OSError) -> CaptureError:
        why = error.strerror or Quoted(error)
        return CaptureError(text("{}: cannot be written: {}", self._named, why))

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the captures in the dataset."""
        found: set[str] = set()
        for path in self._commits:
            found |= set(json.loads(path.read_bytes())["keys"])
        return frozenset(found)

    @property
    def parts(self) -> frozenset[str]:
        """The names of the committed parts."""
        return frozenset(path.stem for path in self._commits)

    @property
    def _commits(self) -> list[Path]:
        folder = self.folder / COMMITTED
        return sorted(folder.glob("part-*.json")) if folder.is_dir() else []

    def add(self, part: str, files: Mapping[tuple[str, str], bytes], keys: Iterable[str]) -> None:
        """Add the Parquet files of a part, by kind and month, and commit it.

        Raises:
            CaptureError: The dataset cannot be written.
        """
        name = PART.format(part)
        try:
            for (kind, month), content in files.items():
                folder = self.folder / kind / f"{MONTH}={month}"
                folder.mkdir(parents=True, exist_ok=True)
                _write(folder / f"{name}.parquet", content)
            _write(self.folder / COMMITTED / f"{name}.json", _json({"keys": sorted(keys)}))
        except OSError as error:
            raise self._unwritable(error) from error

    def files(self, kind: str) -> list[str]:
        """Return the committed Parquet files of a kind, sorted by name."""
        parts = self.parts
        return [str(path) for path in self._files(kind) if path.stem in parts]

    def lazily(self, kind: str, schema: pa.Schema) -> ds.Dataset:
        """Return the rows of a kind as a lazy pyarrow dataset, partitioned by `month`."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        files = self.files(kind)
        whole = schema.append(pa.field(MONTH, pa.string()))
        if not files:
            return ds.dataset(whole.empty_table())
        hive = ds.partitioning(pa.schema([(MONTH, pa.string())]), flavor="hive")
        root = str(self.folder / kind)
        return ds.dataset(
            files, schema=whole, format="parquet", partitioning=hive, partition_base_dir=root
        )

    def _files(self, kind: str) -> list[Path]:
        return sorted((self.folder / kind).glob(f"{MONTH}=*/part-*.parquet"))

    def _sweep(self) -> None:
        """Remove files that were never committed."""
        parts = self.parts
        for path in self.folder.glob(f"*/{MONTH}=*/*"):
            if path.stem not in parts:
                path.unlink(missing_ok=True)

    @cached_property
    def reports(self) -> Path:
        """The folder of reports on single captures."""
        return self.folder / "reports"

    @property
    def written_reports(self) -> frozenset[str]:
        """The file names of existing reports."""
        return frozenset(path.name for path in self.reports.glob("*.html"))


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_bytes(content)
    beside.replace(path)


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=False) + "\n").encode()
