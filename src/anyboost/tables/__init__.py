"""Tables as they are: pandas, polars, pyarrow and NumPy in, one array of numbers out.

    numbers and booleans   themselves; a missing value is NaN
    categories             0, 1, 2, ... in the order of their sorted levels; NaN where missing or never seen

`read` learns the levels from a training table, or reads a later table by the levels learned then; `lumped` leaves as
many of them as trees have bins. `quick` reads one row at a time.
"""

from anyboost.tables.choosing import column_number, column_numbers
from anyboost.tables.column import Column, advice_on, is_missing
from anyboost.tables.frames import check_kind, columns_of, frame_of, names_of, take, to_frame
from anyboost.tables.levels import MOST_LEVELS, Columns, Levels, lumped, warn_of_labels
from anyboost.tables.reading import FROM_DTYPE, contiguous, filled, read

__all__ = [
    "FROM_DTYPE",
    "MOST_LEVELS",
    "Column",
    "Columns",
    "Levels",
    "advice_on",
    "check_kind",
    "column_number",
    "column_numbers",
    "columns_of",
    "contiguous",
    "filled",
    "frame_of",
    "is_missing",
    "lumped",
    "names_of",
    "read",
    "take",
    "to_frame",
    "warn_of_labels",
]
