"""`MirrorAverager`: weights of M forecasts by stochastic mirror descent with averaging (Juditsky and others, 2005).

theta_i = argmin over Theta of <sum of subgradients so far, theta> + beta_i V(theta)
weights after m rows = (theta_0 + ... + theta_m)/(m + 1),     theta_0 = argmin V
"""

import math
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses import Loss
from anyboost.mirror import domains, proxies, schedules, slopes, uncompiled
from anyboost.mirror.combining import Combining
from anyboost.mirror.domains import Domain, Simplex
from anyboost.mirror.proxies import Proxy, ProxyShape
from anyboost.mirror.schedules import Schedule
from anyboost.mirror.state import (
    FORECAST,
    HEAVY,
    LABEL,
    LAPSE,
    NUMBERS,
    SLOPE,
    UNKNOWN,
    AveragerSettings,
    AveragerState,
)

MOST_WEIGHT = 1e6


class MirrorAverager(Combining):
    """Combine M forecasts of a stream, row by row, in O(M) memory.

    A forecast of NaN means that the expert sleeps: its weight is shared out for this row, and it is judged as if it
    had forecast what the others did together (on the simplex) or 0 (elsewhere).

    Parameters
    ----------
    loss : str or Loss, default "squared"
        A row-wise loss of `anyboost.losses` or its name. A loss of K outputs takes forecasts (n, M, K).
    proxy : str or Proxy, default "entropy"
        What keeps weights from jumping: "entropy", "p_norm" or "power_divergence", or an object.
    domain : str or Domain, default "simplex"
        The set of weights: "simplex", "solid_simplex" or "octahedron", its radius after a colon, or an object.
    schedule : str or Schedule, default "anytime"
        How fast weights may move: a name, its parameters after a colon ("fixed_share:0.5,0.01"), or an object.
    lipschitz : float, str or None, default None
        L, the longest subgradient (sup norm) that counts in full; a longer one is scaled down to it, so
        that no single row can take over. "running" measures subgradients in units of ten times their running median
        instead. None: L follows from the bounds where they are given, and is 1 where they are not.
    output_bound : float or None, default None
        What |forecasts| do not exceed; one that does ends `bound`.
    label_bound : float or None, default None
        What |y| does not exceed; a label that does ends `bound`.
    average : bool or None, default None
        Whether to predict with the average of all weights so far (12) or the last ones; None: the schedule's own way.

    Attributes
    ----------
    weights_ : ndarray (M,)
        What `predict` weights the forecasts with.
    last_weights_ : ndarray (M,)
        theta after the last row, at which the next subgradient is taken.
    n_rows_ : float
        The weight of all rows so far.
    n_experts_ : int
        M.
    no_bound_ : str or None
        Why `bound` is infinite; None where it is not.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> y = np.sin(np.arange(200.0))
    >>> forecasts = np.column_stack([y + 0.1, -y])
    >>> averager = ab.mirror.MirrorAverager("squared").partial_fit(forecasts, y)
    >>> int(averager.weights_.argmax()), averager.predict(forecasts[:3]).shape
    (0, (3,))
    """

    def __init__(
        self,
        loss: str | Loss = "squared",
        proxy: str | Proxy = "entropy",
        domain: str | Domain = "simplex",
        schedule: str | Schedule = "anytime",
        *,
        lipschitz: float | str | None = None,
        output_bound: float | None = None,
        label_bound: float | None = None,
        average: bool | None = None,
    ) -> None:
        self.loss = slopes.get(loss)
        self.proxy, self.domain = proxies.get(proxy), domains.get(domain)
        self.schedule = schedules.get(schedule)
        self.proxy.check(self.domain)
        self.schedule.check(self.proxy)
        self.output_bound = None if output_bound is None else checks.positive(output_bound, "output_bound")
        self.label_bound = None if label_bound is None else checks.positive(label_bound, "label_bound")
        self.lipschitz = self._longest(lipschitz)
        self.average = self.schedule.averages if average is None else bool(average)
        self._terms = slopes.terms(self.loss)
        self._state: AveragerState | None = None

    def __repr__(self) -> str:
        rules = f"proxy={self.proxy!r}, domain={self.domain!r}, schedule={self.schedule!r}"
        return f"MirrorAverager(loss={str(self.loss)!r}, {rules})"

    def _longest(self, given: float | str | None) -> float:
        """L, or 0 for a running scale."""
        bounded = self.output_bound is not None or self.label_bound is not None
        if isinstance(given, str):
            checks.choice(given, "lipschitz", ("running",))
        if given is not None and bounded:
            raise ValueError(f"lipschitz is {given!r} and a bound is given too: leave one of them out")
        if given is not None:
            return 0.0 if isinstance(given, str) else checks.positive(given, "lipschitz")
        if not bounded:
            return 1.0
        if self.output_bound is None:
            raise ValueError("label_bound needs output_bound: L is a bound on forecast times slope")
        return slopes.lipschitz(self.loss, self.output_bound, self.label_bound, self.domain.radius)

    # What it has learned ------------------------------------------------------------------------------------------

    @property
    def weights_(self) -> Floats:
        """(M,): what `predict` weights the forecasts with."""
        state = self._started()
        return self._mean(state) if self.average else state.theta.copy()

    @property
    def last_weights_(self) -> Floats:
        """(M,): theta after the last row, at which the next subgradient is taken."""
        return self._started().theta.copy()

    @property
    def started(self) -> bool:
        """Whether the number of experts is known."""
        return self._state is not None

    @property
    def n_rows_(self) -> float:
        """The weight of all rows so far."""
        return 0.0 if self._state is None else float(self._state.numbers["clock"][0])

    @property
    def n_experts_(self) -> int:
        """M."""
        return len(self._started().theta)

    @property
    def no_bound_(self) -> str | None:
        """Why `bound` is infinite; None where it is not."""
        if not self.average:
            return "predictions do not average weights, and the theorems are about average=True"
        if self.lipschitz == 0:
            return "lipschitz is 'running', and the theorems need a number"
        if type(self.schedule).bound is Schedule.bound:
            return f"nothing is proved for the schedule {self.schedule!r}"
        return None if self._state is None else self._why_no_longer(self._state.lapse[0])

    def _why_no_longer(self, lapse: np.void) -> str | None:
        """What the averager has met that the theorems do not allow."""
        since, value = f"no bound since row {lapse['row']:.0f}", lapse["value"]
        return {
            FORECAST: f"{since}, with a forecast of size {value:g}, beyond output_bound={self.output_bound}",
            LABEL: f"{since}, whose label {value:g} is beyond label_bound={self.label_bound}",
            SLOPE: f"{since}, with a subgradient of length {value:g}, beyond L={self.lipschitz:g}",
            HEAVY: f"{since}, which weighs {value:g}: the theorems are about independent rows, and weight 2 is one row "
            "twice",
            UNKNOWN: "the model is of an older file, which does not tell whether forecasts, labels, subgradients and "
            "weights were within their bounds",
        }.get(int(lapse["cause"]))

    def bound(self, rows: int | None = None) -> float:
        """The theorem's bound on the expected excess loss over the best weights, for forecast number `rows`.

        It is about independent rows, and holds in the mean over streams. inf where nothing is proved, or no longer:
        `no_bound_` says why.

        Parameters
        ----------
        rows : int or None, default None
            The number of the forecast; None: the next.

        Returns
        -------
        float
            The bound.
        """
        t = math.floor(self.n_rows_) + 1 if rows is None else checks.count(rows, "rows", least=1)
        if self.no_bound_ is not None:
            return math.inf
        return self.schedule.bound(t, self.lipschitz, self._shape(self.n_experts_))

    # Learning and predicting --------------------------------------------------------------------------------------

    def start(self, n_experts: int) -> "MirrorAverager":
        """Fix the number of experts before the first row; weights_ is then argmin V.

        Parameters
        ----------
        n_experts : int
            M.

        Returns
        -------
        MirrorAverager
            Itself.
        """
        count = checks.count(n_experts, "n_experts", least=1)
        if self._state is not None:
            raise ValueError(f"n_experts is {self.n_experts_} already: use join for experts that come later")
        self._state = self._fresh(count)
        return self

    def predict_then_fit(self, forecasts: Any, y: Any, sample_weight: Any = None) -> Floats:
        targets = self.loss.check(y)
        table = self._check_forecasts(forecasts, len(targets))
        weights = step_weights(sample_weight, len(targets))
        if table.ndim == 3:
            self.loss._fitting_outputs(targets, table.shape[2])
        state = self._fresh(table.shape[1]) if self._state is None else self._state
        if self._terms is None:
            state = state.copy()  # a user's loss may raise in the middle of a batch
            settings = AveragerSettings.of(self, table.shape[1])
            scores = uncompiled.learn(self.loss, table, targets, weights, settings, state)
        else:
            scores = self._learn(table, targets.astype(np.float64), weights, state)
        self._state = state
        return scores

    def predict(self, forecasts: Any) -> Floats:
        """Combined scores. Before any row: by theta_0.

        Parameters
        ----------
        forecasts : array_like (n, M) or (n, M, K)
            What each expert says of each row, NaN where it sleeps.

        Returns
        -------
        ndarray (n,) or (n, K)
            Raw scores.
        """
        table = self._check_forecasts(forecasts)
        state = self._fresh(table.shape[1]) if self._state is None else self._state
        return combine(self._mean(state) if self.average else state.theta, table, self.domain)

    def join(self, count: int = 1) -> "MirrorAverager":
        """Let `count` more experts in, as the last columns from now on: as if they had slept so far.

        (One who sleeps from the first row on, with NaN forecasts, comes to the same but for the number of experts in
        the rates.) In the average they count from now on.

        Parameters
        ----------
        count : int, default 1
            How many.

        Returns
        -------
        MirrorAverager
            Itself.
        """
        more = checks.count(count, "count", least=1)
        old = self._started()
        if self.schedule.by_vertex:
            raise ValueError(
                f"{type(self.schedule).__name__} cannot let experts join: give them a column of NaN from the start"
            )
        state = self._fresh(len(old.theta) + more)
        state.numbers[:], state.lapse[:] = old.numbers, old.lapse
        numbers = old.numbers[0]
        asleep = numbers["sleeper"] if isinstance(self.domain, Simplex) else 0.0
        state.memory[0] = np.concatenate([old.memory[0], np.full(more, asleep)])
        state.total[: len(old.theta)] = old.total
        if numbers["beta"] > 0:
            state.theta[:] = self.proxy.argmin(state.memory[0], numbers["beta"], self.domain)
        self._state = state
        return self

    # ----------------------------------------------------------------------------------------------------------------

    def _started(self) -> AveragerState:
        if self._state is None:
            raise AttributeError(
                "the averager has seen no row: call partial_fit, or start(n_experts), before asking for weights"
            )
        return self._state

    def _shape(self, count: int) -> ProxyShape:
        return self.proxy.shape(count, self.domain)

    def _fresh(self, count: int) -> AveragerState:
        """theta_0 = argmin V, and nothing remembered."""
        rule = self.schedule
        length = self.domain.vertices(count) if rule.by_vertex else count
        theta = self.proxy.argmin(np.zeros(count), 1.0, self.domain)
        memory = np.zeros((rule.arrays, length))
        return AveragerState(memory, theta, np.zeros(count), np.zeros(1, NUMBERS), np.zeros(1, LAPSE))

    def _mean(self, state: AveragerState) -> Floats:
        return self.domain.put_back((state.total + state.theta) / (state.numbers["clock"] + 1.0))

    def _learn(self, table: Floats, y: Floats, weights: Floats, state: AveragerState) -> Floats:
        from anyboost.mirror import learning

        table = np.require(table, requirements="W")  # kernels are compiled for memory that can be written
        learn = learning.learn if table.ndim == 2 else learning.learn_outputs
        scores = np.empty((len(y), *table.shape[2:]))
        learn(
            table,
            y,
            weights,
            self._terms,
            tuple(AveragerSettings.of(self, table.shape[1])),
            tuple(state),
            scores,
        )
        return scores

    def _check_forecasts(self, forecasts: Any, n_rows: int | None = None) -> Floats:
        """(n, M) or (n, M, K) numbers; NaN where an expert sleeps, but one awake in every row."""
        table = checks.numbers(forecasts, "forecasts")
        wanted = (
            "(n, M, K): n rows, M experts, K outputs" if self.loss.vector else "(n, M): n rows, M experts"
        )
        if table.ndim != 2 + self.loss.vector or 0 in table.shape:
            raise ValueError(
                f"forecasts must have the shape {wanted} for the loss {self.loss.name}, got {table.shape}"
            )
        if n_rows is not None and len(table) != n_rows:
            raise ValueError(f"forecasts must have one row for each y, got {len(table)} rows for {n_rows}")
        if self._state is not None and table.shape[1] != self.n_experts_:
            raise ValueError(
                f"forecasts must have the {self.n_experts_} experts of earlier rows, got {table.shape[1]}: "
                "call join first for experts that come late"
            )
        if not np.isfinite(table).all():
            _check_sleepers(table)
        return table


