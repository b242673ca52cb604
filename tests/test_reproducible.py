"""The same model, bit for bit: threads, row order, resuming; and nothing hangs or aborts on the way."""

import os
import shutil
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import anyboost as ab
from anyboost.weak import Stump, Tree


def data(n=3000, features=11, seed=0, classes=None):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, features))
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * random.normal(size=n)
    return X, signal if classes is None else np.digitize(signal, np.quantile(signal, [0.3, 0.6]))


def fingerprint(run):
    """Every bit of the model: structure, values, coefficients."""
    parts = [run.ensemble.start.tobytes(), np.array(run.ensemble.coefficients).tobytes()]
    for tree in run.ensemble.hypotheses:
        parts += [
            array.tobytes() for array in (tree.feature, tree.threshold, tree.left, tree.right, tree.value)
        ]
    return b"".join(parts)


CASES = {
    "absolute, stumps": ("absolute", Stump(), "residual", None),
    "squared, trees": ("squared", Tree(max_leaves=9), "naive", None),
    "quantile, exact leaves": ("quantile:0.9", Tree(max_leaves=9, leaf="exact"), "residual", None),
    "multiclass hinge, vector trees": ("multiclass_hinge", Tree(max_leaves=5), "repeated", 3),
    "softmax, vector stumps": ("softmax", Stump(), "residual", 3),
}


def fit(case, n=3000, **options):
    loss, learner, descent, classes = CASES[case]
    X, y = data(n, classes=classes)
    return ab.boost(X, y, loss, learner, descent, **{"rounds": 12, **options})


@pytest.mark.parametrize("case", CASES)
def test_threads_and_repetition_change_nothing(case):
    sampled = {"row_fraction": 0.6, "feature_fraction": 0.5, "random_state": 3}
    for options in ({}, sampled):
        one = fit(case, 120_000, rounds=4, n_threads=1, **options)
        two = fit(case, 120_000, rounds=4, n_threads=2, **options)
        again = fit(case, 120_000, rounds=4, n_threads=2, **options)
        assert fingerprint(one) == fingerprint(two) == fingerprint(again)
        assert [s._replace(seconds=0) for s in one.steps] == [s._replace(seconds=0) for s in two.steps]
        assert one.floor(2.0) == two.floor(2.0)


@pytest.mark.parametrize("case", ["absolute, stumps", "squared, trees", "softmax, vector stumps"])
@pytest.mark.parametrize("weighted", [False, True])
def test_row_order_changes_nothing(case, weighted):
    loss, learner, descent, classes = CASES[case]
    X, y = data(classes=classes)
    weights = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    order = np.random.default_rng(2).permutation(len(y))
    one = ab.boost(X, y, loss, learner, descent, 12, sample_weight=weights)
    shuffled = None if weights is None else weights[order]
    other = ab.boost(X[order], y[order], loss, learner, descent, 12, sample_weight=shuffled)
    assert fingerprint(one) == fingerprint(other)
    np.testing.assert_array_equal(one.scores[order], other.scores)


def test_the_same_call_twice_gives_the_same_model():
    """Without a seed, too: who wants other draws says so."""
    sampled = {"row_fraction": 0.5, "feature_fraction": 0.5}
    assert fingerprint(fit("squared, trees", **sampled)) == fingerprint(fit("squared, trees", **sampled))
    X, y = data(300)
    models = [
        ab.BoostingRegressor(max_iter=4, subsample=0.7, early_stopping=True).fit(X, y) for _ in range(2)
    ]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_different_seeds_sample_differently():
    prints = {fingerprint(fit("squared, trees", row_fraction=0.5, random_state=seed)) for seed in (0, 1)}
    assert len(prints) == 2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stop_after", [1, 5])
def test_resuming_equals_not_having_stopped(case, stop_after):
    X, y = data(500, seed=9, classes=CASES[case][3])
    common = {"valid": (X, y), "row_fraction": 0.7, "feature_fraction": 0.6, "random_state": 11}
    whole = fit(case, **common)
    part = fit(case, **{**common, "rounds": stop_after})
    before = fingerprint(part)
    resumed = fit(case, valid=(X, y), resume=part)  # the run knows its sampling
    assert fingerprint(resumed) == fingerprint(whole)
    assert [s._replace(seconds=0) for s in resumed.steps] == [s._replace(seconds=0) for s in whole.steps]
    assert resumed.floor(1.0) == whole.floor(1.0)
    assert resumed.best_round == whole.best_round
    assert fingerprint(part) == before  # the run that was resumed is as it was
    assert len(part.steps) == stop_after


