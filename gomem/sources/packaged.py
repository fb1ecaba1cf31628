"""What ships with gomem beside its code: the demo capture and the notebooks."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from gomem.errors import CaptureError


def packaged(name: str) -> Path:
    """A folder that ships with gomem: `demo` (a capture) or `notebooks`.

    In a wheel it lies inside the package; in a checkout it is the project's own folder.

    Raises:
        CaptureError: It is not there.
    """
    package = Path(str(resources.files("gomem")))
    inside = package / "packaged" / name
    if inside.is_dir():
        return inside
    checkout = {"demo": Path("fixtures", "captures", "zeroing-go1.24.2")}
    folder = package.parent / checkout.get(name, Path(name))
    if not folder.is_dir():
        raise CaptureError(f"{name}: not in this installation of gomem; install it again")
    return folder
