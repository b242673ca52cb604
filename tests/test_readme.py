"""Every Python block of the README and of docs/ runs, in order, and prints what its page says it prints.

A text block right after a Python block is its output; a Python block without one prints nothing. Words
must be the same; a number may differ by one in its last printed digit.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MADE = ("_build", "api", "gallery")  # by `make docs`
PAGES = [
    "README.md",
    *sorted(
        str(page.relative_to(ROOT))
        for page in ROOT.glob("docs/**/*.md")
        if page.relative_to(ROOT).parts[1] not in MADE
    ),
]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n*^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def assert_same_output(printed: str, promised: str) -> None:
    assert NUMBER.sub("#", printed.strip()) == NUMBER.sub("#", promised.strip())
    for ours, theirs in zip(NUMBER.findall(printed), NUMBER.findall(promised), strict=True):
        mantissa, _, exponent = theirs.partition("e")
        last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        # "12" is a count and stands as it is; "0.12" was rounded.
        tolerance = 1.01 * last_digit if "." in mantissa else 0.0
        assert float(ours) == pytest.approx(float(theirs), rel=0, abs=tolerance), (printed, promised)


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what a page saves is not left behind
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks or page != "README.md", "the README shows no example"
    namespace: dict[str, object] = {"__name__": "readme"}
    for code, promised in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), namespace)
        assert_same_output(printed.getvalue(), promised)


@pytest.mark.parametrize("page", PAGES)
def test_no_bar_within_a_cell_cuts_its_row(page):
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        heading, *rows = (len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines())
        assert rows == [heading] * len(rows), table


@pytest.mark.parametrize(
    ("printed", "promised"),
    [
        ("loss 0.31", "loss 0.33"),
        ("loss 0.31", "error 0.31"),
        ("5 stumps", "6 stumps"),
        ("", "loss 0.31"),
        ("1", ""),
    ],
)
def test_a_wrong_readme_is_caught(printed, promised):
    with pytest.raises(AssertionError):
        assert_same_output(printed, promised)
