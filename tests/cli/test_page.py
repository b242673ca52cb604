"""The commands of docs/command-line.md print what the page says."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

from anyboost.cli import build
from test_readme import assert_same_output

PAGE = Path(__file__).parent.parent.parent / "docs" / "command-line.md"
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


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


def test_every_command_is_on_the_page():
    from anyboost.cli import command_names

    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}" in text for name in command_names())
