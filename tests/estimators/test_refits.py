"""An estimator that is fitted anew while others use it answers by the old model or by the new one, not by both."""

import copy
import io
import pickle
import sys
import threading

import numpy as np
import pytest

import anyboost as ab
from anyboost.estimators.predicting import Predicting
from anyboost.mirror import pool

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + 0.5 * X[:, 1]
SMALL = {"max_iter": 3, "max_leaf_nodes": 3, "min_leaf_weight": 1.0, "random_state": 0}
NOT_READERS = {"fit", "get_params", "set_params", "get_metadata_routing", "set_callbacks"}


def classes(count, first):
    return first + np.digitize(NUMBERS, np.quantile(NUMBERS, np.arange(1, count) / count))


def regressor():
    model = ab.BoostingRegressor("multi_quantile:0.1,0.5,0.9", conformal="split", **SMALL)
    return model, lambda: model.fit(X, NUMBERS), lambda: model.fit(X[:, :2], 100.0 + 7.0 * NUMBERS)


def survival():
    model = ab.BoostingRegressor("cox", **SMALL)
    times = np.exp(NUMBERS)
    return model, lambda: model.fit(X, times), lambda: model.fit(X[:, :2], 5.0 + times[::-1])


def classifier():
    model = ab.BoostingClassifier(calibration="isotonic", **SMALL)
    return model, lambda: model.fit(X, classes(5, 0)), lambda: model.fit(X[:, :2], classes(2, 100))


def ranker():
    model, query = ab.BoostingRanker(**SMALL), np.arange(60) // 6
    grades = classes(3, 0)
    return model, lambda: model.fit(X, grades, qid=query), lambda: model.fit(X[:, :2], 2 - grades, qid=query)


def plain():
    model = ab.BoostingRegressor(**SMALL)
    return model, lambda: model.fit(X, NUMBERS), lambda: model.fit(X[:, :2], 100.0 + 7.0 * NUMBERS)


READS = {
    "predict": lambda model: model.predict(X),
    "staged_predict": lambda model: list(model.staged_predict(X)),
    "decision_function": lambda model: model.decision_function(X),
    "staged_decision_function": lambda model: list(model.staged_decision_function(X)),
    "predict_proba": lambda model: model.predict_proba(X),
    "predict_log_proba": lambda model: model.predict_log_proba(X),
    "staged_predict_proba": lambda model: list(model.staged_predict_proba(X)),
    "predict_survival": lambda model: model.predict_survival(X),
    "predict_quantiles": lambda model: model.predict_quantiles(X, [0.2, 0.8]),
    "predict_interval": lambda model: model.predict_interval(X, 0.5),
    "apply": lambda model: model.apply(X),
    "shap_values": lambda model: model.shap_values(X),
    "explanation": lambda model: model.explanation(X).base_values,
    "shap_interaction_values": lambda model: model.shap_interaction_values(X),
    "importances": lambda model: model.importances("shap", X),
}
OF = {
    regressor: ("predict", "staged_predict", "predict_quantiles", "predict_interval"),
    survival: ("predict_survival",),
    classifier: (
        *("predict", "staged_predict", "predict_proba", "predict_log_proba", "staged_predict_proba"),
        *("decision_function", "staged_decision_function"),
    ),
    ranker: ("predict", "staged_predict"),
    plain: ("predict", "apply", "shap_values", "explanation", "shap_interaction_values", "importances"),
}


@pytest.mark.parametrize(("made", "name"), [(made, name) for made, names in OF.items() for name in names])
def test_a_method_answers_by_one_model_where_another_fit_ends_within_it(monkeypatch, made, name):
    model, first, second = made()
    first()
    before = READS[name](model)
    read = Predicting._table

    def fitted_meanwhile(self, table):
        found = read(self, table)
        monkeypatch.setattr(Predicting, "_table", read)
        second()
        return found

    monkeypatch.setattr(Predicting, "_table", fitted_meanwhile)
    np.testing.assert_array_equal(READS[name](model), before)
    assert model.n_features_in_ == 2  # the other fit has ended


