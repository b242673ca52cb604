"""Spaces as a projection is lent them: some rows, with the weights they have, and some columns."""

import numpy as np

from anyboost.space import Masses
from anyboost.trees.rows import Rows


def lent(space, rows=None, features=None, key=0):
    measure = None
    if rows is not None:
        own = np.ones(len(rows)) if space.mass is None else space.mass[rows]
        some, mass = Masses.of(space.measure.unit * own, Rows(len(rows))), np.zeros(space.n)
        mass[rows] = 1.0 if some.mass is None else some.mass
        measure = some._replace(mass=mass, drawn=rows)
    return space.lent(measure, features, key)
