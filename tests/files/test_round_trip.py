"""A model comes back from its file as it was, and a run continues from it as if it had never stopped."""

import ast
import itertools
import stat
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import anyboost as ab
from anyboost.descent import Naive
from anyboost.ensemble import Ensemble
from anyboost.weak import Classifier, Dictionary, Stump, Tree
from anyboost.weak.functions import TreeFunction
from files.samples import DESCENTS, LEARNERS, LOSSES, fit, my_step, sample
from reference import files as reference

ALL = list(itertools.product(LOSSES, LEARNERS, DESCENTS))
# Eight cases a loss: every loss meets every learner and every descent, and these two meet each other.
SOME = [
    (loss, list(LEARNERS)[(i + j) % len(LEARNERS)], descent)
    for i, loss in enumerate(LOSSES)
    for j, descent in enumerate(DESCENTS)
]


def without_seconds(run):
    return [step._replace(seconds=0.0) for step in run.steps]


def assert_same_run(ours, theirs, X):
    assert without_seconds(ours) == without_seconds(theirs)
    np.testing.assert_array_equal(ours.ensemble.predict(X), theirs.ensemble.predict(X), strict=True)
    np.testing.assert_array_equal(ours.scores, theirs.scores, strict=True)
    np.testing.assert_array_equal(ours.state.start, theirs.state.start, strict=True)
    np.testing.assert_array_equal(ours.state.residual, theirs.state.residual, strict=True)
    assert ours.state.geometry == theirs.state.geometry
    assert ours.witnesses == theirs.witnesses
    assert ours.floor(0.7) == theirs.floor(0.7)
    assert ours.gap(0.7) == theirs.gap(0.7)
    assert (ours.seed, ours.start_loss, ours.best_round) == (
        theirs.seed,
        theirs.start_loss,
        theirs.best_round,
    )
    for stage, other in zip(ours.ensemble.staged_predict(X), theirs.ensemble.staged_predict(X), strict=True):
        np.testing.assert_array_equal(stage, other)


def check_round_trip(path, loss, learner, descent):
    given = {
        "loss": LOSSES[loss][0] if loss == "pointwise" else None,
        "descent": DESCENTS[descent] if descent == "my step" else None,
    }
    X = sample("real", seed=2)[0]
    options = {"row_fraction": 0.8, "feature_fraction": 0.7}
    whole = fit(loss, learner, descent, 5, **options)
    part = fit(loss, learner, descent, 3, **options)
    ab.save(part, path)
    loaded = ab.load(path, **given)
    assert_same_run(loaded, part, X)
    assert repr(loaded.learner) == repr(part.learner)
    assert repr(loaded.loss) == repr(part.loss)
    assert repr(loaded.descent) == repr(part.descent)
    resumed = fit(loss, learner, descent, 5, resume=loaded, **options)
    assert_same_run(resumed, whole, X)
    ab.save(loaded, path)  # a loaded run can be saved again, though its sample is gone
    assert_same_run(ab.load(path, **given), part, X)
    ab.save(part.ensemble, path)
    alone = ab.load(path)
    assert isinstance(alone, Ensemble)
    np.testing.assert_array_equal(alone.predict(X), part.ensemble.predict(X), strict=True)


@pytest.mark.parametrize("loss", LOSSES)
def test_round_trip(tmp_path, loss):
    for case in SOME:
        if case[0] == loss:
            check_round_trip(tmp_path / "model.safetensors", *case)


@pytest.mark.full
@pytest.mark.parametrize("loss", LOSSES)
def test_every_round_trip(tmp_path, loss):
    for case in ALL:
        if case[0] == loss:
            check_round_trip(tmp_path / "model.safetensors", *case)


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_run_that_has_hardly_begun(tmp_path, rounds):
    path = tmp_path / "model.safetensors"
    X = sample("real")[0]
    run = fit("absolute", "tree", "residual", rounds)
    ab.save(run, path)
    loaded = ab.load(path)
    assert_same_run(loaded, run, X)
    assert_same_run(
        fit("absolute", "tree", "residual", 4, resume=loaded), fit("absolute", "tree", "residual", 4), X
    )


