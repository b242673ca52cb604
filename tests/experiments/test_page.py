"""The page is whole in itself, says what the records say, and cannot be broken by what they hold."""

import base64
import re
from html.parser import HTMLParser

import pytest

from anyboost.experiments import frame, page

NASTY = '<script>alert("1 & 2")</script>'


class Seen(HTMLParser):
    """Tags that are open, attributes met, and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write the page of two experiments, of which one was missed, and read it."""
    from types import SimpleNamespace

    from matplotlib.figure import Figure

    def draw(results):
        figure = Figure(figsize=(5, 4))
        figure.subplots().plot(list(results.values()))
        return figure

    made = SimpleNamespace(
        TITLE=f"One {NASTY}",
        SOURCE=f"a paper {NASTY}",
        SHOWS=f'a "line" {NASTY}',
        cases=lambda quick: {"a": 1, "b": 2},
        measure=lambda case, tick: case,
        table=lambda results: ["| a | b |", "|---|---|", f"| {NASTY} | **2** |"],
        claims=lambda results: [
            frame.Claim(f"first {NASTY}", "reproduced", "by 1.5"),
            frame.Claim("second", "partly", "by 2.5"),
            frame.Claim("third", "not reproduced", f"by 3.5 {NASTY}"),
        ],
        draw=draw,
    )
    monkeypatch.setattr(frame, "named", lambda name: made)
    frame.run("one", False, tmp_path)

    def write(**options):
        target = tmp_path / "page.html"
        page.write(target, ["one", "two"], options.get("quick", False), tmp_path, {"two": f"no data {NASTY}"})
        seen = Seen()
        seen.feed(target.read_text())
        assert not seen.open
        return target.read_text(), seen

    return write


def test_it_needs_nothing_else(read):
    text, seen = read()
    for tag, attributes in seen.tags:
        assert tag not in ("script", "link", "iframe", "object")
        for name in ("src", "href"):
            address = attributes.get(name, "#")
            assert address.startswith(("#", "data:image/svg+xml;base64,")), address
    assert not re.search(r"url\(|@import", text)


def test_what_records_hold_stays_text(read):
    text, seen = read()
    assert "<script" not in text
    assert seen.text.count(NASTY) >= 7


def test_claims_stand_with_their_verdicts_and_numbers(read):
    _, seen = read()
    words = " ".join(seen.text.split())
    assert re.search(
        r"✓ reproduced first .*? by 1\.5 ◐ partly second by 2\.5 ✗ not reproduced third by 3\.5", words
    )
    assert "✓ 1 reproduced ◐ 1 partly ✗ 1 not reproduced" in words
    assert "Not run: no data" in words
    assert "anyboost reproduce one --fresh" in words
    assert f"anyboost {page.__version__}" in words


def test_readers_who_do_not_see_are_told(read):
    _, seen = read()
    images = [attributes for tag, attributes in seen.tags if tag == "img"]
    assert [image["alt"] for image in images] == [f'a "line" {NASTY}']
    assert (int(images[0]["width"]), int(images[0]["height"])) == (480, 384)
    assert [tag for tag, _ in seen.tags if tag in ("h1", "h2")] == ["h1", "h2", "h2"]
    heads = [attributes for tag, attributes in seen.tags if tag == "th" and "scope" in attributes]
    assert [head["scope"] for head in heads] == ["col"] * 4 + ["row"] * 2
    assert dict(seen.tags)["html"] == {"lang": "en"}


def test_the_picture_is_the_figure(read, tmp_path):
    text, _ = read()
    shown = re.search(r"data:image/svg\+xml;base64,([^\"]+)", text)
    assert base64.b64decode(shown[1]) == (tmp_path / "one.svg").read_bytes()


@pytest.mark.usefixtures("read")
def test_a_heavy_drawing_is_shown_as_png(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "HEAVY", 10)
    text = page.picture(tmp_path / "one").address
    assert (
        base64.b64decode(text.removeprefix("data:image/png;base64,")) == (tmp_path / "one.png").read_bytes()
    )


def test_a_quick_page_says_so(read):
    assert "Quick runs on small data" in read(quick=True)[0]
    assert "Quick runs on small data" not in read()[0]


def test_no_paths_and_no_hosts(read, tmp_path):
    import platform

    text, _ = read()
    assert str(tmp_path) not in text
    assert platform.node() not in text
