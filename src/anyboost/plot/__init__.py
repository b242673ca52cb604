"""What people look at: trees, rounds, planned paths, and what a model uses and why it says what it says.

`model` is an estimator, a Run, or an Ensemble. Figures are those of pyplot, so that a notebook shows them and
`plt.savefig` saves them; with `ax` they are drawn there. They need matplotlib: pip install "anyboost[report]".
"""

from anyboost.plot.answers import importances, why
from anyboost.plot.calibration import by_group, calibration
from anyboost.plot.curves import shapes
from anyboost.plot.dependence import partial_dependence
from anyboost.plot.maps import paths
from anyboost.plot.progress import rounds
from anyboost.plot.trees import text, tree

__all__ = [
    "by_group",
    "calibration",
    "importances",
    "partial_dependence",
    "paths",
    "rounds",
    "shapes",
    "text",
    "tree",
    "why",
]
