"""The cheapest way through a lattice that only moves forward, column by column, whatever the sign of costs."""

import numpy as np

from anyboost.backends.compiler import kernel


@kernel
def cheapest_rows(cost, start_row, start_column, goal_row, goal_column, reach):
    """The row in each column from start to goal; empty where no way leads there.

    Of equally cheap ways into a cell the one from the nearest row counts, the upper one first.
    """
    rows = cost.shape[0]
    moves = goal_column - start_column
    total = np.full(rows, np.inf)
    total[start_row] = cost[start_row, start_column]
    before = np.empty((moves + 1, rows), np.int64)
    for move in range(1, moves + 1):
        reached = np.full(rows, np.inf)
        for row in range(rows):
            best = total[row]
            source = row
            for away in range(1, reach + 1):
                if row - away >= 0 and total[row - away] < best:
                    best = total[row - away]
                    source = row - away
                if row + away < rows and total[row + away] < best:
                    best = total[row + away]
                    source = row + away
            reached[row] = best + cost[row, start_column + move]
            before[move, row] = source
        total = reached
    if total[goal_row] == np.inf:
        return np.empty(0, np.int64)
    path = np.empty(moves + 1, np.int64)
    path[moves] = goal_row
    for move in range(moves, 0, -1):
        path[move - 1] = before[move, path[move]]
    return path
