"""Mirror averaging of Juditsky, Nazin, Tsybakov and Vayatis (2005): its excess over the best weights, and its bounds.

Rows are independent, and the risk of any weights is a formula, so the excess is exact. There are M functions h_j of
values +1 and -1, and weights on the simplex.

    hinge         h_1 agrees with the label with probability q, the others are coin flips: A = 1 - (2q - 1) theta_1
    exponential   the same rows: A = (q exp(-theta_1) + (1 - q) exp(theta_1)) prod_{j > 1} cosh theta_j
    squared       y = <w, h> + noise, coin flips h: A = (norm(theta - w)^2 + noise^2) / 2

The least risk is a closed form for hinge and squared loss. For the exponential loss all theta_j with j > 1 are equal at
the optimum, by symmetry and convexity, so one monotone equation in theta_1 remains.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from anyboost.experiments import methods, style
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.style import short
from anyboost.mirror import Anytime, Entropy, KnownHorizon, MirrorAverager, PNorm, PowerDivergence, Simplex
from anyboost.plot import figures

TITLE = "Mirror averaging: excess over the best weights"
SOURCE = "Juditsky, Nazin, Tsybakov and Vayatis (2005), Theorems 1 and 2, (37) and (38)"
SAYS = (
    "The mean excess over the best weights is at most 2 L sqrt(max V / alpha) sqrt(t + 1) / t, which is of the order "
    "sqrt(ln M / t)."
)
SHOWS = (
    "Mean excess risk of the averaged weights over the best weights (solid, with two standard errors) against the "
    "number of rows (left) and of functions (right), for three losses and four proxies. Dotted: the bounds."
)
SIZE, TIME = 100, 1000  # of the curves against rows and against functions
TIMES, SIZES, STREAMS = (10, 30, 100, 300, 1000, 3000, 10_000), (3, 10, 30, 100, 300, 1000), 20
QUICK_TIMES, QUICK_SIZES, QUICK_STREAMS = (10, 30, 100), (3, 10, 30), 5
AGREES = 0.7  # q
WEIGHTS, NOISE = np.array([1 / 2, 1 / 3, 1 / 6]), 0.5
PROXIES: dict[str, Callable[[], Any]] = {
    "entropy": Entropy,  # (8)
    "p-norm": PNorm,  # (35)
    "power": PowerDivergence,  # (36)
    "squared norm": lambda: PNorm(2.0),  # the paper's example of a bad proxy
}
PRINTED = ("entropy", "p-norm", "power")
SCHEDULES: dict[str, Callable[[int], Any]] = {"(17)": lambda _: Anytime(), "(37)": KnownHorizon}
COLORS = {
    "entropy": figures.BLACK,
    "p-norm": figures.BLUE,
    "power": figures.GREEN,
    "squared norm": figures.ORANGE,
}
ERRORS = 2.0  # standard errors


class Population(NamedTuple):
    """A loss, rows from a random generator, the risk of any weights, and the least risk of M functions."""

    loss: str
    largest_label: float
    draw: Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]
    risk: Callable[[np.ndarray], float]
    least: Callable[[int], float]


def signs(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Coin flips."""
    return 2.0 * random.integers(0, 2, shape, dtype=np.int8) - 1.0


