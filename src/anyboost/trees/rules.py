"""What a tree is asked to be, and what a search for its cuts has to know of that."""

from typing import NamedTuple

import numpy as np

TIE = 1e-9
NOISE = 2.0  # units a unit of mass: half a unit from rounding, the rest from the target's own last bits
LEAST_SQUARES = 0
EXTREME = 1
CLASS = 2


class Growth(NamedTuple):
    """What a tree may become; `noise`, `l2` and `least` are in units of fixed mass."""

    max_leaves: int
    max_depth: int | None = None
    criterion: int = LEAST_SQUARES
    by_level: bool = False
    noise: float = 0.0
    least: float = 0.0
    l2: float = 0.0
    signs: tuple[int, ...] | None = None  # of each column: 1 where values must not fall along it, -1 not rise
    together: tuple[tuple[int, ...], ...] | None = None  # the columns of a branch must share one of these
    node_features: float = 1.0  # the share of columns that a node may be cut along
    node_thresholds: int = 0  # the cuts of a column that a node looks at; 0: all
    key: int = 0  # by which they are drawn


class Limits(NamedTuple):
    """What a search has to know of every tree: units of noise and of the penalty, the least mass, and of its rows."""

    noise: float
    l2: float
    least: int
    whole: bool  # masses are whole numbers: a bin without mass has nothing in any channel


class Rules(NamedTuple):
    """What trees that are not plain keep to; arrays by node say what that leaves to each."""

    criterion: int
    ordered: bool  # whether values have bounds
    signs: (
        np.ndarray
    )  # by column: 1 where the right value must not be under the left one, -1 not above, else 0
    n_thresholds: np.ndarray  # by column: a cut beyond these parts missing values from the rest
    together: np.ndarray  # (sets, columns): a branch keeps to the columns of one of them
    node_features: float  # the share of columns that a node looks at
    node_thresholds: int  # the cuts of a column that a node looks at; 0: all
    bounds: np.ndarray  # (nodes, 2, k)
    looked: np.ndarray  # (nodes, columns): those drawn for the node; all that it may use where none are
    sets: np.ndarray  # (nodes, sets): those that hold the columns of its branch
    keys: np.ndarray  # (nodes,): words by which columns and cuts are drawn
    words: np.ndarray  # (columns,): room for those of columns
