"""Beygelzimer, Hazan, Kale and Luo (2015, supplement C.3) against Zhang and Yu: does shrinking speed batch boosting up?

Both step eta_i along the atom furthest down the slope; C.3 first shrinks f by eta_i wherever the loss does not fall
along f. With s_i = 1 + eta_1 + ... + eta_i, a beta-smooth loss and any f of norm c, D_i = R(f_i) - R(f) obeys

    (10)  Zhang and Yu   D_N <= (1 + c) / (s_N + c) D_0 + sum (s_i + c) / (s_N + c) beta eta_i^2 / 2
    (11)  C.3, c >= 1    D_N <= e^(-(s_N - 1) / c) D_0 + sum e^(-(s_N - s_i) / c) beta eta_i^2 (s_i^2 + 1) / 2

from which the paper concludes that its method converges exponentially faster. Here f is the optimum over the span.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost import datasets
from anyboost.descent import Shrinking
from anyboost.experiments import style
from anyboost.experiments.finite import (
    Optimum,
    descend,
    diabetes,
    scaled_columns,
    sign_stumps,
    smooth_optimum,
)
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.style import short, thin
from anyboost.plot import figures
from anyboost.steps import Constant, InverseSqrt, InverseT, Schedule

TITLE = "Whether shrinking speeds batch boosting up"
SOURCE = "Beygelzimer, Hazan, Kale and Luo (2015), supplement C.3, against Zhang and Yu (2005)"
SAYS = "Shrinking makes batch boosting converge exponentially faster than Zhang and Yu's method."
SHOWS = (
    "Excess loss against the sum of steps: Zhang and Yu's method (wide) and the shrinking one of C.3 (thin), with the "
    "steps that served Zhang and Yu best. Dotted: the first terms of their bounds, (10) and (11)."
)
ROWS, ROUNDS, QUICK_ROUNDS = 1500, 4000, 300
# Data set, class, loss, and a factor for the target: a small one makes the optimum's norm less than a first step.
PROBLEMS = (
    ("diabetes", "columns", "squared", 1.0),
    ("diabetes", "stumps", "squared", 1.0),
    ("diabetes", "stumps", "squared", 0.1),
    ("abalone", "columns", "huber", 1.0),
    ("cal_housing", "stumps", "squared", 1.0),
    ("bank", "stumps", "logistic", 1.0),
    ("letter", "columns", "logistic", 1.0),
    ("letter", "stumps", "logistic", 1.0),
)
STEPS: dict[str, Schedule] = {
    "0.002": Constant(0.002),
    "0.02": Constant(0.02),
    "0.3/sqrt(t)": InverseSqrt(0.3),
    "1/sqrt(t)": InverseSqrt(1.0),
    "1/t": InverseT(1.0),
}
METHODS = {"Zhang-Yu": False, "C.3": True}
LEVELS = (0.1, 0.01, 0.001)  # of the first excess
SLACK = 1e-9


class SpanProblem(NamedTuple):
    """A class of functions, targets, a loss, and its optimum over the span."""

    H: np.ndarray
    y: np.ndarray
    loss: Any
    best: Optimum


def cases(quick: bool) -> dict[str, Any]:
    """Every problem with every schedule."""
    made = {}
    for data, kind, loss, scale in PROBLEMS[1:3] if quick else PROBLEMS:
        for step in list(STEPS)[1::2] if quick else STEPS:
            name = data if scale == 1 else f"{data} x {scale:g}"
            made[f"{name}, {kind}, {loss}, {step}"] = {
                "problem": [data, kind, loss, scale],
                "step": step,
                "rounds": QUICK_ROUNDS if quick else ROUNDS,
            }
    return made


def needs(case: dict[str, Any]) -> str | None:
    """The data set that a case is measured on, unless it is bundled."""
    name = case["problem"][0]
    return None if name == "diabetes" else name


@lru_cache(maxsize=1)
def problem(data: str, kind: str, loss: str, scale: float) -> SpanProblem:
    """Rows drawn once; columns that are numbers; two classes for the logistic loss, else a target of spread `scale`."""
    if data == "diabetes":
        X, y = diabetes()
    else:
        full = datasets.load(data)
        X, y = full.X[:, ~full.categorical], full.y
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[rows], y[rows]
    if loss == "logistic":
        y = np.where(y < 13 if data == "letter" else y > 0, 1.0, -1.0)
    else:
        y = scale * (y - y.mean()) / y.std()
    H = sign_stumps(X) if kind == "stumps" else scaled_columns(X)
    chosen = ab.losses.get(loss)
    return SpanProblem(H, y, chosen, smooth_optimum(H, y, chosen))


def measure(case: dict[str, Any], tick: Tick = lambda _: None) -> dict[str, Any]:
    """Both methods with the same steps: excess losses, both bounds, and how often the method shrank."""
    H, y, loss, best = problem(*case["problem"])
    rounds, step = case["rounds"], STEPS[case["step"]]
    eta = np.array([step(t) for t in range(1, rounds + 1)])
    places = np.r_[0, thin(rounds, 60)]
    made: dict[str, Any] = {
        "norm": short(best.norm),
        "optimum": short(best.value),
        "sum": short(np.r_[0.0, np.cumsum(eta)][places]),
    }
    excesses = []
    for place, (method, shrinks) in enumerate(METHODS.items()):

        def watch(step: Any, _: Any, place: int = place) -> None:
            tick((place + step.round / rounds) / 2)

        run = descend(H, y, loss, "dictionary", Shrinking(step, shrinks=shrinks), rounds, watch)
        excess = np.array([run.start_loss, *(step.loss for step in run.steps)]) - best.value
        excesses.append(excess)
        bound = upper_bound(shrinks, excess[0], eta, float(loss.smoothness), best.norm)
        made[method] = {
            "excess": short(excess[places]),
            "bound": short(bound[places]),
            "holds": bool(np.all(excess <= bound * (1 + SLACK) + 1e-12)),
            "end": short(np.mean(excess[-rounds // 10 :])),  # single rounds go up and down
            "reached": [first_sum(excess, level * excess[0], eta) for level in LEVELS],
        }
    made["shrank"] = not np.array_equal(excesses[0], excesses[1])
    return made


def upper_bound(shrinks: bool, first: float, eta: np.ndarray, beta: float, norm: float) -> np.ndarray:
    """(11) or (10) for N = 0 .. rounds, as the recursions they solve."""
    c = max(norm, 1.0) if shrinks else norm
    s, bound = 1.0, [first]
    for step in eta:
        if shrinks:
            kept, added = np.exp(-step / c), beta / 2 * step**2 * ((s + step) ** 2 + 1)
        else:
            kept, added = (s + c) / (s + step + c), beta / 2 * step**2
        s += step
        bound.append(kept * bound[-1] + added)
    return np.array(bound)


def first_sum(excess: np.ndarray, level: float, eta: np.ndarray) -> float | None:
    """The sum of steps after which the excess was first at most `level`."""
    under = np.flatnonzero(excess <= level)
    return short(np.r_[0.0, np.cumsum(eta)][under[0]]) if len(under) else None


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: the excess of both in the end, and the sum of steps at which it was a hundredth of the first."""
    heading = "problem | steps | norm of the optimum | shrank | excess: Zhang-Yu | C.3 | ratio | to 1 %: Zhang-Yu | C.3"
    rows = []
    for label, found in results.items():
        name, step = label.rsplit(", ", 1)
        reached = [found[method]["reached"][1] for method in METHODS]
        sums = ["never" if s is None else f"{s:.3g}" for s in reached]
        ends = [f"{found[method]['end']:.2e}" for method in METHODS]
        shrank = "yes" if found["shrank"] else "no"
        rows.append([name, step, f"{found['norm']:.3g}", shrank, *ends, f"{advantage(found):.2f}", *sums])
    return markdown(heading, rows)


