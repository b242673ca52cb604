"""Classifiers as weak hypotheses, by projection (3) of the paper.

    project: argmax over classifiers of <target, h> / ||h||

With one output h is in {-1, +1}, and this is weighted classification of sgn(D_n) with weights w_n |D_n|.
With K outputs h is 1 on the class it names and -1/(K-1) on the others. All h then have the same norm, and
with c(n) the class named at row n

    <D, h> = K/(K-1) sum_n w_n (D_n,c(n) - mean_k D_nk),

which is classification where every class of every row has its own reward: each row K times, with label k and
weight w_n (D_nk - min_k D_nk). Such an h has mean zero in every row, so it cannot follow the row means of D.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.backends.arrays import as_scores
from anyboost.space import Space
from anyboost.trees.rules import CLASS, EXTREME, NOISE, TIE, Growth
from anyboost.weak import sklearn_estimators
from anyboost.weak.hypotheses import OneByOne
from anyboost.weak.learner import Learner, Support, Takes
from anyboost.weak.leaves import fill
from anyboost.weak.projections import LeafProjection, Projection


@dataclass(frozen=True, eq=False)
class ClassifierFunction(OneByOne):
    """x -> the code, (k,), of the label that a fitted estimator gives x; without one, the only code.

    `labels` are in the order of the rows of `codes`. `columns` are those the estimator was fitted on.
    """

    estimator: Any
    labels: np.ndarray
    codes: np.ndarray
    columns: np.ndarray | None = None

    @property
    def sparse(self) -> bool:
        """Whether `predict` takes a sparse matrix."""
        return self.estimator is None or sklearn_estimators.abilities(self.estimator, True, True).sparse

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        if self.estimator is None:
            values = np.repeat(self.codes, X.shape[0], axis=0)
        else:
            named = self.estimator.predict(sklearn_estimators.chosen_columns(X, self.columns))
            values = self.codes[np.argmax(np.asarray(named)[:, None] == self.labels, axis=1)]
        return as_scores(values)


@dataclass(frozen=True)
class Classifier(Learner):
    """Decision-stump classifiers, or those that a scikit-learn classifier can be fitted to be.

    Without `estimator` the projection is exact (for the binned columns): one cut with a class on either
    side, or one class everywhere. With one, a clone of it is fitted by `sample_weight`, and the projection is
    as good as that fit. The weights add up to those of the rows: (3) does not depend on the length of the
    target, and so an estimator's own regularization must not. A randomized estimator, which a scikit-learn
    tree is where cuts tie, has its `random_state` from the run's, unless it is set.

    Parameters
    ----------
    estimator : classifier or None, default None
        A scikit-learn classifier; None: stumps.
    both_signs : bool, default False
        With more than two classes -h is no classifier, and along a gradient h names the class to lower. True projects
        onto +-H, at the price of two fits: an estimator that is poor at naming the class to lower is often good at
        naming the one to raise.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    >>> run = ab.boost(X, y, "softmax", ab.weak.Classifier(), rounds=10)
    >>> run.ensemble.predict(X).argmax(axis=1)
    array([0, 1, 1])
    """

    estimator: Any = None
    both_signs: bool = False

    def __post_init__(self) -> None:
        if self.estimator is not None:
            _check(self.estimator)

    @property
    def takes(self) -> Takes:
        """What it can do with a sample."""
        return Takes() if self.estimator is None else sklearn_estimators.abilities(self.estimator, True, True)

    @property
    def draws(self) -> bool:
        """Whether `project` takes random numbers."""
        return self.estimator is not None

    def check(self, n_features: int, categorical: tuple[int, ...] = (), outputs: int = 1) -> None:
        """Refuse what stumps cannot search exactly: sets of categories for more than two classes.

        Parameters
        ----------
        n_features : int
            The columns of the table.
        categorical : tuple of int, default ()
            Those that hold categories.
        outputs : int, default 1
            How many scores a row has.
        """
        if self.estimator is None and categorical and outputs > 2:
            raise ValueError(
                f"learner Classifier() cannot cut the categorical columns {list(categorical)} for {outputs} classes: "
                "use a tree, or leave categorical out"
            )

    def project(self, space: Space, target: np.ndarray) -> Projection | LeafProjection:
        """The classifier furthest along `target`: the stump exactly, an estimator as well as it fits.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection or LeafProjection
            h on the sample.
        """
        if self.both_signs:
            return self._furthest(space, target)
        return self._signed(space, target, 1.0, space.random())

    def extreme(self, space: Space, target: np.ndarray) -> Projection | LeafProjection:
        """The h or -h furthest along `target`; values are in [-1, 1].

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection or LeafProjection
            h on the sample.
        """
        return self._furthest(space, target)

    def _furthest(self, space: Space, target: np.ndarray) -> Projection | LeafProjection:
        random = space.random()
        best = self._signed(space, target, 1.0, random)
        if target.ndim == 1 or target.shape[1] <= 2:
            return best  # -h is a classifier too
        other = self._signed(space, target, -1.0, random)
        ahead = space.inner(other.values, target) > space.inner(best.values, target) * (1.0 + 1e-9)
        return other if ahead else best

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom can reach along `target`.

        Stumps: exact, rounding included. An estimator: what no classifier exceeds, and what it attains.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to look for an atom.

        Returns
        -------
        Support
            Both bounds.
        """
        rows = _centered(target.reshape(space.n, -1))
        if not np.any(rows):
            return Support(0.0, 0.0)
        value = abs(space.inner(self.extreme(space, target).values, target))
        if self.estimator is None:
            return Support(value + _rounding(space, target, rows) + 3e-9 * value, value)
        return Support(space.mean(np.abs(rows @ _codes(rows.shape[1]).T).max(axis=1)), value)

    def _signed(
        self, space: Space, target: np.ndarray, sign: float, random: np.random.Generator
    ) -> Projection | LeafProjection:
        # sign * h, with h the classifier furthest along sign * target
        if self.estimator is None:
            return self._stump(space, target, sign)
        return self._fitted(space, target, sign, random)

    def _stump(self, space: Space, target: np.ndarray, sign: float) -> Projection | LeafProjection:
        from anyboost.trees.grower import grow

        fixed = space.fixed(sign * _centered(target.reshape(space.n, -1)))
        # With one output and the sign free on either side, the extreme atom is the best classifier.
        criterion = EXTREME if fixed.outputs == 1 else CLASS
        growth = Growth(2, None, criterion, noise=NOISE * space.fixed_mass[1])
        grown = grow(space.rows, space.bins, fixed, growth, *space.seen)
        codes = _codes(fixed.outputs)
        rewards = grown.sums @ codes.T
        best = rewards.max(axis=1, keepdims=True)
        classes = np.argmax(rewards >= best - TIE * np.abs(best), axis=1)
        return fill(space, grown, fixed, sign * codes[classes], target.shape)

    def _fitted(
        self, space: Space, target: np.ndarray, sign: float, random: np.random.Generator
    ) -> Projection:
        rewards = sign * target.reshape(space.n, -1)
        outputs = rewards.shape[1]
        labels = np.arange(outputs) if outputs > 1 else np.array([1, -1])
        codes = sign * _codes(outputs)
        if outputs == 1:
            rewards = np.hstack([rewards, -rewards])
        weights = (rewards - rewards.min(axis=1, keepdims=True)) * space.weights[:, None]
        copies, classes = np.nonzero(weights)
        present = np.unique(classes)
        if len(present) < 2:  # which estimators refuse; without any reward, the first class
            only = present[0] if len(present) else 0
            function = ClassifierFunction(None, labels[[only]], codes[[only]])
        else:
            weight = weights[copies, classes]
            table = sklearn_estimators.chosen_columns(space.X, space.features)[copies]
            weight = weight * (space.total / weight.sum())
            estimator = sklearn_estimators.fitted(self.estimator, table, labels[classes], weight, random)
            function = ClassifierFunction(estimator, labels, codes, space.features)
        return Projection(function, function.predict(space.X))


