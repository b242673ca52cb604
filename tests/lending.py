"""Spaces as a projection is lent them: some rows, with the weights they have, and some columns."""

import numpy as np

from anyboost.space import Masses


def lent(space, rows=None, features=None, key=0):
    measure = None
    if rows is not None:
        weights = np.zeros(space.n)
        weights[rows] = space.measure.unit * (1.0 if space.mass is None else space.mass[rows])
        measure = Masses.of(space.n, weights)
    return space.lent(measure, features, key)
