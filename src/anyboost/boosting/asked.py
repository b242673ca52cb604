"""What a call of `boost` asks for: checked before any work; what is left out is the resumed run's, or the default."""

from typing import Any, NamedTuple

from anyboost import checks, losses, weak
from anyboost import descent as descents
from anyboost.boosting.run import Options, Run
from anyboost.descent import Descent
from anyboost.losses import Loss
from anyboost.samples import Sample, check_valid
from anyboost.space import Binned
from anyboost.watching import Monitor
from anyboost.weak import Learner


class Method(NamedTuple):
    """What descends on what, along what."""

    loss: Loss
    learner: Learner
    descent: Descent

    @classmethod
    def check(cls, loss: Any, learner: Any, descent: Any, curvature: Any, resume: Any) -> "Method":
        """What is given, else that of the run to resume, else the defaults; pairs that cannot be are refused."""
        if resume is not None and not isinstance(resume, Run):
            raise TypeError(f"resume must be a Run that boost returned, got {type(resume).__name__}")
        method = cls(
            losses.get(_choice("loss", loss, resume, "squared")),
            weak.get(_choice("learner", learner, resume, "stump")),
            descents.get(_choice("descent", descent, resume, "residual")),
        )
        method = method._replace(descent=_with_curvature(method.descent, curvature, resume))
        weak.admit_atoms(method.learner, method.descent)
        weak.admit_curvature(method.learner, method.descent, method.loss)
        return method

    def admit(self, sample: Sample, options: Options) -> None:
        """Refuse a sample that the learner cannot be fitted to."""
        weak.admit_weights(self.learner, sample.weights)
        weak.admit(self.learner, sample.X, options.categorical, sample.outputs)
        checks.codes(sample.X, "X", options.categorical)


def options_of(resume: Run | None, X: Any, n_columns: int, **given: Any) -> Options:
    """The options given, else those of the run to resume or of the bins, else the defaults."""
    if given["categorical"] is not None:
        given["categorical"] = checks.columns(given["categorical"], "categorical", n_columns)
    if isinstance(X, Binned):
        given |= {name: X.agree(name, given[name]) for name in ("max_bins", "categorical")}
    earlier = Options() if resume is None else resume.options
    for name, value in given.items():
        known = getattr(earlier, name)
        if resume is not None and value not in (None, known):
            raise _other(name, known, value)
    chosen = earlier._replace(**{name: value for name, value in given.items() if value is not None})
    checks.fraction(chosen.row_fraction, "row_fraction", zero=False)
    checks.fraction(chosen.feature_fraction, "feature_fraction", zero=False)
    checks.bins(chosen.max_bins)
    checks.choice(chosen.record, "record", ("full", "light"))
    return chosen


def _other(name: str, earlier: Any, given: Any, advice: str = "leave it out") -> ValueError:
    return ValueError(f"{name} is {earlier} in the run to resume, got {given}; {advice}")


def _choice(name: str, given: Any, resume: Run | None, default: str) -> Any:
    if resume is None:
        return default if given is None else given
    earlier = getattr(resume, name)
    if given is None:
        return earlier
    room = {"loss": losses, "learner": weak, "descent": descents}[name]
    if not room.stands_for(given, earlier):
        advice = getattr(earlier, "advice", "leave it out")
        raise _other(name, repr(earlier), repr(room.get(given)), advice)
    return earlier


def _with_curvature(descent: Descent, curvature: Any, resume: Run | None) -> Descent:
    """The descent with the curvature that is asked for; a run that is resumed keeps its own."""
    asked = descents.check_curvature(curvature)
    if asked == "auto":
        return descent
    if resume is not None and asked != descent.curved:
        raise _other("curvature", descent.curved, asked)
    if asked and descent.atom_size is not None:
        raise ValueError(
            f"descent {type(descent).__name__} steps along atoms in the flat metric: leave curvature out, or use "
            "naive, repeated or residual"
        )
    return descent.having(curvature=asked)


def seed_of(random_state: int | None, resume: Run | None) -> int:
    if random_state is not None:
        checks.seed(random_state)
    if resume is None:
        return int(random_state or 0)
    if random_state not in (None, resume.seed):
        raise _other("random_state", resume.seed, random_state)
    return resume.seed


def watched_set(method: Method, valid: Any, patience: int | None, sample: Sample) -> Sample | Monitor | None:
    """The set to watch. Estimators give a monitor of their own, with several sets and measures."""
    if isinstance(valid, Monitor):
        return valid
    checked = check_valid(method.loss, valid, sample, weak.takes(method.learner).sparse)
    if checked is not None:
        weak.admit_values(method.learner, checked.X, "valid X")
    check_patience(patience, checked is not None)
    return checked


def check_patience(patience: int | None, watches: bool) -> None:
    if patience is None:
        return
    checks.count(patience, "patience", least=1)
    if not watches:
        raise ValueError("patience needs a set to watch: pass valid=(X, y), or leave patience out")
