"""Small fits that together come to every kind of collective: on a cluster where one is given, else in one place."""

import warnings
from functools import partial
from itertools import cycle, pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from distributed import wait

import anyboost as ab
from models import model_of

ROWS, PARTS = 400, 5
random = np.random.default_rng(11)
X = np.round(random.normal(size=(ROWS, 3)), 2)
X[:, 2] += random.normal(size=ROWS)  # more values than bins
Y = np.round(X[:, 0] * X[:, 1] + random.normal(size=ROWS) / 3, 3)
WEIGHTS = random.uniform(0.5, 2.0, ROWS)
GROUPS = random.integers(0, 40, ROWS)
CITY = np.where(Y + random.normal(size=ROWS) > 0, "Oslo", random.choice(["Rome", "Lima", "Bern"], ROWS))
FRAME = pd.DataFrame(X, columns=list("abc")).assign(city=CITY)
FRAME.loc[::9, "b"] = np.nan


class Layout(NamedTuple):
    """Where rows lie on a cluster: in which order, and a part for each worker, of which some may have none."""

    client: Any
    order: np.ndarray
    edges: tuple[int, ...]

    def spread(self, values):
        moved = values.iloc[self.order] if hasattr(values, "iloc") else np.asarray(values)[self.order]
        places = sorted(self.client.nthreads())
        return [
            self.client.submit(lambda part=part: part, workers=[place], pure=False)
            for place, part in zip(places, _cut(moved, self.edges), strict=True)
        ]


def _cut(values, edges):
    rows = values.iloc if hasattr(values, "iloc") else values
    return [rows[begin:end] for begin, end in pairwise(edges)]


def spread(where, values):
    """Parts dealt to the workers of a client in turn, or as a layout has them; the values where there is no cluster."""
    if where is None:
        return values
    if isinstance(where, Layout):
        return where.spread(values)
    edges = np.linspace(0, len(values), PARTS + 1).astype(int)
    return dealt(where, [partial(_itself, part) for part in _cut(values, edges)])


def dealt(client, makers):
    """What the functions make, dealt to the workers in turn; any worker makes it again where one dies.

    Which worker holds what is said and not left to the scheduler, which may give everything to one of them.
    """
    workers = sorted(client.nthreads())
    parts = [
        client.submit(make, workers=[worker], pure=False) for make, worker in zip(makers, cycle(workers))
    ]
    wait(parts)
    client.run_on_scheduler(_let_go, [part.key for part in parts])
    return parts


def _let_go(keys, dask_scheduler):
    """Have tasks done again by any worker: even `allow_other_workers` waits for the worker where all have died."""
    dask_scheduler.set_restrictions(worker=dict.fromkeys(keys))


def _itself(part):
    return part


def client_of(where):
    return where.client if isinstance(where, Layout) else where


def boost(client, y, X=X, **options):
    rows = {name: options.pop(name) for name in ("sample_weight", "groups") if name in options}
    valid = options.pop("valid", None)
    if valid is not None:
        options["valid"] = tuple(spread(client, part) for part in valid)
    rows = {name: spread(client, values) for name, values in rows.items()}
    given = spread(client, X), spread(client, y)
    if client is None:
        return ab.boost(*given, rounds=4, **rows, **options)
    return ab.dask.boost(client_of(client), *given, rounds=4, timeout=60.0, **rows, **options)


