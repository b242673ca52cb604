"""The estimator: from maps and the paths people took through them to costs, and paths through other maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from anyboost import checks, descent, steps, weak
from anyboost.boosting import Run, boost
from anyboost.checks import Floats
from anyboost.fitted import from_one_fit, put_in_place
from anyboost.planning import planners
from anyboost.planning.comparing import Comparison, compare, true_costs
from anyboost.planning.loss import Demonstration, PathMargin
from anyboost.planning.planners import Planner
from anyboost.planning.samples import Map, cells, check_demonstrations, check_maps, ends_of, watched_cells
from anyboost.space import Space

# Gradients are visits, spikes that no function of features follows: with memory 1 they pile up (docs/planning.md).
MEMORY = 0.7


class Prediction(NamedTuple):
    """What `MaxMarginPlanner.predict` gives.

    Attributes
    ----------
    costs : list of ndarray (rows, columns)
        A cost map for each map, inf at walls.
    paths : list
        For each map its path, or its list of paths.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> field, path = np.zeros((2, 3, 1)), [[0, 0], [0, 1], [0, 2]]
    >>> field[1] = 1.0
    >>> model = ab.MaxMarginPlanner("stump", planner="lattice", max_iter=10).fit([field], [path])
    >>> costs, paths = model.predict([field], starts=[(0, 0)], goals=[(0, 2)])
    >>> costs[0].shape, paths[0].tolist()
    ((2, 3), [[0, 0], [0, 1], [0, 2]])
    """

    costs: list[Floats]
    paths: list[Any]


class MaxMarginPlanner(BaseEstimator):
    """Learns a cost for every cell of a map from its features, such that demonstrated paths are the cheapest.

    Parameters
    ----------
    learner : str or Learner, default "net"
        A weak learner of `anyboost.weak` or its name: functions of a cell's features.
    descent : str, Descent or None, default None
        A descent of `anyboost.descent` or its name; None is residual projection with memory 0.7 and steps
        `learning_rate / (mean length of the demonstrations * sqrt(t))`.
    planner : str or Planner, default "grid"
        "grid", "lattice" (see `anyboost.planning`), or a `Planner`, also one of your own.
    tolerance : int, default 0
        Cells at most this many king's moves off a demonstration count as on it.
    learning_rate : float, default 1.0
        See `descent`; not used where that is given.
    max_iter : int, default 100
        How many rounds.
    early_stopping : bool, default False
        Stop where the loss on `valid` has not fallen for `n_iter_no_change` rounds, and keep the best.
    n_iter_no_change : int, default 10
        See `early_stopping`.
    callbacks : list of callables or None, default None
        Called as `callback(step, run)` after each round; a true answer stops the fit.
    n_jobs : int or None, default None
        How many threads, as in scikit-learn.
    random_state : int or None, default None
        Seed of what the learner draws.

    Attributes
    ----------
    ensemble_ : Ensemble
        Costs as a function of features.
    planner_ : Planner
        What plans.
    steps_ : list of Step
        One record a round.
    n_iter_ : int
        Rounds run.
    best_iteration_ : int
        The round with the lowest loss on `valid`; without it the last.
    n_features_in_ : int
        The features of a cell.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> field = np.zeros((3, 4, 1))
    >>> field[1, 1:3] = 1.0  # which the path goes around
    >>> path = [[1, 0], [0, 1], [0, 2], [1, 3]]
    >>> model = ab.MaxMarginPlanner("stump", planner="lattice", max_iter=20).fit([field], [path])
    >>> model.score([field], [path])
    1.0
    >>> model.plan([field], starts=[(1, 0)], goals=[(1, 3)])[0].tolist()
    [[1, 0], [0, 1], [0, 2], [1, 3]]
    """

    def __init__(
        self,
        learner: Any = "net",
        *,
        descent: Any = None,
        planner: Any = "grid",
        tolerance: int = 0,
        learning_rate: float = 1.0,
        max_iter: int = 100,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.descent = descent
        self.planner = planner
        self.tolerance = tolerance
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        maps: Any,
        demonstrations: Any,
        sample_weight: Any = None,
        *,
        passable: Any = None,
        valid: tuple[Any, Any] | Mapping[str, Any] | None = None,
    ) -> Self:
        """Fit to maps and paths through them.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        demonstrations : sequence
            For each map an array (length, 2) of cells, or a list of such arrays.
        sample_weight : array_like or None, default None
            One weight a demonstration, in their order.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.
        valid : tuple, mapping or None, default None
            `(maps, demonstrations)` to watch, or a mapping with "maps", "demonstrations" and maybe "passable".

        Returns
        -------
        MaxMarginPlanner
            Itself.
        """
        planner = self._checked()
        train = cells(maps, demonstrations, planner, passable=passable, sample_weight=sample_weight)
        watched = None if valid is None else watched_cells(valid, planner, train)
        if self.early_stopping and watched is None:
            raise ValueError("early_stopping needs maps to watch: pass valid=(maps, demonstrations)")
        shown = train.demonstrations + ([] if watched is None else watched.demonstrations)
        run = boost(
            train.X,
            train.y,
            PathMargin(shown, planner, self.tolerance),
            self.learner,
            self._descent(train.demonstrations),
            self.max_iter,
            valid=None if watched is None else (watched.X, watched.y),
            patience=self.n_iter_no_change if self.early_stopping else None,
            callbacks=tuple(self.callbacks or ()),
            n_threads=checks.n_threads(self.n_jobs),
            random_state=self.random_state,
        )
        put_in_place(self, self._attributes(run, planner))
        return self

    def _checked(self) -> Planner:
        """Refuse bad parameters; the planner that they ask for."""
        checks.count(self.max_iter, "max_iter", least=0)
        checks.count(self.tolerance, "tolerance", least=0)
        checks.count(self.n_iter_no_change, "n_iter_no_change", least=1)
        checks.positive(self.learning_rate, "learning_rate")
        checks.n_threads(self.n_jobs)
        weak.get(self.learner)
        if self.descent is not None:
            descent.get(self.descent)
        return planners.get(self.planner)

    def _descent(self, shown: Sequence[Demonstration]) -> descent.Descent:
        if self.descent is not None:
            return descent.get(self.descent)
        # Gradients are densities of visits, as large as paths are long: steps undo that, and are in units of cost.
        length = float(np.mean([len(found.path) for found in shown]))
        return descent.Residual(steps.InverseSqrt(self.learning_rate / length), memory=MEMORY)

    def _attributes(self, run: Run, planner: Planner) -> dict[str, Any]:
        best = run.best_round
        return {
            "ensemble_": run.best if self.early_stopping else run.ensemble,
            "planner_": planner,
            "steps_": run.steps[:],
            "n_iter_": len(run.steps),
            "best_iteration_": best,
            "n_features_in_": run.ensemble.n_features,
        }

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.target_tags.required = True
        return tags

    # --- costs and paths

    @from_one_fit
    def predict_costs(self, maps: Any, *, passable: Any = None) -> list[Floats]:
        """A cost map for each map; walls cost inf.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        list of ndarray (rows, columns)
            The costs.
        """
        return [self._cost(where) for where in self._maps(maps, passable)]

    @from_one_fit
    def predict(self, maps: Any, starts: Any, goals: Any, *, passable: Any = None) -> Prediction:
        """Cost maps, and the cheapest path of each map from its start to its goal.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        starts : sequence
            One cell a map, or several (k, 2): then the map has a list of k paths.
        goals : sequence
            As many cells as `starts` has.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        Prediction
            Costs and paths.
        """
        checked = self._maps(maps, passable)
        ends = ends_of(checked, starts, goals)
        costs = [self._cost(where) for where in checked]
        paths = [
            [self.planner_.path(cost, *pair) for pair in pairs]
            if several
            else self.planner_.path(cost, *pairs[0])
            for cost, (several, pairs) in zip(costs, ends, strict=True)
        ]
        return Prediction(costs, paths)

    def plan(self, maps: Any, starts: Any, goals: Any, *, passable: Any = None) -> list[Any]:
        """The paths of `predict`.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        starts : sequence
            One cell a map, or several (k, 2): then the map has a list of k paths.
        goals : sequence
            As many cells as `starts` has.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        list
            For each map its path (length, 2), or its list of paths.
        """
        return self.predict(maps, starts, goals, passable=passable).paths

    def _maps(self, maps: Any, passable: Any) -> list[Map]:
        check_is_fitted(self)
        return check_maps(maps, passable, self.n_features_in_)

    def _cost(self, where: Map) -> Floats:
        scores = self.ensemble_.predict(where.rows(), n_threads=checks.n_threads(self.n_jobs))
        return where.of_cells(np.maximum(scores, 1.0 + self.planner_.least_cost))  # as the loss has them

    # --- how good they are

    @from_one_fit
    def loss(self, maps: Any, demonstrations: Any, *, passable: Any = None) -> float:
        """The margin loss R on these maps.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        demonstrations : sequence
            Paths, as in `fit`.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        float
            R.
        """
        check_is_fitted(self)
        sample = cells(maps, demonstrations, self.planner_, passable=passable, n_features=self.n_features_in_)
        functional = PathMargin(sample.demonstrations, self.planner_, self.tolerance).on(
            sample.y, Space(sample.X)
        )
        return functional.value(self.ensemble_.predict(sample.X, n_threads=checks.n_threads(self.n_jobs)))

    def score(self, maps: Any, demonstrations: Any, *, passable: Any = None) -> float:
        """The share of the planned paths' cells that lie on the demonstrations (within `tolerance`): 1 is best.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        demonstrations : sequence
            Paths, as in `fit`.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        float
            The share.
        """
        return 1.0 - self.compare(maps, demonstrations, passable=passable).off_path

    @from_one_fit
    def compare(
        self, maps: Any, demonstrations: Any, costs: Any = None, *, passable: Any = None
    ) -> Comparison:
        """Planned against demonstrated paths between the same ends.

        Parameters
        ----------
        maps : sequence of array_like (rows, columns, features)
            The maps.
        demonstrations : sequence
            Paths, as in `fit`.
        costs : sequence of array_like (rows, columns) or None, default None
            Positive cost maps to take the ratio in, such as true ones. None: those of the model, and no ratio is above
            1; where its costs may be negative there is none, and `cost_ratio` is NaN.
        passable : sequence of array_like (rows, columns) or None, default None
            For each map a mask of the cells that can be entered; None: all can.

        Returns
        -------
        Comparison
            Means over the demonstrations.
        """
        checked = self._maps(maps, passable)
        shown = check_demonstrations(demonstrations, checked, self.planner_)
        own = [self._cost(where) for where in checked]
        true = own if costs is None else true_costs(costs, checked)
        off, ratio = compare(self.planner_, own, true, shown, self.tolerance)
        loss = self.loss(maps, demonstrations, passable=passable)
        return Comparison(loss, off, ratio if costs is not None or self.planner_.least_cost > 0 else np.nan)
