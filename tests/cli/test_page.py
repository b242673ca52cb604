"""The commands of docs/command-line.md print what the page says; those of other pages run."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from test_readme import assert_same_output

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "command-line.md"
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

SHELL = re.compile(r"^```bash\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OTHERS = ("README.md", "docs/report.md", "docs/coming-from/vowpalwabbit.md")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    table = load_diabetes(as_frame=True, scaled=False)
    table.data.assign(progression=table.target).to_csv(folder / "patients.csv", index=False)
    return folder


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0] for block in BLOCKS])
def test_a_block_prints_what_it_shows(place, monkeypatch, block):
    monkeypatch.chdir(place)
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        done = CliRunner().invoke(build(), shlex.split(line)[1:])
        assert done.exit_code == 0, done.stderr
        assert_same_output(
            re.sub(r"[\d,]+ bytes", "# bytes", done.stdout), re.sub(r"[\d,]+ bytes", "# bytes", shown)
        )


@pytest.mark.parametrize("page", OTHERS)
def test_the_lines_of_other_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = load_diabetes(as_frame=True)
    houses = table.data.assign(price=table.target)
    for name in ("houses.csv", "new.csv"):
        houses[:120].to_csv(name, index=False)
    ab.save(ab.BoostingRegressor(max_iter=2).fit(table.data[:120], table.target[:120]), "model.anyboost")
    Path("train.vw").write_text("1 | a:1 b:2\n-1 | a:2\n" * 20)
    lines = [
        line
        for block in SHELL.findall((ROOT / page).read_text(encoding="utf-8"))
        for line in block.splitlines()
    ]
    ours = [line for line in lines if line.startswith("anyboost ")]
    assert ours, f"{page} shows no command"
    for line in ours:
        done = CliRunner().invoke(build(), shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, (line, done.stderr)


def test_every_command_is_on_the_page():
    from anyboost.cli import command_names

    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}" in text for name in command_names())
