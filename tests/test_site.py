"""The site of `make docs`: no warning, no dead link, nothing fetched, and what a browser shows of it from files."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# Tells which blocks of code are wider than what is seen of them.
PROBE = """
<script>
window.addEventListener("load", () => {
  const blocks = [...document.querySelectorAll(".bd-article pre")];
  const found = {
    blocks: blocks.length,
    cut: blocks.filter((block) => block.scrollWidth > block.clientWidth).map((block) => block.textContent),
    wide: document.documentElement.scrollWidth, window: window.innerWidth,
  };
  const note = document.createElement("script");
  note.type = "application/json"; note.id = "found"; note.textContent = JSON.stringify(found);
  document.body.append(note);
});
</script>
"""

pytestmark = pytest.mark.full


class Links(HTMLParser):
    """Where a built page points to, and what may be pointed at."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        for name in ("href", "src"):
            if given.get(name):
                self.targets.append((tag, given[name]))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("sphinx", "pydata_sphinx_theme", "myst_parser", "sphinx_gallery", "numpydoc"):
        pytest.importorskip(package, reason='the site needs pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    site = folder / "html"
    options = ("-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "read"))
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(site)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert made.returncode == 0, made.stderr[-4000:]
    return site


def test_the_site_builds_without_a_warning_a_dead_link_or_a_foreign_script(site):
    written = (
        path for path in site.glob("**/*.html") if "_static" not in path.parts
    )  # the theme keeps templates there
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in written}
    assert len(pages) > 100
    for path, found in pages.items():
        for tag, target in found.targets:
            if target.startswith(("http:", "https:", "mailto:", "data:", "javascript:")):
                assert tag == "a", f"{path.name} fetches {target}"
                continue
            name, _, anchor = target.partition("#")
            name = unquote(name.partition("?")[0])
            there = (path.parent / name).resolve() if name else path
            assert there.exists(), f"{path.relative_to(site)} links to {target}"
            if anchor and there in pages and there.name not in ("genindex.html", "search.html"):
                assert unquote(anchor) in pages[there].ids, f"{path.relative_to(site)} links to {target}"
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "multi_quantil" in index


def test_the_search_page_alone_loads_the_text_of_every_page(site):
    text = (site / "_static" / "passages.js").read_text(encoding="utf-8")
    pages = json.loads(text.removeprefix("window.PASSAGES = ").removesuffix(";\n"))
    sources = {page.stem for page in ROOT.glob("docs/*.md")}  # of which two only list others
    assert sources - {"guides", "more"} <= {name for name, passages in pages.items() if passages}
    assert any(
        anchor == "anyboost.losses.Quantile" for anchor, _ in pages["api/generated/anyboost.losses.Quantile"]
    )
    loading = [path for path in site.glob("**/*.html") if "excerpts.js" in path.read_text(encoding="utf-8")]
    assert loading == [site / "search.html"]


def browsed(url, folder, *options):
    """The page as a browser has it once its scripts are done."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium, which is not installed here")
    profile = f"--user-data-dir={folder / 'profile'}"
    opened = subprocess.run(
        [CHROMIUM, *FLAGS, *options, profile, "--virtual-time-budget=10000", "--dump-dom", url],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return opened.stdout


def test_search_results_have_excerpts_without_a_server(site, tmp_path):
    """A list of titles does not tell which of them has the answer."""
    page = browsed(f"file://{site}/search.html?q=quantile", tmp_path)
    results = re.findall(r"<li class=\"kind.*?</li>", page, re.DOTALL)
    excerpts = [re.search(r'<p class="excerpt">(.*?)</p>', result, re.DOTALL) for result in results]
    assert len(results) > 50
    assert sum(excerpt is not None for excerpt in excerpts) > 0.9 * len(results)
    assert all('<span class="highlighted">' in excerpt[1] for excerpt in excerpts[:5])


@pytest.mark.parametrize("page", ["estimators", "planning", "risk", "theorems"])
def test_no_code_is_cut_on_a_small_screen(site, tmp_path, page):
    probed = site / f"probed-{page}.html"
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    probed.write_text(text.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    shown = browsed(f"file://{probed}", tmp_path, "--window-size=1280,900")
    probed.unlink()
    found = json.loads(re.search(r'id="found">(.*?)</script>', shown, re.DOTALL)[1])
    assert found["blocks"] > 2
    assert found["cut"] == []
    assert found["wide"] <= found["window"]