def step_weights(sample_weight: Any, n: int) -> Floats:
    """The weights of rows, each of which is so many steps."""
    weights = checks.sample_weight(sample_weight, n)
    if weights.max() > MOST_WEIGHT:
        raise ValueError(
            f"sample_weight must be at most {MOST_WEIGHT:g}, got {weights.max():g}: a weight of w takes w "
            "steps, so divide all weights by a number"
        )
    return weights


def _check_sleepers(table: Floats) -> None:
    infinite = np.isinf(table)
    if infinite.any():
        row = int(np.argwhere(infinite)[0][0])
        raise ValueError(
            f"forecasts must be finite, or NaN where an expert sleeps, got {table[row][infinite[row]][0]} at row {row}"
        )
    asleep = _asleep(table)
    if asleep.all(axis=1).any():
        row = int(np.argmax(asleep.all(axis=1)))
        raise ValueError(f"forecasts has no number at row {row}: drop a row in which every expert sleeps")


def _asleep(table: Floats) -> np.ndarray:
    """(n, M): whether an expert has no forecast for a row; of several numbers one missing is enough."""
    return np.asarray(np.isnan(table).reshape(*table.shape[:2], -1).any(axis=2))


def combine(weights: Floats, table: Floats, domain: Domain) -> Floats:
    """Weighted sums of forecasts (n, M) or (n, M, K); those who sleep leave their weight to the others."""
    shares = weights[None]
    if not np.isfinite(table).all():
        asleep = _asleep(table)
        table = np.where(asleep if table.ndim == 2 else asleep[..., None], 0.0, table)
        if isinstance(domain, Simplex):
            shares = np.where(asleep, 0.0, weights)
            lost = shares.sum(axis=1) <= 0  # all the weight is with sleepers: those awake count the same
            shares[lost] = ~asleep[lost]
            shares *= domain.radius / shares.sum(axis=1, keepdims=True)
    return weighted_sums(table, shares)


def weighted_sums(table: Floats, shares: Floats) -> Floats:
    """sum_m shares[n, m] table[n, m], for each of K outputs, the same bits wherever the arrays lie in memory."""
    from anyboost.mirror import learning

    if table.ndim == 3:
        columns = [weighted_sums(np.ascontiguousarray(table[:, :, k]), shares) for k in range(table.shape[2])]
        return np.stack(columns, axis=1)
    out = np.empty(len(table))
    learning.weighted_sums(table, np.ascontiguousarray(shares), out)
    return out
