"""Words that are no words: numbers and dates, written such that no number comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = r"[+-]?\d[\d.,' \u00a0\u202f]*"
_SIGN = r"[$\u20ac\u00a3\u00a5]|(?:USD|EUR|GBP|CHF|JPY)"
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[/.]\d{1,2}[/.]\d{2})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?"
_PLAIN = re.compile(r"[+-]?\d[\d.]*")
DATES = "dates"
_KINDS = {
    "percentages": re.compile(rf"{_NUMBER} ?%"),
    "amounts of money": re.compile(rf"[+-]? ?(?:{_SIGN}) ?{_NUMBER}|{_NUMBER} ?(?:{_SIGN})"),
    DATES: re.compile(rf"{_DAY}(?:[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?"),
    "times": re.compile(_CLOCK),
    "numbers with commas": re.compile(r"[+-]?\d[\d.' \u00a0\u202f]*,[\d,.]*\d"),
}


def of_words(words: Iterable[str]) -> str | None:
    """What to say of words that are numbers or dates, some as they stand; None where one is neither."""
    bare = [word.strip() for word in words]
    for kind, form in _KINDS.items():
        dressed = next((word for word in bare if form.fullmatch(word)), None)
        if dressed is not None and all(form.fullmatch(word) or _PLAIN.fullmatch(word) for word in bare):
            numbers = "the days since one of them" if kind == DATES else "plain numbers"
            return (
                f"{kind} such as {dressed!a}, from which no number is read: write {numbers}, or say "
                "--task classification"
            )
    return None


def are_dates(words: Iterable[str]) -> bool:
    """Whether these words, of which there is one, are dates with or without times."""
    bare = [word.strip() for word in words]
    return bool(bare) and all(_KINDS[DATES].fullmatch(word) for word in bare)
