"""What docs/ shows of the experiments is what their committed results come to."""

import json
import re
from pathlib import Path

import pytest

from anyboost.experiments import frame

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [name for name in frame.NAMES if (DOCS / "figures" / f"{name}.json").exists()]


@pytest.mark.parametrize("name", NAMES)
def test_claims_are_those_of_the_results(name, monkeypatch):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)  # `ranking` has more cases where MSLR-WEB10K is there
    record = json.loads((DOCS / "figures" / f"{name}.json").read_text())
    experiment = frame.named(name)
    assert not record["quick"]
    assert list(record["results"]) == list(experiment.cases(False))
    assert [claim._asdict() for claim in experiment.claims(record["results"])] == record["claims"]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_the_figure_and_quotes_table_and_verdicts_right(name):
    record = json.loads((DOCS / "figures" / f"{name}.json").read_text())
    page = (DOCS / "experiments" / f"{name}.md").read_text()
    assert f"(../figures/{name}.png)" in page
    table = frame.named(name).table(record["results"])
    if table[0] in page:
        assert [line for line in table if line not in page] == []
    if "| claim | verdict |" in page:
        for claim in record["claims"]:
            assert f"| {claim['says']} | **{claim['verdict']}** | {claim['because']} |" in page


@pytest.mark.parametrize("page", sorted(DOCS.glob("experiments/[!R]*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_index_lists_every_experiment():
    index = (DOCS / "experiments" / "README.md").read_text()
    for name in frame.NAMES:
        assert f"({name}.md)" in index
