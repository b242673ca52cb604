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
    """Delayed parts, of frames too, which `np.array_split` makes arrays of from pandas 3 on."""
    found = []
    for part in given:
        places = np.array_split(np.arange(len(part)), parts)
        found.append([dask.delayed(part.iloc[own] if hasattr(part, "iloc") else part[own]) for own in places])
    return found
