"""Readers of the pages meet no dead link, find every page from the first, and read of parameters that exist.

The site itself is built where all tests run (`make test-full`, test_site.py); here its parts are checked in a second.
"""

import inspect
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import anyboost as ab
from anyboost import losses

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = ("_build", "api", "gallery")  # by `make docs`
PAGES = [page for page in sorted(DOCS.glob("**/*.md")) if page.relative_to(DOCS).parts[0] not in MADE]
READ = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + PAGES
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
TOC = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ESTIMATORS = (ab.BoostingRegressor, ab.BoostingClassifier, ab.BoostingRanker)


def anchors(page):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    words = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", word.strip().lower()).replace(" ", "-") for word in words}


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_internal_link_is_dead(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in (unquote(a or b) for a, b in LINK.findall(text)):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if path.relative_to(ROOT).parts[:2] == ("docs", "gallery"):
            continue  # made of docs/examples
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(path), f"{page.name} links to {target}"


def test_the_first_page_shows_how_to_install_and_what_it_is_worth():
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    beginning = page.partition("- **[Start here]")[0]
    assert "\npip install " in beginning
    assert re.search(r"!\[.+\]\(figures/accuracy-judged\.svg\)", beginning)


def test_the_page_on_estimators_begins_with_what_they_are():
    page = (DOCS / "estimators.md").read_text(encoding="utf-8")
    beginning = page.partition("\n## ")[0]
    for estimator in ESTIMATORS:
        assert f"| `{estimator.__name__}` |" in beginning
    assert page.index("## Parameters") < page.index("## What is different here")


def listed(page):
    """The pages that a page's tables of contents name, as `page` or as `Title <page>`."""
    for block in TOC.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                name = line.rpartition("<")[2].rstrip(">")
                yield (page.parent / f"{name}.md").resolve()


def test_every_page_is_found_from_the_first():
    seen, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        seen.add(page)
        ahead += [found for found in listed(page) if found not in seen and found.exists()]
    assert {page.relative_to(DOCS) for page in PAGES} == {page.relative_to(DOCS) for page in seen}


def test_tables_of_contents_name_pages_that_exist():
    for page in PAGES:
        for found in listed(page):
            made = found.relative_to(DOCS).parts[0] in MADE
            assert made or found.exists(), f"{page.name} lists {found.name}"


def table(page):
    """Theirs and ours of a page's table of parameters."""
    for line in (DOCS / "coming-from" / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) >= 2:
            yield cells


def given(method):
    return set(inspect.signature(method).parameters)


KNOWN = (
    {name for estimator in ESTIMATORS for name in given(estimator)}
    | {name for estimator in ESTIMATORS for name in given(estimator.fit)}
    | {name for estimator in ESTIMATORS for name in dir(estimator)}
    | {
        name
        for cls in (ab.OnlineBoostingRegressor, ab.OnlineBoostingClassifier)
        for name in (*given(cls), *dir(cls))
    }
    | {"ab", "is_categorical_", "n_iter_", "train_score_", "validation_score_", "feature_names_in_"}
    | {"best_iteration_"}
    | {name.strip("_") for name in ab.__all__}
)


@pytest.mark.parametrize("page", ["lightgbm", "xgboost", "catboost", "histgradientboosting"])
def test_our_side_of_a_parameter_table_exists(page):
    rows = list(table(f"{page}.md"))
    assert len(rows) >= 15
    for row in rows[1:]:
        for name in re.findall(r"`([A-Za-z_]\w*)", row[1]):
            assert name in KNOWN, f"{page}: {name} is no name of ours"


METHODS = {
    "best_iteration",
    "best_score",
    "save_model",
    "get_feature_importance",
    "staged_predict",
    "staged_predict_proba",
    "staged_decision_function",
}
PREDICT = {"pred_contrib", "pred_contribs", "pred_interactions"}


def keywords_of(page):
    """Each keyword of a page's table, with what the table has for it."""
    for row in list(table(page))[1:]:
        for name in re.findall(r"(?<![\w.(])`([a-z]\w*)(?:=[^`]*)?`", row[0]):
            if name not in METHODS and not name.endswith("_"):
                yield name, row


def answer_to(name):
    """What an estimator, its fit or its predict say to a keyword; None where it is one of theirs."""
    if any(name in given(call) for kind in ESTIMATORS for call in (kind, kind.fit)):
        return None
    model = ab.BoostingRegressor()
    say = {True: lambda: model.predict([[0.0]], **{name: 1}), False: lambda: type(model)(**{name: 1})}
    with pytest.raises(TypeError) as refused:
        say[name in PREDICT]()
    return str(refused.value)


@pytest.mark.parametrize(
    ("page", "least"), [("lightgbm", 33), ("xgboost", 36), ("catboost", 25), ("histgradientboosting", 22)]
)
def test_every_keyword_of_a_table_is_answered_as_the_table_has_it(page, least):
    found = list(keywords_of(f"{page}.md"))
    assert len(found) >= least
    for name, (_, ours, *different) in found:
        says = answer_to(name)
        names = re.findall(r"`([A-Za-z_]\w*)", ours)
        names += re.findall(r"(\w+)=", " ".join(re.findall(r"`[^`]*`", ours)))
        if says is None:
            assert name in names or ours.startswith("the same"), (
                f"{page}: {name} is ours, and stands for {ours}"
            )
            continue
        advice = says.partition(": ")[2]
        assert not advice.startswith("help("), f"{page}: {name} has no answer"
        names += re.findall(r"use `(\w+)`", " ".join(different))
        if any(word in advice for word in names if word != "fit"):
            continue
        none = re.match("none|nothing|.*, none", ours) and re.search("leave it out|there is no", advice)
        assert none, f"{page}: {name} -> {ours}, but the error says: {advice}"


def test_a_link_is_called_by_words_and_not_by_a_file():
    for page in PAGES:
        assert not re.search(r"\[[\w/-]+\.md\]\(", page.read_text(encoding="utf-8")), page.name


def test_losses_that_pages_name_exist():
    text = (DOCS / "losses.md").read_text(encoding="utf-8")
    names = re.findall(r'`"([a-z_]+(?::[\d.,]+)?)"`', text)
    assert len(names) > 15
    for name in names:
        assert isinstance(losses.get(name), losses.Loss)


def _answer(name):
    """The loss that is meant by a name, or the one that its refusal tells to use."""
    try:
        return losses.get(name).name
    except ValueError as error:
        return re.search(r"use '(\w+)", str(error))[1]


@pytest.mark.parametrize("page", ["lightgbm", "xgboost", "catboost"])
def test_losses_of_other_libraries_are_understood_or_answered_as_the_page_has_it(page):
    (says,) = [row[-1] for row in table(f"{page}.md") if "`loss`" in row[1]]
    pairs = re.findall(r'`"([A-Za-z_:0-9]+)[=.\d]*"` (?:is )?`"([a-z_]+)[:\d.]*"`', says)
    assert len(pairs) >= 2
    for theirs, ours in pairs:
        assert _answer(theirs).startswith(ours), theirs


@pytest.mark.parametrize("script", sorted(DOCS.glob("examples/*.py")), ids=lambda path: path.stem)
def test_scripts_of_the_gallery_compile_and_have_a_title(script):
    text = script.read_text(encoding="utf-8")
    compile(text, str(script), "exec")
    title, line = text.strip('"\n').splitlines()[:2]
    assert line == "=" * len(title)