def test_stopping_from_a_callback_and_resuming():
    X, y = data(400)
    whole = ab.boost(X, y, "absolute", rounds=20)
    part = ab.boost(X, y, "absolute", rounds=20, callbacks=[lambda step, run: step.round == 7])
    assert len(part.steps) == 7
    assert fingerprint(ab.boost(X, y, rounds=20, resume=part)) == fingerprint(whole)


def test_two_threads_fitting_at_once():
    expected = fingerprint(fit("squared, trees", 60_000, rounds=6))
    found = {}

    def work(name):
        found[name] = fingerprint(fit("squared, trees", 60_000, rounds=6, n_threads=2))

    workers = [threading.Thread(target=work, args=(name,)) for name in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert not worker.is_alive()
    assert set(found.values()) == {expected}


PROGRAM = textwrap.dedent(
    """
    import numpy as np, anyboost as ab
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 9)); y = X[:, 0] - X[:, 1] ** 2
    def fit():
        return ab.boost(X, y, "absolute", "tree:8", rounds=3, n_threads=2).steps[-1].loss
    """
)


def run_python(source, timeout=240, prefix=(), **environment):
    return subprocess.run(
        [*prefix, sys.executable, "-c", PROGRAM + textwrap.dedent(source)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_fork_after_a_fit_can_fit():
    done = run_python(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        before = fit()
        child = os.fork()
        if child == 0:
            os._exit(0 if fit() == before else 3)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        assert fit() == before
        print("ok")
        """
    )
    assert done.stdout.strip() == "ok", done.stderr


def read_only_prefix():
    """Root writes where it likes unless it gives up that power first."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to see a read-only folder as one")
    return ("setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override")


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_read_only_cache_folder_is_no_obstacle(tmp_path):
    """Neither the cache folder, nor the home folder, nor the installed package can be written."""
    package = tmp_path / "site" / "anyboost"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(os.path.dirname(ab.__file__), package, ignore=ignore)
    folder = tmp_path / "cache"
    folder.mkdir()
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    prefix = read_only_prefix()
    locked = subprocess.run([*prefix, "touch", str(folder / "x")], capture_output=True, check=False)
    assert locked.returncode != 0, "the folder can be written: this test shows nothing"
    done = run_python(
        "print(ab.__file__, fit())",
        prefix=prefix,
        NUMBA_CACHE_DIR=str(folder),
        HOME=str(folder),
        XDG_CACHE_HOME=str(folder),
        PYTHONPATH=str(package.parent),
    )
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    where, loss = done.stdout.split()
    assert where.startswith(str(package))
    assert float(loss) > 0
    check_notices(done.stderr)
    assert done.stderr.count("no cache folder can be written: set NUMBA_CACHE_DIR to one that can") == 1


def check_notices(said):
    """A line for each kind of work, once, though many kernels are compiled for it."""
    works = [
        line.partition("compiling kernels for ")[2].split(",")[0].strip(".") for line in said.splitlines()
    ]
    assert sorted(works) == ["boosting", "quantiles"]


def test_a_cold_cache_says_what_is_compiled_and_a_warm_one_nothing(tmp_path):
    """Of a few kernels, several for each kind of work; of a whole fit, see the read-only folder and `test_warming`."""
    folder = str(tmp_path / "cache")
    few = """
    loss, y = ab.losses.Absolute(), np.arange(50.0)
    loss.values(y, y), loss.subgradients(y, y), loss.best_constant(y)
    """
    cold = run_python(few, NUMBA_CACHE_DIR=folder)
    warm = run_python(few, NUMBA_CACHE_DIR=folder)
    check_notices(cold.stderr)
    assert cold.stderr.count("the next process has them") == 1
    assert warm.stderr == ""
