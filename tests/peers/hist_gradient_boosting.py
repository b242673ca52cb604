"""scikit-learn's own tests of HistGradientBoosting, run on our estimators.

    python tests/peers/hist_gradient_boosting.py          # how many pass, and why the others do not
    python tests/peers/hist_gradient_boosting.py --list   # every test by name as well

The tests are read from the installed scikit-learn, names are replaced as text, no assertion is touched, and the result
runs in a temporary folder. A failing test gets the first verdict below whose pattern its name and failure have. Where
that is the text of a message, it runs again with any text allowed, and must pass. The exit status is 1 where a failure
has no verdict, a verdict no failure, or a text was not all.
"""

import argparse
import re
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import sklearn

FILES = ("test_gradient_boosting.py", "test_warm_start.py", "test_monotonic_constraints.py")
SECONDS = 60  # for one test

# What is written there, what it becomes, and why that asks the same.
SUBSTITUTIONS = (
    ("from sklearn.ensemble import (", "from anyboost import (", "where the estimators are"),
    ("HistGradientBoostingClassifier", "BoostingClassifier", "the class"),
    ("HistGradientBoostingRegressor", "BoostingRegressor", "the class"),
    ("min_samples_leaf=", "min_leaf_weight=", "a row without a weight weighs 1"),
    ("._raw_predict", "._raw", "the method that gives raw scores"),
)

# Tests of grower, splitter and histograms, in which no estimator occurs: they say nothing about ours.
LEFT_OUT = (
    "test_sum_hessians_are_sample_weight",
    "test_nodes_values",
    "test_bounded_value_min_gain_to_split",
)

PRIVATE, MESSAGE, DOCUMENTED, DEFECT = "private attribute", "message text", "documented difference", "defect"

# A pattern to look for in "test: failure", and why such tests fail.
VERDICTS = (
    ("::test_single_node_trees.*one class only", DOCUMENTED, "a y of one class is refused, not learned"),
    ("::test_early_stopping_default", DOCUMENTED, "nothing is held out by default, however many rows"),
    (
        r"::test_early_stopping_classification\[loss-0.1.*assert 50 < 50",
        DOCUMENTED,
        "leaves take mean gradients, and the loss on the three rows held out falls in every round",
    ),
    (r"::test_poisson_y_positive\[y1\]", MESSAGE, "targets that are all 0 are refused, in other words"),
    ("::test_custom_loss", DOCUMENTED, "a loss is one of anyboost.losses, not of sklearn._loss"),
    (r"::test_unknown_categories_nan\[-1", DOCUMENTED, "-1 is a level like any other, not a missing value"),
    (
        "::test_(categorical_bad_encoding|dataframe_categorical)_errors",
        DOCUMENTED,
        "categories beyond max_bins share a bin and are not refused",
    ),
    ("::test_X_val_raises_with_early_stopping_false", DOCUMENTED, "a validation set may be watched only"),
    ("::test_input_error:", DOCUMENTED, "monotone constraints hold for every class, and are not refused"),
    ("no attribute '_predictors'", PRIVATE, "trees are elsewhere (ensemble_), and are other objects"),
    (
        "::test_raw_predict_is_called_with_custom_scorer",
        PRIVATE,
        "counts calls of a private method of the estimator itself, and a scorer has a copy of it",
    ),
    ("no attribute '_should_stop'", PRIVATE, "the rule of stopping"),
    ("no attribute '_check_interaction_cst'", PRIVATE, "the sets of interaction_cst, as it is read"),
    ("no attribute '_random_seed'", PRIVATE, "the seed of a fit"),
    (
        "no attribute '_preprocessor'",
        PRIVATE,
        "the encoder of categories; a text column, here of numbers, is one of them",
    ),
    ("no attribute '_bin_mapper'", PRIVATE, "the bins"),
    ("no attribute '_get_small_trainset'", PRIVATE, "the rows that scores in training are taken on"),
    ("::test_early_stopping_with_sample_weights", PRIVATE, "puts its own functions into a private module"),
    ("::test_X_val_in_fit", PRIVATE, "repeats how their fit draws the seed of its split"),
    ("Regex pattern did not match", MESSAGE, "the same refusal, a ValueError, in other words"),
)

