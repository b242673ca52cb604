"""A row as learners see it: a constant 1, then each feature divided by its root mean square, zeros left out.

One wild value must not silence a feature for ever, nor throw a learner out, and a lasting change of scale must be
followed: so a value counts as at most ten times the root mean square, and where a thousand values in a row stayed
under a tenth of it, it falls to them.
"""

import math

from anyboost.backends.compiler import part

# Columns of a (features + 1, 7) table: 1 over the scale, the scale, the running mean square, how many values;
# the largest value of the current thousand; how many values until the scale, and until the thousand, is due.
INVERSE, SCALE, SQUARE, COUNT, PEAK, DUE, LEFT = 0, 1, 2, 3, 4, 5, 6
WIDTH = 7
ROWS, NORM, SHARE = 0, 1, 2  # rows seen; sum of |v|^2, and of ones, discounted
SIZE = 3
FAR = 10.0
MEMORY = 10_000.0  # values
WINDOW = 1000.0  # values
YOUNG, REST = 100.0, 16.0  # the scale of a young feature is due at each value, later at each sixteenth


@part
def load(normal, table, data, index, begin, count, learning, v):
    """Fill v with the row, divided by its features' scales where `normal`; returns |v|^2."""
    v[0] = 1.0
    norm = 1.0
    if not normal:
        for j in range(count):
            value = data[begin + j]
            v[j + 1] = value
            norm += value * value
        return norm
    sparse = len(index) > 0
    for j in range(count):
        value = data[begin + j]
        feature = (index[begin + j] if sparse else j) + 1
        size = abs(value)
        inverse = table[feature, INVERSE]
        if inverse == 0.0 and size > 0.0:
            inverse = 1.0 / size
        value = min(max(value * inverse, -FAR), FAR)
        v[j + 1] = value
        norm += value * value
        if learning and size > 0.0:
            if table[feature, COUNT] == 0.0:
                table[feature, SCALE], table[feature, LEFT] = size, WINDOW
            tamed = min(size, FAR * table[feature, SCALE])
            table[feature, COUNT] += 1.0
            # Divisions are slow, and old features need none.
            share = 1.0 / table[feature, COUNT] if table[feature, COUNT] < MEMORY else 1.0 / MEMORY
            table[feature, SQUARE] += share * (tamed * tamed - table[feature, SQUARE])
            table[feature, PEAK] = max(table[feature, PEAK], tamed)
            table[feature, DUE] -= 1.0
            if table[feature, DUE] <= 0.0:
                _scale(table, feature)
    return norm


@part
def _scale(table, feature):
    """Set a feature's scale; after a thousand values under a tenth of it, let it fall."""
    waited = 1.0 if table[feature, COUNT] <= YOUNG else REST
    table[feature, LEFT] -= waited
    table[feature, DUE] = 1.0 if table[feature, COUNT] < YOUNG else REST
    if table[feature, LEFT] <= 0.0:
        if table[feature, PEAK] < 0.1 * table[feature, SCALE]:
            table[feature, SQUARE] = table[feature, PEAK] * table[feature, PEAK]
            table[feature, COUNT] = YOUNG
        table[feature, PEAK], table[feature, LEFT] = 0.0, WINDOW
    table[feature, SCALE] = math.sqrt(table[feature, SQUARE])
    table[feature, INVERSE] = 1.0 / table[feature, SCALE] if table[feature, SCALE] > 0.0 else 0.0


@part
def count(seen, norm, forget):
    """Count a row."""
    seen[ROWS] += 1.0
    seen[NORM] = seen[NORM] * (1.0 - forget) + norm
    seen[SHARE] = seen[SHARE] * (1.0 - forget) + 1.0
