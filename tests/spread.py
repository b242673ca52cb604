"""Arrays as dask collections of several parts."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd


def arrays(*given, rows=90):
    return [da.from_array(part, chunks=(rows, *part.shape[1:])) for part in given]


def frames(*given, parts=5):
    found = []
    for part in given:
        frame = (
            pd.DataFrame(part, columns=[f"c{j}" for j in range(part.shape[1])])
            if part.ndim > 1
            else pd.Series(part)
        )
        found.append(dd.from_pandas(frame, npartitions=parts))
    return found


def delayed(*given, parts=4):
    return [[dask.delayed(piece) for piece in np.array_split(part, parts)] for part in given]
