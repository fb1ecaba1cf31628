"""The notebooks through papermill, as other people's pipelines run them, on captures of any kind.

A few pairs run with the tests; all of them, eight notebooks on ten captures, with `make notebooks`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gomem.sources.packaged import packaged
from gomem.views.writers.notebook import parameters_of, taking_several
from tests.builders import FIXTURES

pytest.importorskip("papermill", reason="papermill is not installed; pip install -e '.[dev]'")

NOTEBOOKS = {path.stem[:2]: path for path in sorted(packaged("notebooks").glob("*.ipynb"))}
OTHER = FIXTURES / "captures/healthy-go1.27.3/2-steady/memstats.json"  # beside it, where two are
CAPTURES = {
    "a heap profile": "captures/zeroing-go1.24.2/2-loaded/heap.pb.gz",
    "smaps": "captures/healthy-go1.27.3/2-steady/smaps",
    "a log": "captures/healthy-go1.27.3/gctrace.log",
    "a log of Go 1.5": "gctrace/all-go1.5.4.log",
    "MemStats": "captures/zeroing-go1.24.2/2-loaded/memstats.json",
    "Go 1.9": "captures/cache-shrink-go1.9.7",
    "goroutines, by the thousand": "laboratory/captures/pollhub-b.tar.gz",
    "a page of metrics": "laboratory/captures/gqlgate-b.tar.gz",
    "copied": "captures/spiky-go1.27.3",
    "damaged": "captures/cache-shrink-go1.16.15",
}
# As `python -m papermill`, without the grammar of IRIs that jsonschema would build for 3 s.
PAPERMILL = (
    "import sys; sys.modules['rfc3987_syntax'] = None; import papermill.cli as cli; cli.papermill()"
)
FEW = [("10", "damaged")]
PAIRS = [
    pytest.param(number, name, marks=() if (number, name) in FEW else pytest.mark.every_notebook)
    for number in NOTEBOOKS
    for name in CAPTURES
]


def handed_on(name: str, folder: Path) -> Path:
    """The capture; copied without manifest or dates, or with every second file cut short."""
    recorded = FIXTURES / CAPTURES[name]
    if name not in {"copied", "damaged"}:
        return recorded
    capture = shutil.copytree(recorded, folder / name, copy_function=shutil.copyfile)
    (capture / "gomem.json").unlink()
    files = sorted(path for path in capture.rglob("*") if path.is_file())
    for path in files[::2] if name == "damaged" else ():
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 5])
    for path in files:
        os.utime(path, (0, 0))
    return capture


@pytest.mark.parametrize(("number", "name"), PAIRS)
def test_a_notebook_runs_through_papermill_on_a_capture_it_was_not_written_for(
    number, name, tmp_path
):
    """
    Every cell runs, those that assert what is true of the recorded captures among them.
    """
    path, capture = NOTEBOOKS[number], str(handed_on(name, tmp_path))
    text = path.read_text()
    asked = {one: capture for one, optional in parameters_of(text).items() if not optional}
    if several := taking_several(text):
        asked = {several: [capture, str(OTHER)]}
    out = tmp_path / "out.ipynb"

    run = subprocess.run(
        [
            *(sys.executable, "-c", PAPERMILL, path, out, "-k", "python3"),
            *("--no-progress-bar", "-y", json.dumps(asked)),
        ],
        env={**os.environ, "PYTHONPATH": str(packaged("notebooks").parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert 0 == run.returncode, run.stderr[-2000:]
    cells = [cell for cell in json.loads(out.read_text())["cells"] if "code" == cell["cell_type"]]
    assert all(cell["execution_count"] for cell in cells)
