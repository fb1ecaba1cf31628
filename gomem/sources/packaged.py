"""Data files that ship with gomem: the demo capture, the notebooks, a page's scripts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from gomem.errors import CaptureError, did_you_mean
from gomem.text import File, text

IN_A_CHECKOUT = {
    "demo": Path("fixtures", "captures", "zeroing-go1.24.2"),
    "demo-baseline": Path("fixtures", "captures", "zeroing-go1.23.4"),
    "captures": Path("fixtures", "captures"),
    "pods": Path("fixtures", "pods"),
}
PACKED = ".tar.gz"  # suffix of a capture stored as an archive
FLEET = "pods"  # recorded captures of many instances


def packaged(name: str) -> Path:
    """Return a folder that ships with gomem (`demo`, `captures`, `pods`, `notebooks`, …).

    In a wheel it is inside the package; in a checkout it is the project's folder. Raises
    CaptureError if neither exists.
    """
    package = Path(str(resources.files("gomem")))
    inside = package / "packaged" / name
    if inside.is_dir():
        return inside
    folder = package.parent / IN_A_CHECKOUT.get(name, Path(name))
    if not folder.is_dir():
        what = "{}: not in this installation of gomem; install it again"
        raise CaptureError(text(what, File(name)))
    return folder


def text_beside(package: str, *path: str) -> str:
    """Read a text file in the folder of a Python package, or below it."""
    return resources.files(package).joinpath(*path).read_text(encoding="utf-8")


def recorded(name: str) -> Path:
    """Return a capture used by the notebooks; raises CaptureError if none has the name."""
    if name == FLEET:
        return packaged(FLEET)
    folder = packaged("captures")
    found = {entry.name.removesuffix(PACKED): entry for entry in sorted(folder.iterdir())}
    if name not in found:
        near = did_you_mean(name, found)
        what = "{}: no such file or folder, nor a recorded capture{}"
        raise CaptureError(text(what, File(name), near))
    return found[name]
