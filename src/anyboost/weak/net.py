"""Small neural networks: one layer of tanh units, fitted by least squares with L-BFGS.

    h(x) = sum_j u_j tanh(<v_j, x> + b_j) + u_0

    project: from random v and b, argmin of ||target - h||^2 / variance of target + penalty (|u|^2 + |v|^2)

with v in units of standardized columns and u in those of the target's deviation. This is a local minimum, as near as
`max_iter` iterations come to one.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from anyboost import checks
from anyboost.backends.arrays import as_scores
from anyboost.space import Space
from anyboost.weak.hypotheses import AsOne, Joined
from anyboost.weak.learner import Learner, Support, Takes, safe_support
from anyboost.weak.projections import Projection
from anyboost.weak.standard import Standardized, drawn

_TOLERANCE = 1e-6  # relative fall of the objective under which an iteration was the last
_FIRST_PENALTY = 1e-2  # of the output weights that the search starts from: random units may be nearly alike


@dataclass(frozen=True, eq=False)
class NetFunction(AsOne):
    """x -> output tanh(hidden x + bias) + constant, with hidden (units, d) and output (k, units)."""

    hidden: np.ndarray
    bias: np.ndarray
    output: np.ndarray
    constant: np.ndarray
    sparse: ClassVar[bool] = True  # whether `predict` takes a sparse matrix

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        units = np.tanh(np.asarray(X @ self.hidden.T) + self.bias)
        values = units @ self.output.T + self.constant
        return as_scores(values)

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        """The sum of coefficient times net as one wide net."""
        joint = cls(
            np.concatenate([part.hidden for part in parts]),
            np.concatenate([part.bias for part in parts]),
            np.concatenate([c * part.output for c, part in zip(coefficients, parts, strict=True)], axis=1),
            np.sum([c * part.constant for c, part in zip(coefficients, parts, strict=True)], axis=0),
        )

        def add(X: np.ndarray, out: np.ndarray, _n_threads: int) -> None:
            checks.finite_table(X, "X")
            at_once = max(1, 2**20 // len(joint.bias))  # rows whose units fit into a cache
            for first in range(0, X.shape[0], at_once):
                some = slice(first, first + at_once)
                out[some] += joint.predict(X[some]).reshape(out[some].shape)

        return add


@dataclass(frozen=True)
class Net(Learner):
    """Networks of one layer of tanh units, fitted by L-BFGS.

    Each fit starts from random weights, which `boost` draws by its `random_state`.

    Parameters
    ----------
    hidden : int, default 5
        How many units.
    penalty : float, default 0.0001
        Keeps the weights from growing without end; see the module.
    max_iter : int, default 100
        The most iterations of a fit.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 30)[:, None]
    >>> run = ab.boost(X, np.sin(X[:, 0]), "squared", ab.weak.Net(3), rounds=5)
    >>> run.steps[-1].loss < run.start_loss
    True
    """

    hidden: int = 5
    penalty: float = 1e-4
    max_iter: int = 100

    def __post_init__(self) -> None:
        checks.count(self.hidden, "hidden", least=1)
        checks.not_negative(self.penalty, "penalty")
        checks.count(self.max_iter, "max_iter", least=1)

    @property
    def takes(self) -> Takes:
        """What it can do with a sample."""
        return Takes(missing=False, sparse=True, categories=False, atoms=False)

    @property
    def draws(self) -> bool:
        """Whether `project` takes random numbers."""
        return True

    def project(self, space: Space, target: np.ndarray) -> Projection:
        """A net near `target`: the minimum that the search finds from where the space's random numbers put it.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection
            h on the sample.
        """
        features = space.features
        X, T, weights = drawn(space, np.ascontiguousarray(target.reshape(space.n, -1).T))
        if space.drawn is None and features is None:
            table = Standardized.of(space)
        else:
            table = Standardized(X if features is None else X[:, features], weights)
        fitted = _Search(table, weights, T, self).run(space.random())
        if features is not None:
            hidden = np.zeros((self.hidden, space.X.shape[1]))
            hidden[:, features] = fitted.hidden
            fitted = NetFunction(hidden, fitted.bias, fitted.output, fitted.constant)
        return Projection(fitted, fitted.predict(space.X).reshape(target.shape))

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """The bound sum w |target|, which no function with |h| <= 1 exceeds, and what a net was found to reach.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to fit a net, to see what is reached.

        Returns
        -------
        Support
            Both bounds.
        """
        return safe_support(self, space, target, search)


class _Search:
    """The objective of one fit, and the way down it. Units and outputs lie in rows: (units, n), (k, n)."""

    def __init__(self, table: Standardized, weights: np.ndarray, T: np.ndarray, net: Net) -> None:
        self.table, self.weights, self.net = table, weights, net
        self.mean = T @ weights
        T = T - self.mean[:, None]
        self.length = float(np.sqrt(((T * T) @ weights).sum())) or 1.0
        self.T = T / self.length
        m, k, d = net.hidden, len(T), table.d
        self.shapes = ((m, d), (m,), (k, m), (k,))

    def run(self, random: np.random.Generator) -> NetFunction:
        from scipy.optimize import minimize

        options = {"maxiter": self.net.max_iter, "ftol": _TOLERANCE, "gtol": 1e-8}
        found = minimize(self.look, self._begin(random), jac=True, method="L-BFGS-B", options=options)
        hidden, bias, output, constant = self._parts(found.x)
        weights, shift = self.table.unfold(hidden)
        return NetFunction(weights, bias + shift, output * self.length, constant * self.length + self.mean)

    def _begin(self, random: np.random.Generator) -> np.ndarray:
        """Random units, and the outputs that suit them."""
        m, d = self.shapes[0]
        most = np.sqrt(6.0 / (m + d))
        hidden, bias = random.uniform(-most, most, (m, d)), random.uniform(-most, most, m)
        units = np.tanh(self.table.values(hidden) + bias[:, None])
        mean = units @ self.weights
        weighted = (units - mean[:, None]) * self.weights
        output = np.linalg.solve(weighted @ units.T + _FIRST_PENALTY * np.eye(m), weighted @ self.T.T).T
        return np.concatenate([hidden.ravel(), bias, output.ravel(), -(output @ mean)])

    def _parts(self, point: np.ndarray) -> list[Any]:
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        return [part.reshape(s) for part, s in zip(np.split(point, ends), self.shapes, strict=True)]

    def look(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Half the objective, and its gradient."""
        hidden, bias, output, constant = self._parts(point)
        penalty = self.net.penalty
        units = self.table.values(hidden)
        units += bias[:, None]
        np.tanh(units, out=units)
        error = output @ units
        error += constant[:, None] - self.T
        weighted = error * self.weights
        value = np.vdot(weighted, error) + penalty * (np.vdot(hidden, hidden) + np.vdot(output, output))
        by_output = weighted @ units.T + penalty * output
        by_units = output.T @ weighted
        np.multiply(units, units, out=units)
        np.subtract(1.0, units, out=units)
        by_units *= units
        by_hidden = self.table.sums(by_units) + penalty * hidden
        parts = [by_hidden.ravel(), by_units.sum(axis=1), by_output.ravel(), weighted.sum(axis=1)]
        return 0.5 * float(value), np.concatenate(parts)
