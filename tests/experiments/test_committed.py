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
    for claim in record["claims"]:
        assert frame.claim_line(frame.Claim(**claim)) in page


def choices(name, results):
    """What was chosen, what was tried, and why a choice lies at an end; with the name of the loss that decides."""
    deciding = {"planning": "valid", "ranking": "disagreement", "multiclass": "loss", "online": "loss"}
    for label, found in results.items():
        for part in found.values() if name == "online" else [found]:
            tried = part["tried"]
            axes = (
                part["chosen"] if name == "online" else {"rate": part.get("rate"), "scale": part.get("scale")}
            )
            chosen = {axis: value for axis, value in axes.items() if value is not None}
            yield label, chosen, tried, deciding[name], part["at_end"]


@pytest.mark.parametrize("name", ["planning", "ranking", "multiclass", "online"])
def test_chosen_steps_lie_inside_their_grids(name):
    """A choice at an end shows that the grid was too short, and a descent that it was not given its step."""
    record = json.loads((DOCS / "figures" / f"{name}.json").read_text())
    for label, chosen, tried, deciding, at_end in choices(name, record["results"]):
        losses = {
            tuple(one[axis] for axis in chosen): float("inf") if one[deciding] is None else one[deciding]
            for one in tried
        }
        point = tuple(chosen.values())
        assert losses[point] == min(losses.values()), label
        for place, axis in enumerate(chosen):
            line = {
                at[place]: loss
                for at, loss in losses.items()
                if at[:place] + at[place + 1 :] == point[:place] + point[place + 1 :]
            }
            if min(line) < point[place] < max(line):
                continue
            assert at_end, (label, chosen)
            inner = sorted(line)[1] if point[place] == min(line) else sorted(line)[-2]
            flat = line[inner] <= losses[point] * 1.001 and f"flat in {axis}" in at_end
            limit = {"step": (1 / 20, 1.0)}.get(axis, ())
            assert flat or (point[place] in limit and "allowed" in at_end), (label, chosen, at_end)


@pytest.mark.parametrize("page", sorted(DOCS.glob("experiments/[!R]*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("name", frame.NAMES)
def test_the_index_shows_claim_figure_and_outcome_side_by_side(name):
    index = (DOCS / "experiments" / "README.md").read_text()
    record = json.loads((DOCS / "figures" / f"{name}.json").read_text())
    row = frame.summary_row(name, record["results"])
    assert row in index
    paper, picture, ours = row.strip("| ").split(" | ")
    assert f"({name}.md)" in paper
    assert (DOCS / "experiments" / re.search(r"\((.*)\)", picture)[1]).exists()
    assert max(len(paper), len(ours)) < 400  # what is longer does not fit beside a figure
    for verdict in {claim["verdict"] for claim in record["claims"]}:
        assert verdict in ours


@pytest.mark.parametrize("page", sorted(DOCS.glob("experiments/*.md")), ids=lambda page: page.name)
def test_no_cell_is_a_paragraph(page):
    cells = [
        cell
        for line in page.read_text().splitlines()
        if line.startswith("|") and page.name != "README.md"
        for cell in line.split("|")
    ]
    assert max(map(len, cells), default=0) < 200
