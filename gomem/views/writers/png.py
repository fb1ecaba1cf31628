"""Write a figure as PNG, for a chat or a ticket without SVG; equal figures give equal bytes.

Nothing on the machine affects it: neither the user's matplotlib settings nor the time, and the font
is the one that comes with matplotlib.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.charts.figure import Drawing

DOTS_PER_INCH = 160
PAPER = "white"


def write_png(drawing: Drawing, *, title: str, made_by: str) -> bytes:
    """Draw a figure below a title."""
    import matplotlib as mpl

    mpl.use("Agg")  # no window, whatever the environment requests
    from matplotlib import pyplot as plt

    from gomem.charts.matplotlib_axes import draw_on

    with mpl.rc_context(mpl.rcParamsDefault):
        (first, *_) = draw_on(drawing.chart)
        figure = first.get_figure(root=True)
        assert figure is not None
        figure.text(0.012, 1.02, title, weight="bold", size=11, va="bottom", parse_math=False)
        picture = io.BytesIO()
        figure.savefig(
            picture, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER, bbox_inches="tight",
            metadata={"Software": made_by},
        )  # fmt: skip
        plt.close(figure)
    return picture.getvalue()
