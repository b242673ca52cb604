"""The folds are the official ones, test queries choose nothing, and the paper's data are read where they are."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.experiments import frame, ranking

CASE = {"data": "generated", "fold": 2, "method": "residual", "stumps": 15, "scales": (0.1, 1.0), "growth": 0}


@pytest.fixture(autouse=True)
def forget():
    """What was read under another ANYBOOST_DATA."""
    ranking.read.cache_clear()
    yield
    ranking.read.cache_clear()


def quietly(_):
    pass


def test_the_quick_form_runs_on_generated_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    record = frame.run("ranking", True, tmp_path)
    assert len(record["results"]) == 5 * 3
    assert len(record["claims"]) == 3
    assert (tmp_path / "ranking.png").read_bytes().startswith(b"\x89PNG")
    assert "| generated | **mean** | residual |" in (tmp_path / "ranking.md").read_text()


def test_the_folds_are_the_official_ones(monkeypatch):
    # Fold 1: train S1, S2, S3, validation S4, test S5. Fold 2: S2, S3, S4 / S5 / S1; and so on.
    official = {1: "123 4 5", 2: "234 5 1", 3: "345 1 2", 4: "451 2 3", 5: "512 3 4"}
    data = ranking.generated(queries=10)
    monkeypatch.setattr(ranking, "generated", lambda: data._replace(X=data.split[:, None]))
    for number, parts in official.items():
        fold = ranking.read("generated", number)
        for part, digits in zip(fold, parts.split(), strict=True):
            assert set(part.X.ravel()) == {int(digit) for digit in digits}
        assert not set(fold.test.qid) & {*fold.train.qid, *fold.valid.qid}


def test_curves_end_where_a_fit_does():
    found = ranking.measure(CASE, quietly)
    fold = ranking.read("generated", 2)
    descent = ab.descent.Residual(ab.steps.InverseSqrt(found["scale"]))
    run = ab.boost(fold.train.X, fold.train.y, "rank_hinge", "stump", descent, 15, groups=fold.train.qid)
    scores = run.ensemble.predict(fold.test.X)
    wrong = [
        (scores[i] < scores[j]) + 0.5 * (scores[i] == scores[j])
        for i in range(len(scores))
        for j in np.flatnonzero(fold.test.qid == fold.test.qid[i])
        if fold.test.y[i] > fold.test.y[j]
    ]
    assert found["test"][-1] == pytest.approx(np.mean(wrong), rel=1e-4)
    assert found["train_loss"][-1] == pytest.approx(run.steps[-1].loss, rel=1e-4)
    stop = found["stumps"].index(found["stopped_at"])
    assert found["valid"][stop] == min(found["valid"])
    assert found["stopped"] == found["test"][stop]


def test_test_queries_choose_nothing(monkeypatch):
    found = ranking.measure(CASE, quietly)
    fold = ranking.read("generated", 2)
    spoiled = fold._replace(test=fold.test._replace(y=-fold.test.y))
    monkeypatch.setattr(ranking, "read", lambda *_: spoiled)
    again = ranking.measure(CASE, quietly)
    assert again["test"] == pytest.approx([1 - share for share in found["test"]], abs=1e-4)
    for name in ("scale", "tried", "train_loss", "valid", "distinct", "stopped_at"):
        assert again[name] == found[name]


def test_the_scale_is_tuned_on_so_many_queries_in_their_order():
    part = ranking.Part(np.arange(6.0)[:, None], np.arange(6.0), np.array([9, 9, 2, 9, 5, 2]))
    kept = ranking.some_queries(part, 2)
    assert kept.qid.tolist() == [9, 9, 2, 9, 2]
    assert kept.X.ravel().tolist() == kept.y.tolist() == [0, 1, 2, 3, 5]


def test_the_papers_data_are_used_where_they_are(tmp_path, monkeypatch):
    data = ranking.generated(queries=30)
    folder = tmp_path / ranking.PAPERS / "Fold3"
    folder.mkdir(parents=True)
    for name, parts in (("train", [1, 2, 3]), ("vali", [4]), ("test", [5])):
        rows = np.flatnonzero(np.isin(data.split, parts))
        lines = [
            f"{data.y[n]:g} qid:{data.qid[n]} "
            + " ".join(f"{j}:{x!r}" for j, x in enumerate(data.X[n].tolist(), 1))
            for n in rows
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    papers = [f"MSLR-WEB10K, fold 3, {method}" for method in ("naive", "repeated", "residual")]
    assert list(ranking.cases(False)) == papers
    (tmp_path / "mq2008.npz").touch()
    assert list(ranking.cases(False))[5 * 3 :] == papers
    assert not any("MSLR" in name for name in ranking.cases(True))
    monkeypatch.setattr(ranking, "generated", lambda: data)
    found = ranking.measure({**CASE, "data": ranking.PAPERS, "fold": 3}, quietly)
    same = ranking.measure({**CASE, "fold": 1}, quietly)
    assert found["test"] == same["test"]
    assert found["train_loss"] == same["train_loss"]


def verdicts(naive, repeated, residual):
    """Of each method, in two folds: the last training loss, test disagreement early and late; stopped early."""
    results = {
        f"{method} {fold}": {
            "data": "mq2008",
            "method": method,
            "stumps": [1, 3],
            "tried": [{"train_loss": 9.0}, {"train_loss": loss}],
            "test": [early, late],
            "stopped": early,
        }
        for method, (loss, early, late) in (("naive", naive), ("repeated", repeated), ("residual", residual))
        for fold in (1, 2)
    }
    return [claim.verdict for claim in ranking.claims(results)]


def test_claims_are_decided_by_the_results():
    assert verdicts((0.5, 0.3, 0.3), (0.3, 0.2, 0.2), (0.3, 0.2, 0.2)) == ["reproduced"] * 3
    assert verdicts((0.3, 0.2, 0.2), (0.4, 0.3, 0.3), (0.4, 0.3, 0.3)) == ["not reproduced"] * 3
    # Residual learns the training rows best, is best where stopped, and no better where it is not.
    mixed = verdicts((0.5, 0.3, 0.3), (0.4, 0.2, 0.2), (0.1, 0.2, 0.4))
    assert mixed == ["partly", "reproduced", "partly"]
