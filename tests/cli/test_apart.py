"""No command writes over what it reads, or twice to one place, under whatever name: that is said before any work."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build

# {} is where the command is to write; the last word names what is there already
OVER_AN_INPUT = [
    ("combine data.csv --target y -o {}", "data.csv"),
    ("combine data.csv --target y --save {}", "data.csv"),
    ("combine data.png --format csv --target y --figure {}", "data.png"),
    ("fit data.csv --target y -o {}", "data.csv"),
    ("fit data.csv --config fit.toml -o {}", "fit.toml"),
    ("fit data.csv --config page.html -o new --report {}", "page.html"),
    ("fit data.csv --target y --valid later.csv -o {}", "later.csv"),
    ("fit other.csv data.csv --target y -o {}", "data.csv"),
    ("cv data.csv --target y -o {}", "data.csv"),
    ("cv data.csv --config fit.toml -o {}", "fit.toml"),
    ("predict model data.csv -o {}", "data.csv"),
    ("predict model data.csv --output-format csv -o {}", "model"),
    ("predict model folder -o {}", "folder/part.csv"),
    ("explain model data.csv -o {}", "data.csv"),
    ("explain model.csv data.csv -o {}", "model.csv"),
    ("report model data.csv --target y --format csv -o {}", "page.html"),
    ("report page.html data.csv -o {}", "page.html"),
    ("convert model {} --to json", "model"),
    ("convert model.json {} --to anyboost", "model.json"),
    ("stream data.csv --target y --save {}", "data.csv"),
    ("stream data.csv --target y --predictions {}", "data.csv"),
    ("stream data.png --format csv --target y --figure {}", "data.png"),
    ("stream data.csv --target y --resume online --predictions {}", "online"),
    ("stream data.csv --target y --resume online.png --figure {}", "online.png"),
    ("stream {} --format csv --target y --save new", "new.reached"),
    ("stream data.csv --target y --resume {} --predictions new", "new.anyboost-part"),
]
TWICE = [
    "combine data.csv --target y -o new --save {}",
    "combine data.csv --target y --save new.png --figure {}.png",
    "fit data.csv --target y -o new --report {}",
    "stream data.csv --target y --save new --predictions {}",
    "stream data.csv --target y --save new.png --figure {}.png",
    "stream data.csv --target y --predictions new.png --figure {}.png",
    "stream data.csv --target y --save new --predictions {}.reached",  # a file that --save has beside it
    "stream data.csv --target y --predictions new --save {}.anyboost-part",
    "demo --quick --output new.png --report {}.png",
]
GUISES = {
    "as it is": lambda name: name,
    "a dot": lambda name: f"./{name}",
    "a way round": lambda name: f"folder/../{name}",
    "absolute": lambda name: os.path.abspath(name),
    "a link": lambda name: _linked(name),
}


def _linked(name):
    link = Path(f"link{Path(name).suffix}")
    link.symlink_to(name)
    return str(link)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apart")
    rows = "".join(f"{i},{i % 3},{i}\n" for i in range(8))
    (folder / "folder").mkdir()
    for name in ("data.csv", "later.csv", "other.csv", "data.png", "new.reached", "folder/part.csv"):
        (folder / name).write_text("a,b,y\n" + rows)
    (folder / "fit.toml").write_text('target = "y"\n')
    X, y = np.arange(16.0).reshape(8, 2), np.arange(8.0)
    model = ab.BoostingRegressor(max_iter=1).fit(X, y)
    for name in ("model", "model.csv"):
        ab.save(model, folder / name)
    ab.export.to_json(model, folder / "model.json")
    online = ab.OnlineBoostingRegressor(learner="linear").partial_fit(X, y)
    for name in ("online", "online.png", "new.anyboost-part"):
        ab.save(online, folder / name)
    return folder


def _state(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def _refused(folder, line):
    before = _state(folder)
    done = CliRunner().invoke(build(), line.split())
    assert "which this run needs for something else: name another file" in done.stderr
    assert (done.exit_code, len(done.stderr.splitlines()), done.stdout) == (1, 1, "")
    assert _state(folder) == before


@pytest.fixture
def here(place, monkeypatch):
    """The folder, with a page that is a model, or a file of settings, as the line has it."""
    monkeypatch.chdir(place)
    yield place
    for link in place.glob("link*"):
        link.unlink()
    (place / "page.html").unlink(missing_ok=True)


@pytest.mark.parametrize("guise", GUISES)
@pytest.mark.parametrize(("line", "name"), OVER_AN_INPUT, ids=[line for line, _ in OVER_AN_INPUT])
def test_nothing_that_is_read_is_written_over(here, line, name, guise):
    if "page.html" in (*line.split(), name):
        (here / "page.html").write_bytes(
            (here / ("fit.toml" if line.startswith("fit") else "model")).read_bytes()
        )
        line = line.replace("report model data.csv", "report model page.html")
    _refused(here, line.format(GUISES[guise](name)))


@pytest.mark.parametrize("guise", ["as it is", "a dot", "a way round", "absolute"])
@pytest.mark.parametrize("line", TWICE)
def test_two_results_have_two_places(here, line, guise):
    _refused(here, line.format(GUISES[guise]("new")))


@pytest.mark.usefixtures("here")
def test_a_device_takes_any_number_of_results():
    line = "combine data.csv --target y --no-regret -o /dev/null --save /dev/null"
    done = CliRunner().invoke(build(), line.split())
    assert done.exit_code == 0, done.stderr
    assert Path("/dev/null").is_char_device()


@pytest.mark.usefixtures("here")
def test_figures_and_their_page_have_two_places():
    """The page of a race goes beside its figures, under their name with .md."""
    done = CliRunner().invoke(build(), ["bench", "speed", "--quick", "-o", "figures.md"])
    assert done.exit_code in (1, 2)  # 1 where there is no checkout to race in
    assert not Path("figures.md").exists()
    if done.exit_code == 2:
        assert "end their name in .json" in " ".join(done.stderr.split())
