"""What "auto" stands for in an estimator: the dials of a fit, by its loss, its outputs and its rows, counted as units.

What is given explicitly wins. The rules were chosen for trees of the estimator's own (see docs/accuracy.md); a
fit with another learner or descent, `preset="paper"`, and losses that couple rows in other ways than rankings and
hazards keep the plain dials. docs/estimators.md states all of them.
"""

import math
from typing import Any, NamedTuple

from anyboost import descent as descents
from anyboost import weak
from anyboost.losses import Absolute, Cox, Loss, MultiQuantile, Quantile, RankHinge, RankLogistic, RowwiseLoss
from anyboost.weak import Learner

FEW = 500  # units under which rounds are found by folds, and not on one part that is held out
FEWEST = 20  # under which they are not looked for
FOLDS = 5  # of units, that find rounds and that calibrate
SEARCHED = 2000  # rounds at most, where rows held out say when to stop
PLAIN_ROUNDS = 100
MOST_EACH = 10  # outputs up to which "auto" grows a tree for each, where leaf steps are exact


class Suited(NamedTuple):
    """The dials that a kind of loss does well with."""

    min_leaf_weight: float
    l2_regularization: float
    max_features: float
    subsample: float
    random_thresholds: bool
    memory: float
    learning_rate: float
    proximal: bool = False


PLAIN = Suited(5.0, 0.0, 1.0, 1.0, False, 0.0, 0.1)
SUITED = {
    "several": Suited(1.0, 1.0, 0.5, 1.0, True, 0.0, 0.1),
    "curved": Suited(1.0, 3.0, 0.5, 1.0, False, 0.0, 0.06),
    "squared": Suited(1.0, 3.0, 0.5, 0.8, False, 0.5, 0.045),
    "absolute": Suited(1.0, 3.0, 0.5, 0.8, False, 0.5, 0.08, proximal=True),
    "kinked": Suited(1.0, 3.0, 0.5, 0.8, False, 0.5, 0.08),
    "quantile": Suited(1.0, 0.0, 0.5, 0.8, False, 0.0, 0.08),
}
# In a table of more columns than units, some column always splits a few rows well by chance. So leaves are large: their
# size is chosen on rows held out. Nodes consider all columns, since few may matter, and small trees allow longer steps.
WIDE_RATE = 0.1
WIDE_FOLDS = 3
WIDE_LEAVES = ((40.0, 6), (10.0, 40))  # least leaves to try: units, at most a sixth and a fortieth of all
WIDE_LEAF = (20.0, 20)  # where nothing is held out
PATIENCE = 25
TOL = 1e-5  # of the score at the start: by how much a round has to be better
OUTSIDE = 2.0  # units that a leaf should have beyond the quantile it is to tell


class Dials(NamedTuple):
    """The dials of one fit, all of them settled."""

    learning_rate: float
    max_iter: int
    min_leaf_weight: float
    l2_regularization: float
    max_features: float
    subsample: float
    random_thresholds: bool
    outputs: str
    leaf: str
    memory: float
    curvature: bool
    proximal: bool
    early_stopping: bool  # whether a validation set ends the fit
    validation_fraction: float | None
    n_iter_no_change: int
    folds: int  # whose held-out rows find `max_iter`, for a fit to all rows: 0 for none, 1 for a single part
    leaves: tuple[float, ...]  # of `min_leaf_weight`, of which the first fold chooses; () where it is settled


class Circumstances(NamedTuple):
    """What a fit is about, as far as its dials hang on it."""

    loss: Loss
    outputs: int
    units: int
    unit_weight: float  # the mean weight of a unit: 1, but for weights that are no whole numbers
    reweighted: (
        bool  # whether there are weights by class: then draws are not of the weights as they were given
    )
    has_valid: bool
    columns: int
    parts: int  # into which rows may be parted: units, or queries