@pytest.mark.parametrize("loss", ["absolute", "softmax"])
def test_an_offset_comes_back_as_one(tmp_path, loss):
    path = tmp_path / "model.safetensors"
    X = sample("real")[0]
    offset = np.linspace(-1, 1, 40) if loss == "absolute" else np.linspace(-1, 1, 120).reshape(40, 3)
    options = {"start": offset, "watch": False}
    part = fit(loss, "stump", "shrinking", 3, **options)
    ab.save(part, path)
    loaded = ab.load(path)
    assert_same_run(loaded, part, X)
    np.testing.assert_array_equal(
        loaded.ensemble.predict(X, offset=offset), part.ensemble.predict(X, offset=offset)
    )
    resumed = fit(loss, "stump", "shrinking", 6, resume=loaded, **options)
    assert_same_run(resumed, fit(loss, "stump", "shrinking", 6, **options), X)


def test_thresholds_at_infinity_and_any_shape_of_tree(tmp_path):
    """Missing values are cut off at infinity; trees of another learner may number their nodes otherwise."""
    inf = np.inf
    tree = TreeFunction(
        feature=np.array([1, -1, 0, -1, -1], dtype=np.int32),
        threshold=np.array([inf, 0.0, -0.0, 0.0, 0.0]),
        left=np.array([2, 0, 4, 0, 0], dtype=np.int32),
        right=np.array([1, 0, 3, 0, 0], dtype=np.int32),
        missing_left=np.array([False, False, True, False, False]),
        category_set=np.full(5, -1, dtype=np.int32),
        category_sets=np.empty((0, 8), dtype=np.uint32),
        value=np.array([[0.0], [1e-308], [0.0], [-0.0], [1 / 3]]),
    )
    leaf = TreeFunction(*(part[1:2] for part in vars(tree).values() if part is not None))
    ensemble = Ensemble(np.array([0.1]), 2, False, [tree, leaf], [0.5, -2.0], [1, 3], [0.0, 0.25, 0.5])
    path = tmp_path / "model.safetensors"
    ab.save(ensemble, path)
    X = np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, 1.0], [0.0, np.nan], [-inf, inf]])
    loaded = ab.load(path)
    np.testing.assert_array_equal(loaded.predict(X), ensemble.predict(X))
    np.testing.assert_allclose(reference.predict(path.read_bytes(), X)[:, 0], ensemble.predict(X), rtol=1e-14)
    for name, array in vars(tree).items():
        np.testing.assert_array_equal(getattr(loaded.hypotheses[0], name), array, strict=True)


def test_the_file_is_an_ordinary_safetensors_file_of_numbers(tmp_path):
    path = tmp_path / "model.safetensors"
    run = fit("softmax", "tree", "residual", 4)
    ab.save(run, path)
    tensors = load_file(path)
    assert {tensor.dtype.kind for tensor in tensors.values()} == {"f", "u"}
    np.testing.assert_array_equal(tensors["scores"], run.scores)
    assert reference.signed(path.read_bytes()) == path.read_bytes()  # the checksum, computed independently


def test_nothing_in_the_room_can_run_what_a_file_says():
    """No pickle, no eval: names of the library that turn data into code do not occur."""
    forbidden = {
        "pickle",
        "cPickle",
        "dill",
        "joblib",
        "marshal",
        "shelve",
        "eval",
        "exec",
        "compile",
        "__import__",
    }
    room = Path(ab.__file__).parent / "files"
    sources = sorted(room.glob("*.py"))
    assert len(sources) >= 7
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            names = (
                {alias.name for alias in node.names}
                if isinstance(node, ast.Import | ast.ImportFrom)
                else set()
            )
            names |= {node.id} if isinstance(node, ast.Name) else set()
            names |= {str(node.module)} if isinstance(node, ast.ImportFrom) else set()
            assert not names & forbidden, (source.name, names & forbidden)


