"""A row as learners see it: a constant 1, then each feature divided by how far it reaches.

One wild value must not silence a feature for ever, nor throw a learner out, and a lasting change of scale must be
followed: so a value may stretch its feature's reach by a tenth only (twofold among the first hundred rows) and
counts as no more than that, and the reach falls where all values of a thousand rows stayed under half of it.
"""

from anyboost.backends.compiler import part

REACH, PEAK = 0, 1  # columns of a (features + 1, 2) table: largest |x|, tamed; the same in the current window
ROWS, NORM, SHARE = 0, 1, 2  # rows seen; sum of |v|^2, and of ones, discounted
SIZE = 3
YOUNG = 100.0  # rows
WINDOW = 1000.0  # rows


@part
def load(normal, table, seen, data, index, begin, count, learning, v):
    """Fill v with the row, divided by its features' reach where `normal`; returns |v|^2."""
    v[0] = 1.0
    norm = 1.0
    if not normal:
        for j in range(count):
            value = data[begin + j]
            v[j + 1] = value
            norm += value * value
        return norm
    sparse = len(index) > 0
    most = 2.0 if seen[ROWS] < YOUNG else 1.1
    for j in range(count):
        value = data[begin + j]
        feature = (index[begin + j] if sparse else j) + 1
        size = abs(value)
        limit = table[feature, REACH]
        if limit == 0.0:
            limit = size
        elif size > limit:
            limit = min(size, most * limit)
        if learning:
            table[feature, REACH] = limit
            table[feature, PEAK] = max(table[feature, PEAK], min(size, limit))
        value = min(max(value / limit, -1.0), 1.0) if limit > 0.0 else 0.0
        v[j + 1] = value
        norm += value * value
    return norm


@part
def count(normal, table, seen, norm, forget):
    """Count a row; now and then, let the reach of features whose values have become small fall to them."""
    seen[ROWS] += 1.0
    seen[NORM] = seen[NORM] * (1.0 - forget) + norm
    seen[SHARE] = seen[SHARE] * (1.0 - forget) + 1.0
    if normal and seen[ROWS] % WINDOW == 0.0:
        for feature in range(len(table)):
            if 0.0 < table[feature, PEAK] < 0.5 * table[feature, REACH]:
                table[feature, REACH] = table[feature, PEAK]
            table[feature, PEAK] = 0.0
