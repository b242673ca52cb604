"""Data sets that OpenML has, fetched by scikit-learn and kept in its cache, brought to the layout of our own files.

Columns are taken in our order and have our names; a category is its place in the sorted list of levels, "?" where it is
missing; classes are 0, 1, 2, ... in the order of OpenML's labels. OpenML does not keep the split of a source.
"""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

ADULT = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
    "capital_loss hours_per_week native_country"
)
BANK = (
    "age job marital education default balance housing loan contact day month duration campaign pdays previous "
    "poutcome"
)
COVER = (
    "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
    "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
)
HOUSES = (
    "longitude latitude housing_median_age total_rooms total_bedrooms population households median_income"
)
LETTER = "x.box y.box width high onpix x.bar y.bar x2bar y2bar xybar x2ybr xy2br x.ege xegvy y.ege yegvx"
BOARD = tuple(f"{column}{row}" for column in "abcdefg" for row in range(1, 7))


COVERS = "Spruce/Fir, Lodgepole Pine, Ponderosa Pine, Cottonwood/Willow, Aspen, Douglas-fir, Krummholz"
SOILS = "red soil, cotton crop, grey soil, damp grey soil, vegetation stubble, very damp grey soil"


def words(text: str, between: str | None = None) -> tuple[str, ...]:
    return tuple(text.split(between))


class Listing(NamedTuple):
    """A data set at OpenML: its number there, its size, and what its columns and labels are called here."""

    number: int
    rows: int
    features: tuple[str, ...]
    categorical: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None  # None for a target that is a number
    levels: Mapping[
        str, tuple[str, ...]
    ] = {}  # where they have an order of their own; "all": other names for all
    same_order: bool = True  # else columns are found by their names


SOURCES = {
    "abalone": Listing(
        183,
        4177,
        words("sex length diameter height whole_weight shucked_weight viscera_weight shell_weight"),
        categorical=("sex",),
    ),
    "adult": Listing(
        1590,
        48842,
        words(ADULT),
        categorical=words(
            "workclass education marital_status occupation relationship race sex native_country"
        ),
        classes=("<=50K", ">50K"),
    ),
    "bank": Listing(
        1461,
        45211,
        words(BANK),
        categorical=words("job marital education default housing loan contact month poutcome"),
        classes=("no", "yes"),
    ),
    "cal_housing": Listing(537, 20640, words(HOUSES), same_order=False),
    "connect4": Listing(
        40668,
        67557,
        BOARD,
        categorical=BOARD,
        classes=("draw", "loss", "win"),
        levels={"all": ("b", "o", "x")},
    ),
    "covtype": Listing(
        1596,
        581012,
        (
            *words(COVER),
            *(f"Wilderness_Area{i}" for i in range(1, 5)),
            *(f"Soil_Type{i}" for i in range(1, 41)),
        ),
        classes=words(COVERS, ", "),
    ),
    "diamonds": Listing(
        42225,
        53940,
        words("carat cut color clarity depth table x y z"),
        categorical=("cut", "color", "clarity"),
        levels={
            "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
            "color": tuple("JIHGFED"),
            "clarity": words("I1 SI2 SI1 VS2 VS1 VVS2 VVS1 IF"),
        },
    ),
    "elec2": Listing(
        151,
        45312,
        words("date day period nswprice nswdemand vicprice vicdemand transfer"),
        classes=("DOWN", "UP"),
    ),
    "letter": Listing(6, 20000, words(LETTER), classes=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
    "pendigits": Listing(
        32, 10992, tuple(f"{axis}{i}" for i in range(1, 9) for axis in "xy"), classes=tuple("0123456789")
    ),
    "satimage": Listing(
        182,
        6430,  # 5 fewer than UCI has
        tuple(f"px{pixel}_band{band}" for pixel in range(1, 10) for band in range(1, 5)),
        classes=words(SOILS, ", "),
    ),
    "shuttle": Listing(
        40685,
        58000,
        tuple(f"V{i}" for i in range(1, 10)),
        classes=("Rad.Flow", "Fpv.Close", "Fpv.Open", "High", "Bypass", "Bpv.Close", "Bpv.Open"),
    ),
}


def fetch(name: str) -> dict[str, Any]:
    """The fields of a `datasets.Dataset`. OSError, ValueError or ImportError say that it could not be had."""
    from sklearn.datasets import fetch_openml

    source = SOURCES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a network that fails, and then says so
        found = fetch_openml(data_id=source.number, as_frame=True, parser="auto", n_retries=1)
    return arrange(found.data, found.target, source)


def arrange(table: Any, target: Any, source: Listing) -> dict[str, Any]:
    """A frame and its target in our layout; ValueError where they are not what we know."""
    expected = (source.rows, len(source.features))
    if table.shape != expected:
        raise ValueError(f"its number {source.number} is a table of {table.shape}, not of {expected}")
    columns, levels = [], {}
    for place, feature in enumerate(source.features):
        column = table.iloc[:, place] if source.same_order else table[feature]
        if feature in source.categorical:
            codes, levels[feature] = _codes(column, source.levels.get(feature))
            columns.append(codes)
        else:
            columns.append(np.asarray(column, dtype=np.float64))
    if "all" in source.levels:
        levels = {"all": list(source.levels["all"])}
    return {
        "X": np.column_stack(columns),
        "y": np.asarray(target, dtype=np.float64) if source.classes is None else _labels(target, source),
        "feature_names": list(source.features),
        "categorical": np.isin(source.features, source.categorical),
        "category_levels": levels or None,
        "classes": None if source.classes is None else list(source.classes),
    }


def _codes(column: Any, order: tuple[str, ...] | None) -> tuple[np.ndarray, list[str]]:
    """Categories as places in a list of levels."""
    words = np.where(column.isna(), "?", np.asarray(column, dtype=object)).astype(str)
    present = sorted(set(words.tolist()))
    levels = present if order is None else list(order)
    if not set(present) <= set(levels):
        raise ValueError(f"column {column.name!r} has other levels than {', '.join(levels)}")
    place = {level: float(code) for code, level in enumerate(levels)}
    return np.array([place[word] for word in words.tolist()]), levels


def _labels(target: Any, source: Listing) -> np.ndarray:
    """Labels as class numbers: numbers by their size, words by the alphabet."""
    assert source.classes is not None
    words = np.asarray(target, dtype=object).astype(str)
    try:
        values: np.ndarray = words.astype(np.float64)
    except ValueError:
        values = words
    labels, codes = np.unique(values, return_inverse=True)
    if len(labels) != len(source.classes):
        raise ValueError(f"it has {len(labels)} classes, not {len(source.classes)}")
    return codes.astype(np.float64)
