"""A report as a browser has it: no error, every figure seen, tables that sort; skipped where there is no Chromium."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import anyboost as ab

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# Clicks on a heading of the table of residuals, twice, and tells what is then to be seen.
PROBE = """
<script>
window.addEventListener("load", () => {
  const table = document.querySelector("#residuals table"), seen = () =>
    [...table.tBodies[0].rows].map((row) => Number(row.cells[3].dataset.by));
  const button = table.querySelectorAll("th button")[3];
  button.click(); const rising = seen(); button.click(); const falling = seen();
  const names = document.querySelector("#parameters table");
  names.querySelectorAll("th button")[0].click();
  const found = {
    rising, falling, sort: button.parentElement.getAttribute("aria-sort"),
    names: [...names.tBodies[0].rows].map((row) => row.cells[0].textContent),
    figures: [...document.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().width),
    wide: document.documentElement.scrollWidth, window: window.innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    back: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.querySelector("svg text")).fill,
  };
  const note = document.createElement("script");
  note.type = "application/json"; note.id = "found"; note.textContent = JSON.stringify(found);
  document.body.append(note);
});
</script>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    model = ab.BoostingRegressor(max_leaf_nodes=2, max_iter=20).fit(X[:100], y[:100])
    path = tmp_path_factory.mktemp("report") / "report.html"
    ab.report.write(model, path, X[100:], y[100:])
    path.write_text(path.read_text(encoding="utf-8").replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    return path


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, which is not installed here")
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (500, True)])
def test_a_browser_shows_figures_and_sorts_tables_without_an_error(page, width, dark, tmp_path):
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    folder = f"--user-data-dir={tmp_path / 'profile'}"
    opened = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            folder,
            scheme,
            f"--window-size={width},900",
            "--enable-logging=stderr",
            "--dump-dom",
            f"file://{page}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in opened.stderr, opened.stderr
    found = json.loads(re.search(r'id="found">(.*?)</script>', opened.stdout, re.DOTALL)[1])
    assert found["rising"] == sorted(found["rising"])
    assert found["falling"] == found["rising"][::-1]
    assert len(set(found["rising"])) > 3
    assert found["sort"] == "descending"
    assert found["names"] == sorted(found["names"])
    assert len(found["figures"]) >= 6
    assert min(found["figures"]) > 200
    assert found["wide"] <= found["window"]  # nothing but tables and figures scrolls sideways
    assert found["dark"] == dark
    assert (found["back"], found["ink"]) == (
        ("rgb(22, 24, 28)", "rgb(232, 233, 236)") if dark else ("rgb(255, 255, 255)", "rgb(29, 29, 31)")
    )