@pytest.mark.parametrize("kind", [ab.BoostingRegressor, ab.BoostingClassifier, ab.BoostingRanker])
def test_every_public_method_reads_one_fit(kind):
    """A method that is added later and forgets it would answer by two models at once."""
    for name in dir(kind):
        method = getattr(kind, name)
        if name.startswith(("_", "set_")) or name in NOT_READERS or not callable(method):
            continue
        if getattr(method, "__module__", "").startswith("anyboost"):
            assert getattr(method, "reads_one_fit", False), name


def test_threads_that_predict_while_the_model_is_fitted_anew_see_whole_models():
    """Before, all of these ended in an IndexError or in classes that neither model has."""
    model = ab.BoostingClassifier(max_iter=2, max_leaf_nodes=3, min_leaf_weight=1.0)
    fits = [(X, classes(2, 0)), (X, classes(7, 100))]
    known = []
    for table, labels in fits:
        model.fit(table, labels)
        known.append((model.predict(X), model.predict_proba(X)))
    wrong, ended = [], threading.Event()

    def ask():
        while not ended.is_set():
            try:
                found, chances = model.predict(X), model.predict_proba(X)
            except Exception as error:
                wrong.append(repr(error))
                return
            if not any(np.array_equal(found, labels) for labels, _ in known):
                wrong.append("labels of no model")
            if not any(np.array_equal(chances, shares) for _, shares in known):
                wrong.append("probabilities of no model")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for turn in range(60):
            model.fit(*fits[turn % 2])
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not wrong, sorted(set(wrong))


@pytest.mark.parametrize("made", list(OF), ids=lambda made: made.__name__)
def test_copies_pickles_and_files_that_are_begun_before_a_fit_hold_the_model_of_before(tmp_path, made):
    model, first, second = made()
    first()
    before, attributes = model.predict(X), vars(model)
    held = copy.copy(model)
    second()
    np.testing.assert_array_equal(held.predict(X), before)
    assert attributes["n_features_in_"] == 3  # what a pickle has begun to read is not changed under it
    ab.save(held, tmp_path / "held.anyboost")
    np.testing.assert_array_equal(ab.load(tmp_path / "held.anyboost").predict(X), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(held)).predict(X), before)


def test_a_file_holds_one_model_where_another_fit_ends_while_it_is_written(monkeypatch, tmp_path):
    from anyboost.files import ensembles

    model, first, second = classifier()
    first()
    before, pack = model.predict(X), ensembles.pack

    def fitted_meanwhile(ensemble):
        monkeypatch.setattr(ensembles, "pack", pack)
        second()
        return pack(ensemble)

    monkeypatch.setattr(ensembles, "pack", fitted_meanwhile)
    ab.save(model, tmp_path / "model.anyboost")
    np.testing.assert_array_equal(ab.load(tmp_path / "model.anyboost").predict(X), before)