def draw_labels(random: np.random.Generator, rows: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The first function agrees with the label more often than not."""
    y, H = signs(random, (rows,)), signs(random, (rows, size))
    H[:, 0] = np.where(random.random(rows) < AGREES, y, -y)
    return H, y


def draw_numbers(random: np.random.Generator, rows: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The first functions make up the target, but for noise."""
    H = signs(random, (rows, size))
    return H, H[:, : len(WEIGHTS)] @ WEIGHTS + NOISE * signs(random, (rows,))


def hinge_risk(theta: np.ndarray) -> float:
    """Scores are at most 1, so no row gets past the corner of the hinge."""
    return float(1 - (2 * AGREES - 1) * theta[0])


def exponential_risk(theta: np.ndarray) -> float:
    """The product over independent functions."""
    first = AGREES * np.exp(-theta[0]) + (1 - AGREES) * np.exp(theta[0])
    return float(first * np.exp(np.log(np.cosh(theta[1:])).sum()))


def least_exponential(size: int) -> float:
    """The other functions share 1 - theta_1 evenly: the slope of log A in theta_1 is monotone, and is zero once."""

    def slope(first: float) -> float:
        up, down = (1 - AGREES) * np.exp(first), AGREES * np.exp(-first)
        return float((up - down) / (up + down) - np.tanh((1 - first) / (size - 1)))

    first = float(brentq(slope, 0.0, 1.0, xtol=1e-15))
    return exponential_risk(np.r_[first, np.full(size - 1, (1 - first) / (size - 1))])


def squared_risk(theta: np.ndarray) -> float:
    """Half of the squared error, as `Squared` has it."""
    away = theta.copy()
    away[: len(WEIGHTS)] -= WEIGHTS
    return float(away @ away + NOISE**2) / 2


POPULATIONS = {
    "hinge": Population("hinge", 1.0, draw_labels, hinge_risk, lambda _: 2 - 2 * AGREES),
    "exponential": Population("exponential", 1.0, draw_labels, exponential_risk, least_exponential),
    "squared": Population("squared", 1 + NOISE, draw_numbers, squared_risk, lambda _: NOISE**2 / 2),
}


def cases(quick: bool) -> dict[str, Any]:
    """A loss, a proxy and a schedule each."""
    spent = (QUICK_TIMES, QUICK_SIZES, QUICK_STREAMS) if quick else (TIMES, SIZES, STREAMS)
    shared = dict(zip(("times", "sizes", "streams"), spent, strict=True))
    return {
        f"{loss}, {proxy}, {schedule}": {
            "loss": loss,
            "proxy": proxy,
            "schedule": schedule,
            "size": SIZE,
            "time": TIME,
            **shared,
        }
        for loss in POPULATIONS
        for proxy in PROXIES
        for schedule in SCHEDULES
    }


def measure(case: dict[str, Any], tick: Tick = lambda _: None) -> dict[str, Any]:
    """Mean excess, its standard error and the bound, against rows and against functions."""
    sizes, half = case["sizes"], methods.share(tick, 1, 2)
    by_rows = excesses(case, case["size"], case["times"], methods.share(tick, 0, 2))
    columns = [
        excesses(case, size, [case["time"]], methods.share(half, place, len(sizes)))
        for place, size in enumerate(sizes)
    ]
    by_size = np.concatenate(columns, axis=1)
    return {
        "rows": curve(case["times"], by_rows, [bound(case, case["size"], t) for t in case["times"]]),
        "functions": curve(sizes, by_size, [bound(case, size, case["time"]) for size in sizes]),
    }


def excesses(case: dict[str, Any], size: int, times: Any, tick: Tick) -> np.ndarray:
    """(streams, times): the excess risk of the estimate for forecast number t, which has seen t - 1 rows."""
    population = POPULATIONS[case["loss"]]
    least = population.least(size)
    found = np.empty((case["streams"], len(times)))
    for stream in range(case["streams"]):
        # The same rows for every proxy and schedule.
        random = np.random.default_rng((11, size, stream))
        H, y = population.draw(random, max(times) - 1, size)
        averager, seen = None, 0
        for place, time in enumerate(times):
            if averager is None or case["schedule"] != "(17)":
                averager, seen = start(case, size, time), 0
            averager.partial_fit(H[seen : time - 1], y[seen : time - 1])
            seen = time - 1
            found[stream, place] = population.risk(averager.weights_) - least
        tick((stream + 1) / case["streams"])
    return found


def start(case: dict[str, Any], size: int, time: int) -> MirrorAverager:
    """An averager before its first row; `time` is the horizon of (37)."""
    population = POPULATIONS[case["loss"]]
    return MirrorAverager(
        population.loss,
        proxy=PROXIES[case["proxy"]](),
        schedule=SCHEDULES[case["schedule"]](time),
        output_bound=1.0,
        label_bound=population.largest_label,
    ).start(size)


def bound(case: dict[str, Any], size: int, time: int) -> float:
    """The theorem's bound on the mean excess."""
    return start(case, size, time).bound(time)


def curve(at: Any, found: np.ndarray, bounds: list[float]) -> dict[str, Any]:
    """Means over streams, with their standard errors."""
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return {
        "at": list(at),
        "excess": short(found.mean(axis=0)),
        "error": short(errors),
        "bound": short(bounds),
    }


# --- what it says


def of(results: dict[str, Any], proxies: Any, schedule: str) -> list[dict[str, Any]]:
    """The curves of these proxies with one schedule, both kinds."""
    return [
        results[f"{loss}, {proxy}, {schedule}"][kind]
        for loss in POPULATIONS
        for proxy in proxies
        for kind in ("rows", "functions")
    ]


def holds(curves: list[dict[str, Any]]) -> bool:
    """Whether no mean excess exceeds its bound."""
    return all(
        excess <= bound for one in curves for excess, bound in zip(one["excess"], one["bound"], strict=True)
    )


def shares(curves: list[dict[str, Any]]) -> np.ndarray:
    """Excesses as shares of their bounds."""
    return np.concatenate([np.array(one["excess"]) / one["bound"] for one in curves])


def slope(one: dict[str, Any]) -> float:
    """The slope of log excess in log t over the last tenfold of rows."""
    t, excess = np.array(one["at"]), np.array(one["excess"])
    late = t >= t[-1] / 10
    return float(np.polyfit(np.log(t[late]), np.log(excess[late]), 1)[0])


@cache
def ratio(proxy: str, size: int) -> float:
    """max V / alpha of the unit simplex, which the bounds are made of."""
    shape = PROXIES[proxy]().shape(size, Simplex())
    return shape.height / shape.alpha


def claims(results: dict[str, Any]) -> list[Claim]:
    """The theorems, their rates in rows and in functions, the step (37), and the conjecture of section 6.1."""
    return [
        _theorem(
            results, "(17)", "Theorems 1 and 2: with the steps (17) and (18) the mean excess is at most (34)"
        ),
        _theorem(results, "(37)", "With t known and the steps (37) the mean excess is at most (38)"),
        _known_horizon(results),
        _rate(results),
        _growth(results),
        _best_proxy(results),
    ]


def _theorem(results: dict[str, Any], schedule: str, says: str) -> Claim:
    curves = of(results, PRINTED, schedule)
    found = shares(curves)
    return Claim(
        says,
        verdict([holds(curves)]),
        f"The excess is {found.min():.3f} to {found.max():.2f} times the bound, {np.median(found):.2f} times in the "
        f"median of {len(found)} points.",
    )


def _known_horizon(results: dict[str, Any]) -> Claim:
    """(38) has the smaller constant; whether the excess is smaller too is measured."""
    known, anytime = (
        np.concatenate([one["excess"] for one in of(results, PRINTED, schedule)])
        for schedule in ("(37)", "(17)")
    )
    better = float(np.mean(known < anytime))
    return Claim(
        "To know t improves the constant of the bound from 2 to sqrt(2); here: the excess is smaller with (37), too",
        "reproduced" if better > 0.9 else "partly" if better > 0.5 else "not reproduced",
        f"It is smaller at {better:.0%} of the points, and {np.median(known / anytime):.2f} times that with (17) in "
        "the median. The bounds' ratio is 0.71.",
    )


def _rate(results: dict[str, Any]) -> Claim:
    found = {
        loss: [slope(results[f"{loss}, {proxy}, (17)"]["rows"]) for proxy in PRINTED] for loss in POPULATIONS
    }
    every = [one for slopes in found.values() for one in slopes]
    return Claim(
        "The excess is of the order 1 / sqrt(t)",
        verdict([one <= -0.45 for one in every]),
        "Slope of log excess in log t over the last tenfold of rows, for the three proxies: "
        + ", ".join(f"{loss} {min(slopes):.2f} to {max(slopes):.2f}" for loss, slopes in found.items())
        + ". An excess that falls faster than the bound's -0.5 is no contradiction.",
    )


def growths(results: dict[str, Any], proxy: str) -> dict[str, float]:
    """The excess with the most functions over that with the fewest, by loss."""
    curves = {loss: results[f"{loss}, {proxy}, (17)"]["functions"]["excess"] for loss in POPULATIONS}
    return {loss: excess[-1] / excess[0] for loss, excess in curves.items()}


def _growth(results: dict[str, Any]) -> Claim:
    entropy, plain = growths(results, "entropy"), growths(results, "squared norm")
    sizes = next(iter(results.values()))["functions"]["at"]
    return Claim(
        "The excess depends less on M with entropy than with the squared norm, the plain stochastic gradient",
        verdict([entropy[loss] < plain[loss] for loss in POPULATIONS]),
        f"From {sizes[0]} to {sizes[-1]} functions it grows "
        + ", ".join(f"{entropy[loss]:.1f} and {plain[loss]:.1f} times ({loss})" for loss in POPULATIONS)
        + f". The bounds grow {(ratio('entropy', sizes[-1]) / ratio('entropy', sizes[0])) ** 0.5:.1f} and "
        f"{(ratio('squared norm', sizes[-1]) / ratio('squared norm', sizes[0])) ** 0.5:.0f} times.",
    )


def _best_proxy(results: dict[str, Any]) -> Claim:
    sizes = next(iter(results.values()))["functions"]["at"]
    best = {size: min(PRINTED, key=lambda proxy: ratio(proxy, size)) for size in sizes}
    wrong = [size for size in sizes if best[size] != "entropy"]
    curves = {
        proxy: np.concatenate([one["excess"] for one in of(results, [proxy], "(17)")]) for proxy in PRINTED
    }
    lower = {proxy: float(np.mean(curves["entropy"] < curves[proxy])) for proxy in PRINTED[1:]}
    return Claim(
        "Conjecture of section 6.1: of all proxies on the simplex, entropy has the smallest bound",
        verdict([best[size] == "entropy" for size in sizes]),
        "The bounds follow max V / alpha: "
        + "; ".join(
            f"with {size} functions " + ", ".join(f"{proxy} {ratio(proxy, size):.2f}" for proxy in PRINTED)
            for size in [*wrong, SIZE]
        )
        + ". The excess itself is smaller with entropy at "
        + ", ".join(f"{share:.0%} of the points (against {proxy})" for proxy, share in lower.items())
        + ".",
    )


def outcome(results: dict[str, Any]) -> str:
    """How far under its bound the excess is, and its rate."""
    found = shares(of(results, PRINTED, "(17)"))
    slopes = [slope(results[f"{loss}, {proxy}, (17)"]["rows"]) for loss in POPULATIONS for proxy in PRINTED]
    return (
        f"The excess is {found.min():.3f} to {found.max():.2f} times its bound at {len(found)} points. In the end it "
        f"falls like t^{max(slopes):.2f} to t^{min(slopes):.2f}."
    )


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: excess and bound after the fewest and the most rows, and with the most functions."""
    first = next(iter(results.values()))
    times, sizes = first["rows"]["at"], first["functions"]["at"]
    heading = (
        f"loss | proxy | steps | excess, t = {times[-1]} | bound | slope in t | "
        f"excess, M = {sizes[0]} | bound | excess, M = {sizes[-1]} | bound"
    )
    rows = []
    for label, found in results.items():
        by_rows, by_size = found["rows"], found["functions"]
        cells = [
            *label.split(", "),
            _number(by_rows, -1),
            f"{by_rows['bound'][-1]:.4f}",
            f"{slope(by_rows):.2f}",
        ]
        for place in (0, -1):
            cells += [_number(by_size, place), f"{by_size['bound'][place]:.4f}"]
        rows.append(cells)
    return markdown(heading, rows)


def _number(one: dict[str, Any], place: int) -> str:
    return f"{one['excess'][place]:.5f} ± {ERRORS * one['error'][place]:.5f}"


def draw(results: dict[str, Any]) -> Any:
    """A row for each loss: against rows left, against functions right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.WIDE, 8.2), layout="constrained")
    panels = figure.subplots(len(POPULATIONS), 2, sharey="row")
    for row, loss in zip(panels, POPULATIONS, strict=True):
        for panel, kind in zip(row, ("rows", "functions"), strict=True):
            for proxy, color in COLORS.items():
                _draw_curve(panel, results[f"{loss}, {proxy}, (17)"][kind], color, proxy)
            panel.set(xscale="log", yscale="log")
            style.quiet(panel)
            style.plain_decades(panel.xaxis, (3, 10, 100, 1000, 10_000))
            style.plain_decades(panel.yaxis, (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10))
            panel.set_xlim(*(results[f"{loss}, entropy, (17)"][kind]["at"][end] for end in (0, -1)))
        row[0].set_title(f"{loss} loss", loc="left", fontsize=10, fontweight="bold")
    panels[-1, 0].set_xlabel(f"rows t (M = {SIZE})")
    panels[-1, 1].set_xlabel(f"functions M (t = {TIME})")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False)
    figure.supylabel("excess over the best weights; dotted: its bound", fontsize=10)
    return figure


def _draw_curve(panel: Any, one: dict[str, Any], color: str, name: str) -> None:
    excess, error = np.array(one["excess"]), ERRORS * np.array(one["error"])
    panel.fill_between(
        one["at"], np.maximum(excess - error, 1e-12), excess + error, color=color, alpha=0.2, linewidth=0
    )
    panel.plot(one["at"], excess, color=color, linewidth=1.8, label=name)
    panel.plot(one["at"], one["bound"], color=color, linewidth=1.2, linestyle=":")
