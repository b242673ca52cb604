"""Learning that is interrupted, fails, or goes on in another process: the model stays whole."""

import multiprocessing
import os
import pickle

import numpy as np
import pytest

import anyboost as ab
from anyboost.streams.experts import NumberChain, Refitted

REGRESSOR, CLASSIFIER = ab.OnlineBoostingRegressor, ab.OnlineBoostingClassifier


def rows_with_late_names(n=120):
    """New names at rows 31 and 81."""
    rows = [{"a": float(i % 5), "b": float(i % 3)} for i in range(n)]
    for i, x in enumerate(rows):
        x.update({f"new{j}": 1.0 for j in range(10)} if i > 30 else {})
        x.update({f"last{j}": 1.0 for j in range(10)} if i > 80 else {})
    return rows


def stopping(monkeypatch, error, at):
    """Have the fit of this number raise `error`."""
    fitted, count = Refitted.fitted, [0]

    def fit(*given):
        count[0] += 1
        if count[0] == at:
            raise error
        return fitted(*given)

    monkeypatch.setattr(Refitted, "fitted", fit)


def learn(model, rows, y, one_by_one):
    if not one_by_one:
        model.learn_many(rows, y)
    else:
        for x, label in zip(rows, y, strict=True):
            model.learn_one(x, label)


def bytes_of(model, path):
    ab.save(model, path / "model")
    return (path / "model").read_bytes()


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_an_interrupted_refit_is_made_up_for(monkeypatch, tmp_path, make, one_by_one):
    """Ctrl-C in a long refit: the rows so far are learnt under their names, and who goes on ends the same."""
    rows, y = rows_with_late_names(), np.arange(120) % 3.0
    whole = make()
    whole.learn_many(rows, y)
    stopping(monkeypatch, KeyboardInterrupt(), 2)
    model = make()
    with pytest.raises(KeyboardInterrupt):
        learn(model, rows, y, one_by_one)
    learnt = model.regret().rows
    assert 31 < learnt < 81
    assert len(model.features_.names) == 12
    before = bytes_of(model, tmp_path)
    for again in (ab.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), model):
        assert bytes_of(again, tmp_path) == before
        again.learn_many(rows[learnt:], y[learnt:])
        assert bytes_of(again, tmp_path) == bytes_of(whole, tmp_path)


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize("refit", ["inline", "background"])
def test_a_refit_that_fails_says_so_once(monkeypatch, tmp_path, make, one_by_one, refit):
    rows, y = rows_with_late_names(), np.arange(120) % 3.0
    stopping(monkeypatch, MemoryError("no room"), 2)
    model, failures = make(refit=refit), 0
    model.learn_one(rows[0], y[0])
    while (learnt := model.regret().rows) < 120:
        try:
            if one_by_one:
                model.learn_one(rows[learnt], y[learnt])
            else:
                model.learn_many(rows[learnt:], y[learnt:])
        except MemoryError:
            failures += 1
            assert failures == 1
    assert failures == 1
    assert all(each.pending is None or each.pending.row > 120 for each in model._team().refitted)
    assert model._team().refitted[0].model is not None
    bytes_of(model, tmp_path)
    assert ab.load(tmp_path / "model").regret() == model.regret()


def test_names_of_rows_that_were_learnt_keep_their_columns(monkeypatch):
    """An error in the middle of a row, which some experts have learnt: else the next name has its column."""
    learn_row = NumberChain.learn_row

    def fail(self, columns, *given):
        if self.name == "tree" and 0 in columns and given[-2] == 3.0:
            raise MemoryError
        return learn_row(self, columns, *given)

    monkeypatch.setattr(NumberChain, "learn_row", fail)
    model = REGRESSOR()
    for i in range(30):
        model.learn_one({"a": float(i % 5)}, 1.0)
    for names in (["a", "b"], ["a", "b", "c"]):
        with pytest.raises(MemoryError):
            model.learn_one(dict.fromkeys(names, 2.0), 3.0)
        assert model.features_.names == names
    with pytest.raises(ValueError, match="must"):
        model.learn_one({"a": 1.0, "d": np.inf}, 1.0)
    assert model.features_.names == ["a", "b", "c"]


class Interrupting(dict):
    def items(self):
        raise KeyboardInterrupt


def test_names_of_a_call_that_was_interrupted_before_its_first_row_are_forgotten():
    """Else the names of a long list have columns that no loop would give them."""
    model = REGRESSOR()
    model.learn_one({"b": 1.0}, 1.0)
    with pytest.raises(KeyboardInterrupt):
        model.learn_many([{"z": 1.0}, Interrupting(a=1.0)], [1.0, 1.0])
    assert model.features_.names == ["b"]


class Mean:
    def __init__(self):
        self.answer, self.rows = 0.0, 0

    def predict(self, x):
        return self.answer

    def learn(self, x, target, weight):
        self.rows += 1
        if self.rows == 4:
            raise ArithmeticError
        self.answer += 0.1 * weight * (target - self.answer)


class Means:
    def start(self, n_features, outputs):
        return Mean()


def test_what_a_learner_of_ones_own_learnt_before_its_error_keeps_its_name():
    model = ab.online.SpanBooster(Means(), n_learners=1)
    rows = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}, {"d": 1.0}, {"e": 1.0}, {"f": 1.0}]
    with pytest.raises(ArithmeticError):
        model.learn_many(rows, np.ones(6), [1, 1, 0, 1, 1, 1])
    assert model.features.names == list("abcde")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_refits_of_the_background_go_on_after_a_fork():
    """A server that forks its workers after learning: else they wait for ever for a thread that they have not."""
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 3))
    y = X[:, 0] * X[:, 1]
    whole = REGRESSOR(refit="background").partial_fit(X, y).predict(X)
    model = REGRESSOR(refit="background").partial_fit(X[:503], y[:503])
    assert any(each.pending is not None for each in model._team().refitted)
    here, there = multiprocessing.get_context("fork").Pipe(False)
    child = os.fork()
    if not child:
        there.send((model.partial_fit(X[503:], y[503:]).predict(X) == whole).all())
        os._exit(0)
    answered = here.poll(60)
    if not answered:
        os.kill(child, 9)
    os.waitpid(child, 0)
    assert answered
    assert here.recv()
    assert (model.partial_fit(X[503:], y[503:]).predict(X) == whole).all()
