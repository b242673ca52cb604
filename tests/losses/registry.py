"""Every row-wise loss, with the targets it takes: a new loss is covered by adding one entry here."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from anyboost import losses
from anyboost.losses import RowwiseLoss

CLASSES = 4

REAL = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10, allow_subnormal=False))
NONNEGATIVE = st.one_of(st.integers(0, 4).map(float), st.floats(0, 10, allow_subnormal=False))
POSITIVE = st.floats(1 / 16, 10)
SIGN = st.sampled_from([-1.0, 1.0])
CLASS = st.integers(0, CLASSES - 1)


@dataclass(frozen=True)
class Case:
    """One loss; `reach` bounds the scores drawn; `polyhedral`: piecewise linear in the scores;
    `precision`: how well its best constant is determined."""

    loss: RowwiseLoss
    targets: st.SearchStrategy
    reach: float = 20.0
    polyhedral: bool = False
    precision: float = 1e-9

    @property
    def vector(self):
        return self.loss.domain.classes

    def __str__(self):
        return str(self.loss)


def log_cosh(score, target):
    gap = abs(score - target)
    return gap + np.log((1.0 + np.exp(-2.0 * gap)) / 2.0)


def tanh_slope(score, target):
    return np.tanh(score - target)


class _Opaque:
    """A NumPy function that Numba cannot compile."""

    def __init__(self, function):
        self.function = function

    def __call__(self, score, target):
        return self.function(score, target)


LOG_COSH = losses.pointwise(log_cosh, tanh_slope, name="log_cosh", smoothness=1.0, lipschitz=1.0)
WHOLE_ARRAYS = losses.pointwise(
    _Opaque(log_cosh), _Opaque(tanh_slope), name="log_cosh_arrays", smoothness=1.0, lipschitz=1.0
)

CASES = [
    Case(losses.Squared(), REAL),
    Case(losses.Absolute(), REAL, polyhedral=True),
    Case(losses.Quantile(), REAL, polyhedral=True),
    Case(losses.Quantile(0.9), REAL, polyhedral=True),
    Case(losses.Quantile(0.25), REAL, polyhedral=True),
    Case(losses.Huber(), REAL),
    Case(losses.Huber(0.25), REAL),
    Case(losses.Expectile(), REAL),
    Case(losses.Expectile(0.1), REAL),
    Case(losses.Poisson(), NONNEGATIVE, reach=8.0),
    Case(losses.Gamma(), POSITIVE, reach=8.0),
    Case(losses.Tweedie(), NONNEGATIVE, reach=8.0),
    Case(losses.Tweedie(1.9), NONNEGATIVE, reach=8.0),
    Case(losses.Logistic(), SIGN),
    Case(losses.Hinge(), SIGN, polyhedral=True),
    Case(losses.SquaredHinge(), SIGN),
    Case(losses.Exponential(), SIGN, reach=8.0),
    Case(losses.Softmax(), CLASS),
    Case(losses.MulticlassHinge(), CLASS, polyhedral=True),
    Case(2 * losses.Hinge(), SIGN, polyhedral=True),
    Case(0.5 * losses.Absolute() + losses.Squared(), REAL),
    Case(losses.Absolute() + 2 * losses.Quantile(0.75), REAL, polyhedral=True),
    Case(2.0 * losses.Logistic() + losses.Hinge(), SIGN),
    Case(losses.Poisson() + losses.Squared(), NONNEGATIVE, reach=8.0),
    Case(losses.Softmax() + 0.5 * losses.MulticlassHinge(), CLASS, precision=1e-5),
    Case(LOG_COSH, REAL),
    Case(WHOLE_ARRAYS, REAL),
]
SCALAR = [case for case in CASES if not case.vector]
VECTOR = [case for case in CASES if case.vector]


def targets(case, n):
    """A strategy of `n` checked targets."""
    return st.lists(case.targets, min_size=n, max_size=n).map(case.loss.check)


def scores(case, n, grid=False):
    """A strategy of finite scores, (n,) or (n, CLASSES); on halves where `grid`."""
    reach = min(case.reach, 4) if grid else case.reach
    one = st.integers(int(-2 * reach), int(2 * reach)).map(lambda i: i / 2)
    one = one if grid else st.one_of(one, st.floats(-reach, reach))
    shape = (n, CLASSES) if case.vector else (n,)
    size = int(np.prod(shape))
    return st.lists(one, min_size=size, max_size=size).map(lambda v: np.array(v, float).reshape(shape))


def weights(n, least=0):
    """A strategy of whole-number weights, at least one of them positive."""
    return (
        st.lists(st.integers(least, 3), min_size=n, max_size=n)
        .map(lambda v: np.array(v, float))
        .filter(lambda w: w.max() > 0)
    )


def sample(case, n):
    """A strategy of targets and weights for which a best constant exists: every class, not only zeros."""
    first = {SIGN: [-1.0, 1.0], CLASS: list(range(CLASSES)), NONNEGATIVE: [1.0]}.get(case.targets, [])
    rest = st.lists(case.targets, min_size=n - len(first), max_size=n - len(first))
    heavier = np.arange(n) < len(first)
    return st.tuples(rest.map(lambda y: case.loss.check(first + y)), weights(n).map(lambda w: w + heavier))


def best_constant(case, y, w=None):
    return case.loss.best_constant(y, w, CLASSES if case.vector else None)


def constant_scores(constant, n):
    return np.tile(constant, (n, 1)) if np.ndim(constant) else np.full(n, constant)


def constant_loss(case, constant, y, w=None):
    return case.loss.value(constant_scores(constant, len(y)), y, w)


class Halfway(losses.Absolute):
    """Its steps are its own: half of the exact ones."""

    def best_shifts(self, scores, y, weights, leaf, n_leaves, directions=None):
        return 0.5 * super().best_shifts(scores, y, weights, leaf, n_leaves, directions)

    def best_constant(self, y, sample_weight=None, outputs=None):
        return 0.5 * super().best_constant(y, sample_weight, outputs)