def advantage(found: dict[str, Any]) -> float:
    """How many times smaller the excess of C.3 is in the end."""
    return found["Zhang-Yu"]["end"] / found["C.3"]["end"]


def growth(results: dict[str, Any], method: str) -> float:
    """By what factor the sum of steps must grow for a tenth of the excess, from 10 % to 1 %, in the median.

    Where 1 / excess sums are needed it is about 10, where log(1 / excess), about 2.
    """
    reached = [found[method]["reached"] for found in results.values()]
    grown = [few[1] / few[0] for few in reached if few[1] is not None]
    return float(np.median(grown)) if grown else float("nan")


def claims(results: dict[str, Any]) -> list[Claim]:
    """The conclusion of C.3, its premise about Zhang and Yu, and the bounds it is drawn from."""
    gains = np.array([advantage(found) for found in results.values()])
    same = sum(not found["shrank"] for found in results.values())
    ahead, behind = int(np.sum(gains > 1)), int(np.sum(gains < 1))
    runs = len(results)
    growths = {method: growth(results, method) for method in METHODS}
    held = [all(found[method]["holds"] for found in results.values()) for method in METHODS]
    lower = sum(found["C.3"]["bound"][-1] < found["Zhang-Yu"]["bound"][-1] for found in results.values())
    ever = sum(min(found["C.3"]["bound"]) < min(found["Zhang-Yu"]["bound"]) for found in results.values())
    return [
        Claim(
            "With the same steps, shrinking converges exponentially faster",
            # Twice as close in most runs would be little beside an exponential, and is asked of it at least.
            "reproduced" if np.median(gains) > 2 else "partly" if ahead > runs / 2 else "not reproduced",
            f"Zhang and Yu's excess is {np.median(gains):.2f} times the shrinking one's in the median of {runs} runs, "
            f"and {gains.min():.2f} to {gains.max():.2f} times in all. It is larger in {ahead} runs, smaller in "
            f"{behind}, and the same in {same}, where nothing was ever shrunk.",
        ),
        Claim(
            "Zhang and Yu's method needs steps of sum 1 / excess, the shrinking one log(1 / excess)",
            verdict([growths["Zhang-Yu"] > 5]) if growths["C.3"] < 5 else "not reproduced",
            f"For a tenth of the excess the sum grows {growths['Zhang-Yu']:.1f} times with Zhang and Yu's method and "
            f"{growths['C.3']:.1f} times with C.3, where 1 / excess would make it 10 and log(1 / excess) 2.",
        ),
        Claim(
            "The bounds (10) and (11) hold",
            verdict(held),
            f"They hold at every round of {runs} runs each."
            if all(held)
            else f"They hold for {sum(held)} of the two methods.",
        ),
        Claim(
            "The bound (11) of the shrinking method is the smaller one",
            "reproduced" if lower > runs / 2 else "partly" if ever > runs / 2 else "not reproduced",
            f"In the end it is smaller in {lower} of {runs} runs, at the best round of each in {ever}. The terms of "
            "its sum carry a factor s^2 that grows with the steps.",
        ),
    ]