def choose(estimator: Any, given: Circumstances) -> Dials:
    """Every dial: what the estimator says, else what suits the circumstances."""

    def said(name: str, automatic: Any) -> Any:
        value = getattr(estimator, name)
        return automatic if isinstance(value, str) and value == "auto" else value

    loss = given.loss
    learner = None if estimator.learner is None else weak.get(estimator.learner)
    curved = follows_curvature(estimator, loss, learner)
    best_leaf = _leaf(loss, curved)
    leaf = said("leaf", best_leaf) if learner is None else ("exact" if learner.exact_leaves else "mean")
    kind = _kind(loss, given.outputs, curved)
    own = estimator.preset is None and learner is None and estimator.descent is None
    suited = SUITED[kind] if own and kind in SUITED else PLAIN
    wide = suited is not PLAIN and given.columns > given.units
    if wide:
        suited = suited._replace(max_features=1.0, learning_rate=WIDE_RATE)
    searches = _searches(estimator, given, suited is not PLAIN)
    asked = estimator.early_stopping
    stops = (given.has_valid and estimator.preset is None) if isinstance(asked, str) else bool(asked)
    rounds = int(said("max_iter", SEARCHED if searches or stops else PLAIN_ROUNDS))
    # Few rounds take longer steps; those of a warm start are the same, however far it goes.
    few = 1.0 if estimator.warm_start else min(1.0, PLAIN_ROUNDS / max(rounds, 1))
    rate = max(suited.learning_rate, few * PLAIN.learning_rate)
    fills = leaf in (best_leaf, "linear")
    memory = SUITED[kind].memory if kind in SUITED and fills and not loss.vector else 0.0
    least = suited.min_leaf_weight
    if suited is not PLAIN and isinstance(loss, Quantile | MultiQuantile):
        taus = (loss.tau,) if isinstance(loss, Quantile) else loss.taus
        least = min(OUTSIDE / min(min(tau, 1 - tau) for tau in taus), max(1.0, given.units / 10))
    unit, leaves = given.unit_weight, tuple[float, ...]()
    if wide:
        if searches and isinstance(estimator.min_leaf_weight, str):
            leaves = tuple(unit * max(least, min(most, given.units / share)) for most, share in WIDE_LEAVES)
        least = max(least, min(WIDE_LEAF[0], given.units / WIDE_LEAF[1]))
    folds = FOLDS if given.parts == given.units < FEW else 1
    if wide and folds > 1:
        folds = WIDE_FOLDS
    each = leaf == "exact" and given.outputs <= MOST_EACH
    return Dials(
        float(said("learning_rate", rate)),
        rounds,
        float(said("min_leaf_weight", least * unit)),
        float(said("l2_regularization", suited.l2_regularization * unit)),
        float(said("max_features", suited.max_features)),
        float(said("subsample", 1.0 if given.reweighted else suited.subsample)),
        bool(said("random_thresholds", suited.random_thresholds)),
        said("outputs", "each" if each else "joint"),
        leaf,
        float(said("memory", memory)),
        curved,
        suited.proximal and leaf == best_leaf,
        stops or searches,
        said("validation_fraction", 0.2 if searches else 0.1),
        int(said("n_iter_no_change", PATIENCE)),
        folds if searches else 0,
        leaves,
    )


def follows_curvature(estimator: Any, loss: Loss, learner: Learner | None) -> bool:
    """Whether a fit follows the curvature of its loss; `learner` is None for a tree of the estimator's own."""
    asked = descents.check_curvature(estimator.curvature)
    if asked == "auto" and estimator.descent is not None:
        asked = descents.get(estimator.descent).curvature
    if asked != "auto":
        return bool(asked)
    if estimator.preset == "paper" or not loss.has_curvature or _is_constant(loss):
        return False
    if estimator.descent is not None and descents.get(estimator.descent).atom_size is not None:
        return False
    if learner is None:
        return bool(estimator.leaf != "exact")
    return not learner.exact_leaves and weak.can_follow(learner, loss)


def _is_constant(loss: Loss) -> bool:
    # Where curvature is, following it makes no difference.
    return loss.strong_convexity == loss.smoothness


def _leaf(loss: Loss, curved: bool) -> str:
    """Leaf values that suit a loss."""
    if curved or not isinstance(loss, RowwiseLoss):
        return "mean"
    smooth = loss.strong_convexity == 0 and math.isfinite(loss.smoothness)
    return "mean" if smooth else "exact"


def _kind(loss: Loss, outputs: int, curved: bool) -> str:
    """The row of `SUITED` for a loss; a word that is no row where nothing is known of it."""
    if curved:
        return "several" if outputs > 1 else "curved"
    if isinstance(loss, Quantile | MultiQuantile):
        return "quantile"
    if not isinstance(loss, RowwiseLoss) or _leaf(loss, curved) == "mean":
        return "other"
    if _is_constant(loss):
        return "squared"
    return "absolute" if isinstance(loss, Absolute) else "kinked"


def _searches(estimator: Any, given: Circumstances, suited: bool) -> bool:
    """Whether rounds are found on rows held out, for a fit to all of them."""
    automatic = [getattr(estimator, name) for name in ("early_stopping", "max_iter")]
    if not all(isinstance(value, str) for value in automatic) or given.has_valid or estimator.warm_start:
        return False
    parted = isinstance(given.loss, RowwiseLoss | RankHinge | RankLogistic | Cox)
    return suited and parted and given.parts >= FEWEST and estimator.validation_fraction is not None