def test_saving_twice_gives_the_same_bytes(tmp_path):
    run = fit("absolute", "tree", "residual", 4)
    ab.save(run, tmp_path / "a")
    ab.save(ab.load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loss_of_ones_own_predicts_but_does_not_train(tmp_path):
    path = tmp_path / "model.safetensors"
    loss, kind = LOSSES["pointwise"]
    run = fit("pointwise", "stump", "naive", 3)
    ab.save(run, path)
    loaded = ab.load(path)
    X, y, _ = sample(kind)
    np.testing.assert_array_equal(loaded.ensemble.predict(X), run.ensemble.predict(X))
    np.testing.assert_array_equal(loaded.loss.link(run.scores), run.loss.link(run.scores))
    with pytest.raises(ValueError, match=r"functions of the loss 'mine'.*load\(path, loss=\.\.\.\)"):
        fit("absolute", "stump", "naive", 5, resume=loaded) if False else ab.boost(
            X, y, rounds=5, resume=loaded
        )
    with pytest.raises(
        ValueError,
        match=r"is AbsentLoss\('mine'\) in the run .* pass it to load\(path, loss=\.\.\.\) instead",
    ):
        ab.boost(X, y, loss, rounds=5, resume=loaded)
    same_names = ab.losses.pointwise(lambda f, y: f - y, lambda f, y: 1.0, name="mine")
    with pytest.raises(ValueError, match=r"loss is pointwise.* in the run to resume"):
        ab.boost(X, y, same_names, rounds=5, resume=ab.load(path, loss=loss))
    other = ab.losses.pointwise(loss.value_function, loss.subgradient_function, name="another")
    with pytest.raises(
        ValueError, match=r"loss must be that of the file, mine \(your own\), got another \(your own\)"
    ):
        ab.load(path, loss=other)
    with pytest.raises(ValueError, match="loss must be that of the file"):
        ab.load(path, loss=ab.losses.Squared())
    ab.save(loaded, path)  # also without the functions
    assert ab.load(path, loss=loss).loss is loss


def cubes(name="cubes"):
    """A new loss each time, as in a new process."""
    return ab.losses.pointwise(lambda f, y: abs(f - y) ** 3, lambda f, y: 3 * (f - y) * abs(f - y), name=name)


@pytest.mark.parametrize(
    "build",
    [
        lambda loss: 0.5 * loss + ab.losses.Squared(),
        lambda loss: ab.losses.CVaR(loss, 0.3),
        lambda loss: ab.losses.WorstGroup(0.5 * loss),
        lambda loss: loss + ab.losses.RankHinge(),
    ],
    ids=["sum", "cvar", "worst group", "coupled sum"],
)
def test_a_loss_built_on_ones_own_is_taken_back(tmp_path, build):
    path = tmp_path / "model.safetensors"
    X, y, given = sample("grouped count")
    given = given if build(cubes()).uses_groups else {}
    given = {"random_state": 3, **given}
    options = {"descent": Naive(0.05), **given}
    whole = ab.boost(X, y, build(cubes()), rounds=4, **options)
    ab.save(ab.boost(X, y, build(cubes()), rounds=2, **options), path)
    np.testing.assert_array_equal(ab.load(path).loss.link(y), build(cubes()).link(y))
    with pytest.raises(ValueError, match="are not in its model file"):
        ab.boost(X, y, rounds=4, resume=ab.load(path), **given)
    with pytest.raises(ValueError, match="loss must be that of the file"):
        ab.load(path, loss=build(cubes("squares")))
    resumed = ab.boost(X, y, rounds=4, resume=ab.load(path, loss=build(cubes())), **given)
    assert_same_run(resumed, whole, X)


def test_a_builtin_link_is_kept_and_ones_own_is_missed(tmp_path):
    path = tmp_path / "model.safetensors"
    X, y, _ = sample("real")
    functions = (lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y))
    for link, known in ((ab.losses.links.exponential, True), (lambda scores: scores**3, False)):
        run = ab.boost(X, y, ab.losses.pointwise(*functions, link=link), rounds=2)
        ab.save(run, path)
        loaded = ab.load(path)
        if known:
            np.testing.assert_array_equal(loaded.loss.link(run.scores), np.exp(run.scores))
        else:
            with pytest.raises(ValueError, match="not in its model file"):
                loaded.loss.link(run.scores)
        np.testing.assert_array_equal(loaded.ensemble.predict(X), run.ensemble.predict(X))


def test_a_step_of_ones_own_is_asked_for(tmp_path):
    path = tmp_path / "model.safetensors"
    X, y, _ = sample("real")
    ab.save(ab.boost(X, y, descent=Naive(my_step), rounds=2), path)
    with pytest.raises(ValueError, match=r"step 'my_step' is not in its model file.*descent=\.\.\."):
        ab.boost(X, y, rounds=3, resume=ab.load(path))
    with pytest.raises(ValueError, match="descent must be that of the file"):
        ab.load(path, descent=Naive(0.1))
    assert len(ab.boost(X, y, rounds=3, resume=ab.load(path, descent=Naive(my_step))).steps) == 3


