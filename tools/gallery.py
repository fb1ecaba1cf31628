"""Pages of reports and notebooks on recorded captures, and small pictures of them.

    python -m tools.gallery            write docs/gallery/*.html
    python -m tools.gallery --pictures also docs/pictures/*.png, with Chromium

The pages are not in the repository: they are large, and can be made again byte for byte. The
pictures are in it, for the README and docs/gallery.md.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image

from gomem.cli.main import run

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES, PICTURES = DOCS / "gallery", DOCS / "pictures"
CAPTURES = ROOT / "fixtures" / "captures"
REPORTS = {
    "report-zeroing": ("zeroing-go1.24.2", "--baseline", "zeroing-go1.23.4"),
    "report-cache": ("cache-shrink-go1.12.17",),
    "report-spiky": ("spiky-go1.27.3",),
    "report-pressure": ("alloc-pressure-before-go1.27.3",),
    "report-healthy": ("healthy-go1.27.3",),
}
# size of a report's first screen; of a notebook down to its figures
SCREEN, SCROLL = "1280,860", "960,2300"
COLOURS = 160
NOTEBOOK_SCALE = 0.6


def notebooks() -> list[str]:
    """Return the notebooks' names, in order."""
    return sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def main(arguments: list[str]) -> int:
    """Write all pages, and the pictures if requested."""
    PAGES.mkdir(exist_ok=True)
    for name, (capture, *others) in REPORTS.items():
        paths = [
            word if word.startswith("-") else str(CAPTURES / word) for word in (capture, *others)
        ]
        _write(name, ["report", *paths, "--format", "html"])
    for name in notebooks():
        _write(name, ["notebook", name.partition("_")[2].replace("_", "-")])
    if "--pictures" in arguments:
        PICTURES.mkdir(exist_ok=True)
        for page in sorted(PAGES.glob("*.html")):
            _picture(page)
    return 0


def _write(name: str, command: list[str]) -> None:
    if run([*command, "-o", str(PAGES / f"{name}.html"), "--force"]):
        raise SystemExit(f"gallery: {name} could not be written; see above")


def _picture(page: Path) -> None:
    """Draw the first screen in few colours; for a notebook, a longer part at half the size."""
    is_report = page.stem in REPORTS
    target = PICTURES / f"{page.stem}.png"
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or "google-chrome"
    size = f"--window-size={SCREEN if is_report else SCROLL}"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size]
    subprocess.run(
        [browser, *options, f"--screenshot={target}", page.as_uri()], check=True,
        capture_output=True,
    )  # fmt: skip
    with Image.open(target) as shot:
        drawn = shot.convert("RGB")
    if not is_report:
        drawn = drawn.resize([round(NOTEBOOK_SCALE * side) for side in drawn.size])
    drawn.quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