def estimator(name, client, y, X=FRAME, given=(), **parameters):
    local = getattr(ab, f"Boosting{name}")
    model = (
        local(**parameters)
        if client is None
        else getattr(ab.dask, f"DaskBoosting{name}")(**parameters, client=client_of(client))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many levels
        return model.fit(spread(client, X), spread(client, y), **{k: spread(client, own) for k, own in given})


def answer(model):
    """The bytes of a model."""
    if hasattr(model, "steps"):
        return model_of(model), model.floor(2.0)
    return model_of(SimpleNamespace(ensemble=model.ensemble_)), model.train_score_.tobytes()


def _log_cosh(score, target):
    gap = np.abs(score - target)
    return gap + np.log1p(np.exp(-2.0 * gap))


def _slope(score, target):
    return np.tanh(score - target)


LABELS = np.where(Y > 0.2, "high", np.where(Y < -0.3, "low", "middle"))
SIGNS = np.sign(Y + 0.001)
COUNTS = np.floor(np.abs(Y) * 3)
FITS = {
    "weights, draws and a set to watch": partial(
        boost,
        y=Y,
        loss="absolute",
        learner=ab.weak.Tree(6, leaf="exact", l2=0.1),
        sample_weight=WEIGHTS,
        row_fraction=0.6,
        valid=(X[:100].repeat(4, axis=0), Y[:100].repeat(4)),
        patience=3,
    ),
    "told to callbacks": partial(boost, y=Y, callbacks=(lambda step, run: False,)),
    "logistic, exact": partial(
        boost, y=np.sign(Y + 0.001), loss="logistic", learner=ab.weak.Tree(4, leaf="exact")
    ),
    "cvar": partial(boost, y=Y, loss=ab.losses.CVaR(ab.losses.Absolute(), 0.8)),
    "worst group": partial(boost, y=Y, loss=ab.losses.WorstGroup(ab.losses.Squared()), groups=GROUPS % 3),
    "ranking": partial(boost, y=np.floor(Y), loss="rank_logistic", groups=GROUPS),
    "survival": partial(boost, y=np.abs(Y) + 0.1, loss="cox"),
    "counts": partial(boost, y=np.floor(np.abs(Y) * 3), loss="poisson"),
    "huber": partial(boost, y=Y, loss="huber:0.5", learner="tree:4", sample_weight=1.0 + GROUPS % 3),
    "quantile": partial(boost, y=Y, loss="quantile:0.9", learner="tree:4", feature_fraction=0.5),
    "expectile": partial(boost, y=Y, loss="expectile:0.8", learner=ab.weak.Tree(4, leaf="exact")),
    "pointwise": partial(boost, y=Y, loss=ab.losses.pointwise(_log_cosh, _slope, smoothness=1.0)),
    "hinge": partial(boost, y=SIGNS, loss="hinge", learner="tree:4"),
    "squared hinge": partial(boost, y=SIGNS, loss="squared_hinge", learner="tree:4"),
    "exponential": partial(boost, y=SIGNS, loss="exponential", learner="tree:4"),
    "gamma": partial(boost, y=np.abs(Y) + 0.1, loss="gamma", learner="tree:4"),
    "tweedie": partial(boost, y=COUNTS, loss="tweedie:1.5", learner="tree:4"),
    "multiclass hinge": partial(boost, y=COUNTS % 3, loss="multiclass_hinge", learner="tree:4"),
    "softmax, a tree each": partial(
        boost, y=COUNTS % 3, loss="softmax", learner=ab.weak.Tree(4, outputs="each")
    ),
    "ranking by hinges": partial(boost, y=np.floor(Y), loss="rank_hinge", groups=GROUPS),
    "atoms": partial(boost, y=Y, loss="absolute", descent="hull"),
    "kept in order": partial(boost, y=Y, learner=ab.weak.Tree(6, monotone=(1, -1, 0))),
    "linear leaves": partial(boost, y=Y, learner=ab.weak.Tree(4, leaf="linear")),
    "joint quantiles": partial(
        boost, y=Y, loss=ab.losses.MultiQuantile((0.1, 0.9)) + ab.losses.Crossing(0.1)
    ),
    "several targets": partial(
        boost, y=np.column_stack([Y, Y * Y]), loss=ab.losses.Multioutput("absolute"), learner="tree:4"
    ),
    "categories": partial(boost, y=Y, X=np.column_stack([X, GROUPS % 7]), categorical=[3]),
    "a regressor": partial(
        estimator,
        "Regressor",
        y=Y,
        max_iter=20,
        early_stopping=True,
        validation_fraction=0.3,
        given=(("sample_weight", WEIGHTS),),
    ),
    "a classifier": partial(
        estimator, "Classifier", y=LABELS, max_iter=20, early_stopping=True, class_weight="balanced"
    ),
    "worst rows, by memory": partial(
        estimator, "Regressor", y=Y, max_iter=8, loss=ab.losses.CVaR("absolute", 0.3), leaf="mean", memory=0.5
    ),
    "stumps": partial(estimator, "Classifier", y=LABELS, X=FRAME[["a", "b"]], max_iter=8, learner="stump"),
    "curvature": partial(
        estimator, "Regressor", y=np.floor(np.abs(Y) * 3), loss="poisson", max_iter=8, random_state=4
    ),
    "target statistics": partial(estimator, "Regressor", y=Y, max_iter=4, categorical_encoding="target"),
    "many levels": partial(
        estimator,
        "Regressor",
        y=Y,
        X=FRAME.assign(city=[f"at {number % 300}" for number in range(ROWS)]),
        max_iter=4,
        categorical_encoding="subset",
        given=(("sample_weight", WEIGHTS),),
    ),
    "intervals": partial(estimator, "Regressor", y=Y, max_iter=4, loss=ab.losses.MultiQuantile((0.05, 0.95))),
    "a ranker": partial(estimator, "Ranker", y=np.floor(Y - Y.min()), max_iter=20, given=(("qid", GROUPS),)),
}
