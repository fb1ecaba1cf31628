"""Data files that ship with gomem: the demo capture, the notebooks, a page's scripts."""

from __future__ import annotations

import json
from importlib import resources
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from gomem.errors import CaptureError, did_you_mean
from gomem.text import File, text

# What the demo shows; of the recorded captures, only these two are in a wheel.
DEMO, DEMO_BASELINE = "zeroing-go1.24.2", "zeroing-go1.23.4"
CAPTURES = Path("fixtures", "captures")  # in a checkout: what the notebooks tell their stories of
FLEET = "pods"  # recorded captures of many instances, in a folder of this name beside them
PACKED = ".tar.gz"  # a capture that is kept as an archive
ELSEWHERE = (
    "name a capture of yours, or clone gomem's repository and run `pip install .` in it, which "
    "then finds the captures there"
)


def packaged(name: str) -> Path:
    """Return a folder that ships with gomem (`captures`, `notebooks`).

    In a wheel the folder is inside the package; in a checkout it is the project's. Raises
    CaptureError if neither exists.
    """
    package = Path(str(resources.files("gomem")))
    inside = package / "packaged" / name
    if inside.is_dir():
        return inside
    folder = package.parent / (CAPTURES if name == CAPTURES.name else name)
    if not folder.is_dir():
        what = "{}: not in this installation of gomem; install it again"
        raise CaptureError(text(what, File(name)))
    return folder


def text_beside(package: str, *path: str) -> str:
    """Read a text file in the folder of a Python package, or below it."""
    return resources.files(package).joinpath(*path).read_text(encoding="utf-8")


def recorded(name: str) -> Path:
    """Return a recorded capture of the demo or of a notebook.

    A checkout has all recorded captures, and so does an installation from a checkout that still
    exists. A wheel has only those of the demo. Raises CaptureError if no recorded capture has the
    name; the message says where to get the captures.
    """
    checkout = _checkout()
    found = _by_name(packaged("captures"))
    if checkout is not None:
        found = {**_by_name(checkout / CAPTURES), **found}
    if name in found:
        return found[name]
    what = "{}: no such file or folder, nor a recorded capture{}"
    if checkout is not None:
        raise CaptureError(text(what, File(name), did_you_mean(name, found)))
    with_gomem = f" that is installed with gomem ({', '.join(found)})"
    raise CaptureError(text(f"{what}; {{}}", File(name), with_gomem, ELSEWHERE))


def _by_name(folder: Path) -> dict[str, Path]:
    """Return the recorded captures of a folder, and the pods next to it, by name."""
    found = {entry.name.removesuffix(PACKED): entry for entry in sorted(folder.iterdir())}
    pods = folder.parent / FLEET
    return {**found, FLEET: pods} if pods.is_dir() else found


def _checkout() -> Path | None:
    """Return the checkout that gomem runs in or was installed from (PEP 610); None without one."""
    folders = [Path(str(resources.files("gomem"))).parent]
    try:
        origin = distribution("gomem").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    if origin is not None:
        url = urlsplit(json.loads(origin)["url"])
        folders += [Path(url2pathname(url.path))] if url.scheme == "file" else []
    return next((folder for folder in folders if (folder / CAPTURES).is_dir()), None)
