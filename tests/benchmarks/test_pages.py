"""What the README and the pages say of races is what their committed lines come to."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks import accuracy_pooling, accuracy_report, coverage, online_modes, speed, stream_report

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@cache
def lines(name):
    return [json.loads(line) for line in (DOCS / name).read_text(encoding="utf-8").splitlines()]


@cache
def speeds():
    return json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))


def rows(page, heading=""):
    """The rows of the tables of a page's section, as it writes them; its own words in brackets left out."""
    text = (DOCS / page).read_text(encoding="utf-8")
    text = re.split(r"^#+ ", text[text.index(heading) + len(heading) :], maxsplit=1, flags=re.MULTILINE)[0]
    return [re.sub(r" \((mq2008|\w+, \w+)\)", "", row) for row in re.findall(r"^\| .*\d.* \|$", text, re.M)]


CASES = {
    "judging sets": (
        "accuracy.md", "## What came out on the judging sets", lambda: accuracy_report.page(lines("accuracy.jsonl")), 15
    ),
    "tuned": (
        "accuracy.md", "## After tuning, what came out", lambda: accuracy_report.page(lines("accuracy-tuned.jsonl")), 3
    ),
    "coverage": ("uncertainty.md", "## What they cover", lambda: coverage.report(lines("coverage.jsonl")), 15),
    **{
        f"{kind} streams, {rows} rows": (
            "streams-benchmark.md", f"### {kind} streams, at most {rows} rows each",
            lambda: stream_report.page(lines("streams.jsonl")), 20,
        )
        for kind, rows in [("Judging", "50,000"), ("Judging", "10,000"), ("Choosing", "50,000")]
    },
    "online modes": (
        "experiments/online.md", "## Greedy mode and supplement C.1",
        lambda: online_modes.report(lines("figures/online-modes.jsonl")), 36
    ),
    "speed": ("benchmarks.md", "# Speed against other libraries", lambda: speed.page(speeds()), 20),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_tables_are_those_of_the_lines(case):
    page, heading, report, least = CASES[case]
    shown = rows(page, heading)
    assert len(shown) >= least
    made = set(report().splitlines())
    assert [row for row in shown if row not in made] == []


def told(start):
    """The numbers of the row of the README's table that starts so."""
    (row,) = re.findall(rf"^\| {re.escape(start)} \| (.*?) \| ", README, re.MULTILINE)
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", row)]


def ratio(name, peer, family, field="ratio"):
    return getattr(accuracy_pooling.pooled(lines(name), peer, family), field)


def test_the_readme_tells_accuracy_as_it_was_measured():
    kinds = ("regression", "two classes, log loss", "several classes, log loss")
    assert told("accuracy, nothing set") == pytest.approx(
        [ratio("accuracy.jsonl", "LightGBM", kind) for kind in kinds], abs=0.0051
    )
    over_catboost = [ratio("accuracy.jsonl", "CatBoost", kind) for kind in kinds]
    chimera = ratio("accuracy.jsonl", "ChimeraBoost", kinds[1])
    assert told("the same, over CatBoost's") == pytest.approx([*over_catboost, chimera], abs=0.0051)
    tuned = [ratio("accuracy-tuned.jsonl", "LightGBM", kind) for kind in ("RMSE", kinds[2], kinds[1])]
    assert told("after tuning both") == pytest.approx(tuned, abs=0.0051)
    times = [ratio("accuracy.jsonl", "LightGBM", kind, "time") for kind in kinds]
    assert told("time, nothing set") == pytest.approx(times, rel=0.05)


def test_the_readme_tells_ranks_as_they_are():
    ranks, sets = accuracy_pooling.mean_ranks(lines("accuracy.jsonl"))
    (said,) = re.findall(r"!\[Mean ranks of seven libraries' defaults over (\d+) data sets: (.*?)\]", README)
    assert (int(said[0]), len(ranks)) == (sets, 7)
    for library, rank in re.findall(r"(\w+) ([\d.]+)", said[1]):
        assert ranks[library] == pytest.approx(float(rank), abs=0.0051), library


def test_the_readme_tells_speed_and_coverage_as_they_were_measured():
    tasks = speeds()["tasks"]
    ours = [tasks[name] for name in ("stumps, squared", "31 leaves, squared", "stumps, absolute")]
    fits = told("time, same trees and rounds, 500,000 rows")
    assert [fits[0], fits[1], fits[3]] == pytest.approx(
        [task["lightgbm"]["fit_ratio"][1] for task in ours], abs=0.051
    )
    theirs = {peer: [task[peer]["one_row_ratio"][1] for task in ours] for peer in ("lightgbm", "xgboost")}
    three, least, most = told("one row's prediction")
    assert theirs["lightgbm"] == pytest.approx([three] * 3, abs=0.5)
    assert (round(min(theirs["xgboost"])), round(max(theirs["xgboost"]))) == (least, most)
    shown = {row.split(" | ")[0]: row.split(" | ") for row in rows("uncertainty.md", "## What they cover")}
    inside, asked, bare = told("intervals")
    assert (asked, float(shown["| joint quantiles, cv (default)"][3])) == (0.9, inside)
    assert float(shown["| joint quantiles, not calibrated"][3]) == pytest.approx(bare, abs=0.0051)