class Mine(Tree):
    pass


def column_one(X):
    return X[:, 1]


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (Dictionary([column_one]), "learner is a Dictionary of functions, which cannot be saved"),
        (Mine(), "learner .* cannot be saved"),
    ],
)
def test_what_cannot_be_saved_is_refused(tmp_path, learner, reason):
    X, y, _ = sample("real")
    run = ab.boost(X, y, learner=learner, rounds=2)
    with pytest.raises(ValueError, match=reason):
        ab.save(run, tmp_path / "model")
    if isinstance(learner, Dictionary):
        with pytest.raises(ValueError, match="sum of functions of a Dictionary"):
            ab.save(run.ensemble, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_classifier_with_an_estimator_is_refused(tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    X, y, _ = sample("sign")
    run = ab.boost(X, y, "hinge", Classifier(DecisionTreeClassifier(max_depth=1, random_state=0)), rounds=2)
    with pytest.raises(ValueError, match="Classifier with an estimator, which cannot be saved"):
        ab.save(run, tmp_path / "model")
    with pytest.raises(ValueError, match="sum of ClassifierFunction"):
        ab.save(run.ensemble, tmp_path / "model")
    # A checkpoint says so in the first round, not when it is due.
    with pytest.raises(ValueError, match="cannot be saved"):
        ab.boost(X, y, "hinge", run.learner, rounds=2, callbacks=[ab.Checkpoint(tmp_path / "model", 100)])


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"kind that has a file \(ensemble, run, .*\), got dict"):
        ab.save({"a": 1}, tmp_path / "model")
    ab.save(fit("absolute", "stump", "naive", 1).ensemble, tmp_path / "model")
    with pytest.raises(ValueError, match="loss belongs to a run"):
        ab.load(tmp_path / "model", loss=ab.losses.Absolute())


def test_resume_needs_the_same_data(tmp_path):
    path = tmp_path / "model"
    ab.save(fit("absolute", "stump", "naive", 2), path)
    X, y, _ = sample("real")
    other = sample("real", seed=5)
    with pytest.raises(ValueError, match="resume was run on other data"):
        ab.boost(X, y + 1, rounds=3, resume=ab.load(path), valid=sample("real", seed=1)[:2])
    with pytest.raises(ValueError, match="valid is not the set that the run to resume watched"):
        ab.boost(X, y, rounds=3, resume=ab.load(path), valid=other[:2])
    with pytest.raises(ValueError, match="valid is not the set that the run to resume watched"):
        ab.boost(X, y, rounds=3, resume=ab.load(path), valid=(X[:5], y[:5]))


def test_a_model_that_is_not_finite_is_refused(tmp_path):
    run = fit("absolute", "stump", "naive", 2)
    run.ensemble.added[0] = np.nan
    with pytest.raises(ValueError, match="coefficients are not finite"):
        ab.save(run, tmp_path / "model")


def test_a_validation_loss_may_overflow(tmp_path):
    run = fit("absolute", "stump", "naive", 2)
    run.watch.losses[1:] = [np.inf, np.nan]
    ab.save(run, tmp_path / "model")
    np.testing.assert_array_equal(ab.load(tmp_path / "model").watch.losses, run.watch.losses)


def test_saving_keeps_links_and_permissions(tmp_path):
    model = fit("absolute", "stump", "naive", 1).ensemble
    path, link = tmp_path / "model", tmp_path / "latest"
    ab.save(model, path)
    path.chmod(0o600)
    link.symlink_to(path)
    ab.save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["latest", "model"]


def test_the_default_stump_and_the_empty_sum(tmp_path):
    X, y, _ = sample("real")
    run = ab.boost(X, y, rounds=2, learner=Stump())
    ab.save(run, tmp_path / "model")
    assert isinstance(ab.load(tmp_path / "model").learner, Stump)
    ab.save(run.ensemble.truncate(0), tmp_path / "model")
    np.testing.assert_allclose(ab.load(tmp_path / "model").predict(X), np.full(40, y.mean()), rtol=1e-14)
