"""Whether calibrated probabilities are better ones: `python -m benchmarks.calibration`.

Log loss and Brier score of `calibration="temperature"` and `"isotonic"` over those without, on rows held out of the
training parts of tuning sets. Needs ANYBOOST_DATA.
"""

from time import process_time
from typing import Any

import numpy as np

import anyboost as ab
from benchmarks import changes
from benchmarks.accuracy_sets import problem
from benchmarks.changes import AS_IT_IS, Line

SETS = "adult,bank,elec2,satimage,pendigits,covtype"
WAYS = {AS_IT_IS: None, "temperature": "temperature", "isotonic": "isotonic"}


def measure(name: str, seed: int, rows: int, way: str | None) -> dict[str, Any]:
    """Losses, seconds and rounds of one fit."""
    given = problem(name, seed, rows, held_out=True)
    began = process_time()
    model = ab.BoostingClassifier(calibration=way, n_jobs=1, random_state=seed).fit(
        given.train.X, given.train.y
    )
    seconds = process_time() - began
    p = np.clip(model.predict_proba(given.test.X), 1e-15, 1.0)
    codes = np.searchsorted(model.classes_, given.test.y)
    log_loss = (0.5 - np.log(p[np.arange(len(p)), codes]).sum()) / (len(p) + 1)
    brier = ((p - np.eye(p.shape[1])[codes]) ** 2).sum(axis=1).mean()
    found = {f"{given.task}, log loss": log_loss, f"{given.task}, Brier": brier}
    return {"losses": found, "seconds": seconds, "rounds": model.n_iter_}


def main() -> None:
    parser = changes.options(__doc__, "calibration.jsonl", SETS)
    given = parser.parse_args()
    if given.report is None:
        sets = given.sets.split(",")[: 1 if given.quick else None]
        done = changes.done(given.out)
        for name in sets:
            for seed in range(1 if given.quick else given.seeds):
                for change, way in WAYS.items():
                    if (name, seed, "classes", change) in done:
                        continue
                    found = measure(name, seed, 500 if given.quick else given.rows, way)
                    for family, loss in found["losses"].items():
                        times = (found["seconds"], found["rounds"])
                        changes.note(given.out, Line(name, seed, "classes", family, change, loss, *times))
    lines = [line._replace(fit=line.family) for line in changes.read(given.report or given.out)]
    print(changes.report(lines, dict.fromkeys(line.family for line in lines), WAYS))


if __name__ == "__main__":
    main()