def _codes(outputs: int) -> np.ndarray:
    # What a classifier may be at a row, (classes, outputs); of equals the first wins.
    if outputs == 1:
        return np.array([[1.0], [-1.0]])
    codes = np.full((outputs, outputs), -1.0 / (outputs - 1))
    np.fill_diagonal(codes, 1.0)
    return codes


def _centered(rows: np.ndarray) -> np.ndarray:
    # Codes of several outputs have mean zero: row means change no inner product, only cost digits.
    return rows - rows.mean(axis=1, keepdims=True) if rows.shape[1] > 1 else rows


def _rounding(space: Space, target: np.ndarray, centered: np.ndarray) -> float:
    """How far the stump found in fixed point may be under the best one, but for the tie tolerances."""
    outputs = centered.shape[1]
    unit = space.fixed(centered).unit
    means = 2 * outputs * np.finfo(np.float64).eps * float(np.abs(target).max()) if outputs > 1 else 0.0
    # Half a unit a row and output for the best and for the found, and sums that counted as zero; the
    # absolute values of a code add up to 1 or 2.
    return (1.0 if outputs == 1 else 2.0) * (unit * (1.0 + 3 * NOISE) + means)


def _check(estimator: Any) -> None:
    from sklearn.base import is_classifier

    advice = "try sklearn.tree.DecisionTreeClassifier(max_depth=2), or None for stumps"
    if not sklearn_estimators.is_estimator(estimator) or not is_classifier(estimator):
        raise TypeError(f"estimator must be a scikit-learn classifier, got {estimator!r}; {advice}")
    if not sklearn_estimators.weight_names(estimator):
        raise ValueError(
            f"estimator {type(estimator).__name__} does not take sample_weight in fit, which a projection "
            f"needs; {advice}"
        )
