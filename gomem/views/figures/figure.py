"""The one place where matplotlib is set up: figures as SVG text, the same for the same input.

The SVG is made to stand inside a page. It has no background, and what is drawn in `INK` takes the
colour of the text around it, so that it reads on light and on dark paper. Text stays text: it can
be searched, selected and read aloud. Ids begin with the figure's name, so that several figures
can stand on one page.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes
from gomem.views.words import minus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1a1b1c"  # a colour nobody else uses: it becomes `currentColor` in the SVG
FAINT = 0.16  # opacity of grid lines
MUTED = 0.72  # opacity of what stands back, such as ticks

_FONT = "DejaVu Sans"  # comes with matplotlib, so widths are the same everywhere
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gomem",
    "font.family": "sans-serif",
    "font.sans-serif": [_FONT],
    "font.size": 8.5,
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "hatch.linewidth": 0.7,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
    "path.simplify": False,
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_FURTHER_DIGITS = re.compile(r"(?<=\.\d\d)\d+")  # of a point: nobody sees a hundredth
_STEPS_PER_DECADE = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True)
class Drawing:
    """A figure with the words that stand for it where it cannot be seen.

    Attributes:
        name: Unique on its page; ids in the SVG begin with it.
        title: What it shows, in a few words.
        description: What is to be seen in it, for those who cannot see it.
        figure: The figure itself.
    """

    name: str
    title: str
    description: str
    figure: Figure

    def __post_init__(self) -> None:
        """A name that cannot be an id is a mistake of the caller's."""
        if not re.fullmatch(r"[A-Za-z][\w-]*", self.name):
            raise ValueError(f"{self.name!r}: not an id; wanted a letter, then word characters")

    def svg(self) -> str:
        """The figure as an SVG element to stand in a page."""
        with style():
            buffer = io.StringIO()
            self.figure.savefig(buffer, format="svg", metadata=_NO_METADATA, transparent=True)
        return _for_a_page(buffer.getvalue(), self)

    def _repr_html_(self) -> str:
        return self.svg()


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's own defaults with ours on top, whatever the user's configuration says."""
    import matplotlib as mpl

    current: Any = mpl.rcParams
    before = dict(dict.items(current))
    dict.update(current, _settings())  # they were checked when they were made
    try:
        yield
    finally:
        dict.update(current, before)


@cache
def _settings() -> dict[str, Any]:
    """All of matplotlib's settings as figures want them, but for the backend: it is the user's."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        made: Any = mpl.rcParams.copy()
    return {name: value for name, value in dict.items(made) if name != "backend"}


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """An empty figure; call it, and draw, inside `style()`."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_inches, height_inches))
    FigureCanvasSVG(figure)
    return figure


def draw_bar(axes: Axes, x: float, y: float, width: float, height: float, **look: Any) -> None:
    """A rectangle where the axes' limits are known: `axes.bar` takes long to find them out.

    Args:
        axes: Where to draw.
        x: An end of it, in data.
        y: Its other side's end.
        width: From `x`; below zero, to the left.
        height: From `y`.
        **look: As matplotlib's patches have it.
    """
    from matplotlib.patches import Rectangle

    axes.add_artist(Rectangle((x, y), width, height, **look))


def byte_ticks(low: float, high: float, at_most: int = 6) -> list[int]:
    """Round numbers of bytes from `low` to `high`: a power of two apart, 0 among them."""
    step = 1
    while (high - low) / step > at_most:
        step *= 2
    first, last = int(low // step) + (low % step > 0), int(high // step)
    return [step * number for number in range(first, last + 1)]


def tick_label(size: int) -> str:
    """Bytes of a tick without digits that say nothing: `64 MiB`, `1.5 GiB`, `0`."""
    if size == 0:
        return "0"
    number, prefix = format_bytes(size).split(" ")
    return minus(f"{float(number):g} {prefix}")


def draw_byte_axis(axes: Axes, low: float, high: float, *, along: str) -> None:
    """Ticks, labels and faint grid lines in bytes on one axis.

    Args:
        axes: Where to draw.
        low: Its lower end in bytes.
        high: Its upper end in bytes.
        along: `x` or `y`.
    """
    ticks = byte_ticks(low, high)
    axis = axes.xaxis if along == "x" else axes.yaxis
    axis.set_ticks(ticks, [tick_label(size) for size in ticks], alpha=MUTED)
    axes.grid(visible=True, axis="x" if along == "x" else "y", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)


def _for_a_page(document: str, drawing: Drawing) -> str:
    svg = document[document.index("<svg") :].strip()
    svg = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    svg = _with_own_ids(re.sub(r"\n\s*", "\n", svg), drawing.name)
    svg = re.sub(rf"(?i){INK}", "currentColor", svg)
    svg = re.sub(r' d="[^"]*"', lambda path: _FURTHER_DIGITS.sub("", path[0]), svg)
    words = (
        f'<title id="{drawing.name}-title">{escape(drawing.title)}</title>'
        f'<desc id="{drawing.name}-desc">{escape(drawing.description)}</desc>'
    )
    _, _, inside = svg.partition(">")
    return f"{_root(svg, drawing)}{words}{inside}"


def _root(svg: str, drawing: Drawing) -> str:
    """The opening tag: scales with the page, and has a name for those who cannot see it."""
    box = re.search(r'viewBox="([^"]+)"', svg)
    assert box is not None
    width = float(box[1].split()[2])
    return (
        f'<svg class="figure" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box[1]}" role="img" '
        f'aria-labelledby="{drawing.name}-title {drawing.name}-desc" '
        f'style="width:100%;max-width:{width / 72:.2f}in;height:auto;'
        f'stroke-linejoin:round;stroke-linecap:butt">'
    )


def _with_own_ids(svg: str, name: str) -> str:
    """Drop the ids that nothing refers to; put the figure's name before the others."""
    referred = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))

    def own(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in referred else ""

    svg = re.sub(r' id="([^"]+)"', own, svg)
    return re.sub(r'(url\(|href=")#([^)"]+)', rf"\1#{name}-\2", svg)
