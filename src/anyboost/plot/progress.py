"""A fit as a figure: its losses and scores, round by round."""

from typing import TYPE_CHECKING, Any

from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rounds(model: Any, ax: "Axes | None" = None) -> "Axes":
    """The training loss, and every score on every validation set, round by round.

    Parameters
    ----------
    model : estimator or Run
        What was fitted.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> ab.plot.rounds(run).get_xlabel()
    'round'
    """
    steps = getattr(model, "steps_", None) or getattr(model, "steps", None)
    if not steps:
        raise TypeError(f"model must be a fitted estimator or a run with rounds, got {type(model).__name__}")
    curves = {"training loss": ([step.round for step in steps], [step.loss for step in steps])}
    for name, found in getattr(model, "validation_scores_", {}).items():
        for scoring, values in found.items():
            curves[f"{'validation' if name == 'valid' else name} {scoring}"] = (
                list(range(1, len(values))),
                list(values[1:]),
            )
    watched = [step.valid_loss for step in steps if getattr(step, "valid_loss", None) is not None]
    if watched and not getattr(
        model, "validation_scores_", None
    ):  # those have it, or what was asked for instead
        curves["validation loss"] = (list(range(1, 1 + len(watched))), watched)
    ax = figures.axes(ax, (6.0, 4.0))
    for number, (name, (x, y)) in enumerate(curves.items()):
        ax.plot(x, y, label=name, color=figures.LINES[number % len(figures.LINES)])
    best = getattr(model, "best_iteration_", None)
    if best is not None and best < len(steps):
        ax.axvline(best, color="#777777", linestyle=":", label=f"best round, {best}")
    ax.set_xlabel("round")
    figures.whole(ax.xaxis)
    ax.legend(frameon=False)
    return ax
