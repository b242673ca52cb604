"""How fast and how good, in one run, on this machine: beside the package, not in it.

`anyboost bench speed | online | combine` races other libraries; `python -m benchmarks.NAME`, in the root of a checkout,
runs one of the studies behind the tables of docs/.
"""

from typing import Any

# What a study of time or of one dial fits: as others do by default, 100 rounds on all rows and columns
PLAIN_DIALS: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_iter": 100,
    "min_leaf_weight": 5.0,
    "l2_regularization": 0.0,
    "max_features": 1.0,
    "subsample": 1.0,
    "random_thresholds": False,
    "early_stopping": False,
}