def test_a_fit_leaves_no_attribute_of_the_fit_before_and_keeps_what_is_not_of_a_fit():
    model = ab.BoostingRegressor("cox", **SMALL).fit(X, np.exp(NUMBERS))
    model.note = "mine"
    model.set_params(loss="squared").fit(X, NUMBERS)
    assert not hasattr(model, "baseline_hazard_")
    assert model.note == "mine"
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        model.set_params(max_leaf_nodes=1).fit(X[:, :2], NUMBERS)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("kind", [ab.MirrorAveragingRegressor, ab.MirrorAveragingClassifier])
def test_averagers_put_a_fit_in_place_at_its_end(monkeypatch, kind):
    """While a pool is fitted anew, predictions are those of the pool before, and a fit that fails leaves it."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    is_classifier = kind is ab.MirrorAveragingClassifier
    models = [DummyClassifier(strategy="prior")] if is_classifier else [DummyRegressor()]
    first, second = (classes(2, 0), classes(5, 100)) if is_classifier else (NUMBERS, NUMBERS + 50.0)
    model = kind(models, random_state=0).fit(X, first)
    before, found, cross_fit = model.predict(X), [], pool.cross_fit

    def asked_meanwhile(*given):
        fitted = cross_fit(*given)
        found.append(model.predict(X))
        return fitted

    monkeypatch.setattr(pool, "cross_fit", asked_meanwhile)
    model.fit(X, second)
    np.testing.assert_array_equal(found, [before])
    assert not np.array_equal(model.predict(X), before)


@pytest.mark.parametrize("kind", [ab.MirrorAveragingRegressor, ab.MirrorAveragingClassifier])
def test_averagers_answer_by_one_fit_where_another_ends_within_it(monkeypatch, kind):
    is_classifier = kind is ab.MirrorAveragingClassifier
    first, second = (classes(5, 0), classes(2, 100)) if is_classifier else (NUMBERS, NUMBERS + 50.0)
    model = kind(random_state=0).fit(X, first)
    before, read = model.predict(X), kind._predictable

    def fitted_meanwhile(self, table):
        found = read(self, table)
        monkeypatch.setattr(kind, "_predictable", read)
        model.fit(X[:, :2], second)
        return found

    monkeypatch.setattr(kind, "_predictable", fitted_meanwhile)
    np.testing.assert_array_equal(model.predict(X), before)


STREAMS = {
    "team": (ab.OnlineBoostingRegressor, None),
    "chain": (ab.OnlineBoostingRegressor, "linear"),
    "classes, team": (ab.OnlineBoostingClassifier, None),
    "classes, chain": (ab.OnlineBoostingClassifier, "linear"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_fit_of_a_stream_s_model_is_put_in_place_at_its_end(monkeypatch, name):
    kind, learner = STREAMS[name]
    numbers = kind is ab.OnlineBoostingRegressor
    model = kind(learner).fit(X, NUMBERS if numbers else classes(3, 0))
    before, learn, found = model.predict(X), kind._learn_rows, []

    def asked_meanwhile(self, *given):
        said = learn(self, *given)
        found.append(model.predict(X))
        return said

    monkeypatch.setattr(kind, "_learn_rows", asked_meanwhile)
    model.fit(X[:, :2], NUMBERS + 50.0 if numbers else classes(2, 100))
    monkeypatch.undo()
    np.testing.assert_array_equal(found, [before])
    assert not np.array_equal(model.predict(X[:, :2]), before)
    with pytest.raises(ValueError, match="learner"):
        model.set_params(learner="no such learner").fit(X, NUMBERS)
    assert model.n_features_in_ == 2  # a fit that fails changes nothing


def test_a_stream_s_classifier_that_was_fitted_and_pickled_makes_boosters_of_its_own_parameters():
    model = ab.OnlineBoostingClassifier("linear").fit(X, classes(2, 0))
    assert model.boosters_.make.__self__ is model
    again = pickle.loads(pickle.dumps(model))
    assert again.boosters_.make.__self__ is again


@pytest.mark.parametrize("learner", [None, "linear"])
def test_a_copy_of_a_stream_s_model_answers_while_the_model_learns(learner):
    """A model of a stream learns in place, and is for one thread at a time: others are given a deep copy of it."""
    model = ab.OnlineBoostingClassifier(learner).partial_fit(X, classes(2, 0), classes=[0, 1])
    served = copy.deepcopy(model)
    before, wrong, ended = served.predict_proba(X), [], threading.Event()

    def ask():
        while not ended.is_set():
            if not np.array_equal(served.predict_proba(X), before):
                wrong.append(1)

    thread = threading.Thread(target=ask)
    thread.start()
    for _ in range(20):
        model.partial_fit(X, 1 - classes(2, 0))
    ended.set()
    thread.join()
    assert not wrong
    assert not np.array_equal(model.predict_proba(X), before)


def test_a_state_of_an_older_version_is_a_model():
    """Attributes are those of the object, so that pickles of older versions go on working."""
    model, first, _ = plain()
    first()
    stream = io.BytesIO()
    pickle.dump(model, stream)
    old = ab.BoostingRegressor.__new__(ab.BoostingRegressor)
    old.__setstate__(model.__getstate__())
    np.testing.assert_array_equal(old.predict(X), pickle.loads(stream.getvalue()).predict(X))
