"""Online gradient boosting (Beygelzimer, Hazan, Kale and Luo 2015): a stream in, guarantees out.

    booster = SpanBooster(LinearLearner(), n_learners=20, loss="squared")
    booster.partial_fit(X, y)        # rows in order; a batch is the loop, bit for bit
    booster.predict(X)               # raw scores
    booster.regret()                 # what the stream has cost so far, and what simpler answers would have

`SpanBooster` competes with the span of the learners (Algorithm 1), `HullBooster` with their convex hull (2).
"""

from anyboost.online.algorithms import HullBooster, SpanBooster
from anyboost.online.base import OnlineLearner, Stage
from anyboost.online.booster import OnlineBooster
from anyboost.online.intervals import AdaptiveIntervals
from anyboost.online.linear import LinearLearner
from anyboost.online.nets import NetLearner
from anyboost.online.regret import Regret
from anyboost.online.stumps import FeatureStumpLearner
from anyboost.online.trees import TreeLearner

__all__ = [
    "AdaptiveIntervals",
    "FeatureStumpLearner",
    "HullBooster",
    "LinearLearner",
    "NetLearner",
    "OnlineBooster",
    "OnlineLearner",
    "Regret",
    "SpanBooster",
    "Stage",
    "TreeLearner",
]