_raises = pytest.raises


class Recorder:
    """A plugin of pytest: picks tests, ends those that take too long, and keeps what became of each."""

    def __init__(self, only: Collection[str] | None) -> None:
        self.only = only
        self.outcomes: dict[str, str] = {}
        self.failures: dict[str, str] = {}

    @pytest.fixture
    def global_random_seed(self) -> int:
        """A fixture of scikit-learn: such a test is to pass with any seed."""
        return 42

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self._wanted(item)]

    def _wanted(self, item: Any) -> bool:
        return item.nodeid in self.only if self.only is not None else item.originalname not in LEFT_OUT

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        if not hasattr(signal, "SIGALRM"):  # Windows: no limit
            return (yield)
        before = signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(SECONDS)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failures[report.nodeid] = " ".join(
                (crash.message if crash else str(report.longrepr)).split()
            )


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"longer than {SECONDS} seconds")


def _any_text(expected: Any, *, match: Any = None) -> Any:  # noqa: ARG001 - that is its point
    return _raises(expected)


def write_tests(folder: Path) -> None:
    """scikit-learn's tests, with our names in them."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # none of our settings
    tests = Path(sklearn.__file__).parent / "ensemble" / "_hist_gradient_boosting" / "tests"
    for file in FILES:
        text = (tests / file).read_text(encoding="utf-8")
        for theirs, ours, _ in SUBSTITUTIONS:
            text = text.replace(theirs, ours)
        (folder / file).write_text(text, encoding="utf-8")


def run(folder: Path, only: Collection[str] | None = None, *, any_text: bool = False) -> Recorder:
    """Run the tests in the folder, or `only` those named; with any text in the messages they wait for."""
    recorder = Recorder(only)
    options = ["-q", "--tb=short", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with pytest.MonkeyPatch.context() as patch:
        if any_text:
            patch.setattr(pytest, "raises", _any_text)
        status = pytest.main([*options, f"--rootdir={folder}", str(folder)], plugins=[recorder])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"pytest could not run the tests: {status!r}")
    return recorder


def judge(failures: dict[str, str]) -> tuple[dict[tuple[str, str], list[str]], list[str]]:
    """The failing tests by verdict, and the patterns that no failure has."""
    judged: dict[tuple[str, str], list[str]] = defaultdict(list)
    used = set()
    for test, failure in failures.items():
        found = next((row for row in VERDICTS if re.search(row[0], f"{test}: {failure}")), None)
        judged[found[1:] if found else ("NO VERDICT", failure[:200])].append(test)
        used.add(found)
    return judged, [row[0] for row in VERDICTS if row not in used]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="scikit-learn's tests of HistGradientBoosting, on our estimators"
    )
    parser.add_argument("--list", action="store_true", help="every test by name as well")
    named = parser.parse_args().list
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_tests(folder)
        done = run(folder)
        judged, unused = judge(done.failures)
        texts = [test for (kind, _), tests in judged.items() if kind == MESSAGE for test in tests]
        more = run(folder, texts, any_text=True).failures if texts else {}
    if named:
        print("\n" + "\n".join(f"{outcome:8}{test}" for test, outcome in done.outcomes.items()))
    kinds: Counter[str] = Counter()
    print()
    for (kind, reason), tests in sorted(judged.items()):
        kinds[kind] += len(tests)
        print(f"{kind}: {reason}")
        of_one = Counter(test.split("[")[0] for test in tests)
        print("".join(f"    {test}" + (f" ({n})\n" if n > 1 else "\n") for test, n in of_one.items()), end="")
    for test, failure in more.items():
        print(f"MORE THAN THE TEXT: {test}: {failure[:200]}")
    for pattern in unused:
        print(f"NO FAILURE for the verdict on {pattern!r}: take it out")
    print(f"\nscikit-learn {sklearn.__version__}: {len(done.outcomes)} tests,", end=" ")
    print(", ".join(f"{n} {outcome}" for outcome, n in Counter(done.outcomes.values()).most_common()))
    print("failed: " + (", ".join(f"{n} {kind}" for kind, n in kinds.most_common()) or "none"))
    return int("NO VERDICT" in kinds or bool(more) or bool(unused))


if __name__ == "__main__":
    sys.exit(main())
