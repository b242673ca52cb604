"""Planning by brute force: every path of a tiny map, one after the other."""

from __future__ import annotations

import itertools
import math

import numpy as np


def all_paths(shape, start, goal, step, walls=()):
    """Every path from start to goal that enters no cell twice; `step(a, b)` says whether a move is one."""
    cells = [
        cell
        for cell in itertools.product(range(shape[0]), range(shape[1]))
        if cell not in set(map(tuple, walls))
    ]

    def extend(path):
        if path[-1] == goal:
            yield list(path)
            return
        for cell in cells:
            if cell not in path and step(path[-1], cell):
                yield from extend([*path, cell])

    return list(extend([tuple(start)]))


def king(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1


def forward(reach):
    return lambda a, b: b[1] == a[1] + 1 and abs(b[0] - a[0]) <= reach


def path_weights(path, diagonal):
    """1 for the start and for straight moves, `diagonal` for diagonal ones."""
    found = [1.0]
    for a, b in itertools.pairwise(path):
        found.append(diagonal if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 2 else 1.0)
    return found


def path_cost(path, cost, diagonal=1.0):
    return math.fsum(w * cost[cell] for w, cell in zip(path_weights(path, diagonal), path, strict=True))


def off(cell, demonstration, tolerance):
    """1 where a cell is further than `tolerance` (of a king's moves) from all of the demonstration, else 0."""
    near = min(max(abs(cell[0] - r), abs(cell[1] - c)) for r, c in demonstration)
    return 1.0 if near > tolerance else 0.0


def margin(cost, demonstration, paths, tolerance=0, diagonal=1.0, least=-math.inf):
    """What the demonstration costs minus the least cost minus loss of all paths; costs are at least 1 + `least`."""
    paid = {cell: max(value, 1 + least) for cell, value in cost.items()}
    augmented = {cell: value - off(cell, demonstration, tolerance) for cell, value in paid.items()}
    return path_cost(demonstration, paid, diagonal) - min(path_cost(p, augmented, diagonal) for p in paths)


def best_linear_costs(X, y, demonstrations, shape, radius):
    """The least planning loss of costs X w, ||w||_1 <= radius, on forward lattices of one shape: a linear program.

    Variables: w+, w-, and a slack for each demonstration that is at least its margin against every path.
    """
    from scipy.optimize import linprog

    count = X.shape[1]
    rows, bounds = [], []
    place = {tuple(cell): n for n, cell in enumerate(y.tolist())}
    for number, (which, shown) in enumerate(demonstrations):
        for path in all_paths(shape, tuple(shown[0]), tuple(shown[-1]), forward(1)):
            dearer = sum(X[place[(which, *cell)]] for cell in shown) - sum(
                X[place[(which, *cell)]] for cell in path
            )
            slack = np.zeros(len(demonstrations))
            slack[number] = -1
            rows.append(np.concatenate([dearer, -dearer, slack]))
            bounds.append(-sum(off(cell, shown, 0) for cell in path))
    rows.append(np.concatenate([np.ones(2 * count), np.zeros(len(demonstrations))]))
    bounds.append(radius)
    price = np.concatenate([np.zeros(2 * count), np.full(len(demonstrations), 1 / len(demonstrations))])
    return linprog(price, A_ub=np.array(rows), b_ub=bounds, bounds=(0, None)).fun
