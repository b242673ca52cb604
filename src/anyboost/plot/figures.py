"""What all figures share: pyplot's own, so that a notebook shows them, and colors that stay apart for everyone."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colors, which stay apart for color-blind readers.
BLACK, ORANGE, BLUE, GREEN, PURPLE, SKY = "#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9"
LINES = (BLACK, ORANGE, BLUE, GREEN, PURPLE, "#E69F00")
AREAS = (BLUE, ORANGE, GREEN, PURPLE, "#E69F00", SKY, "#F0E442", BLACK)
REST = "#999999"


def new(size: tuple[float, float]) -> "Figure":
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('figures need matplotlib: pip install "anyboost[report]"') from None
    return pyplot.figure(figsize=size, layout="constrained")


def whole(axis: "Axis") -> None:
    """Ticks at whole numbers only, unless somebody chose where ticks are."""
    from matplotlib.ticker import MaxNLocator

    locator = axis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(integer=True)


def axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    if ax is not None:
        return ax
    return new(size).add_subplot()
