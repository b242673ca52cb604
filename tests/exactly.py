"""CSV files read to the last bit, which pandas does by itself from version 3 on."""

from functools import partial

import pandas as pd

_EXACT = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
read_csv = partial(pd.read_csv, **_EXACT)