def outcome(results: dict[str, Any]) -> str:
    """Both excesses, and how often there was a difference at all."""
    gains = np.array([advantage(found) for found in results.values()])
    same = sum(not found["shrank"] for found in results.values())
    return (
        f"Zhang and Yu's excess is {np.median(gains):.2f} times that of C.3 in the median of {len(gains)} runs, "
        f"{gains.min():.2f} to {gains.max():.2f} times in all. In {same} runs nothing was ever shrunk."
    )


def draw(results: dict[str, Any]) -> Any:
    """A panel for each problem, with the steps that brought Zhang and Yu's method closest."""
    from matplotlib.figure import Figure

    best: dict[str, tuple[str, dict[str, Any]]] = {}
    for label, found in results.items():
        name, step = label.rsplit(", ", 1)
        if name not in best or found["Zhang-Yu"]["end"] < best[name][1]["Zhang-Yu"]["end"]:
            best[name] = (step, found)
    rows = -(-len(best) // 2)
    figure = Figure(figsize=(style.WIDE, 0.5 + 2.1 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, sharey=True, squeeze=False)
    for panel, (name, (step, found)) in zip(panels.flat, best.items(), strict=False):
        _draw_panel(panel, found)
        data, kind, loss = name.split(", ")
        panel.set_title(f"{data}, {kind}", loc="left", fontsize=10, fontweight="bold")
        panel.text(
            0.03, 0.04, f"{loss}, steps {step}", fontsize=9, color=style.INK, transform=panel.transAxes
        )
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
    figure.supxlabel("sum of steps", fontsize=10)
    figure.supylabel("excess loss, as a share of the first", fontsize=10)
    return figure


def _draw_panel(panel: Any, found: dict[str, Any]) -> None:
    sums = np.array(found["sum"])
    first = found["Zhang-Yu"]["excess"][0]
    c = found["norm"]
    looks = {
        "Zhang-Yu": ("Zhang and Yu", figures.ORANGE, 3.4, (1 + c) / (1 + sums + c), "first term of (10)"),
        "C.3": ("C.3, shrinking", figures.BLACK, 1.3, np.exp(-sums / max(c, 1.0)), "first term of (11)"),
    }
    for method, (words, color, width, term, its_words) in looks.items():
        panel.plot(sums, np.array(found[method]["excess"]) / first, color=color, linewidth=width, label=words)
        panel.plot(sums, term, color=color, linewidth=1.2, linestyle=":", label=its_words)
    panel.set_yscale("log")
    panel.set_ylim(1e-7, 30)  # large first steps overshoot a small optimum
    style.quiet(panel)
