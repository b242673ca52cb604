"""Convex losses, row by row. Lambda: smoothness, lambda: strong convexity, L: Lipschitz constant.

| loss | targets | l(f, y) | Lambda | lambda | L | best constant | link |
|---|---|---|---|---|---|---|---|
| `Squared()` | real | (y - f)^2 / 2 | 1 | 1 | - | mean | f |
| `Absolute()` | real | abs(y - f) | - | 0 | 1 | median | f |
| `Quantile(tau)` | real | tau (y-f)+ + (1-tau) (f-y)+ | - | 0 | max(tau, 1-tau) | quantile | f |
| `Huber(delta)` | real | r^2/2, delta (abs(r) - delta/2) beyond delta | 1 | 0 | delta | M-estimate | f |
| `Expectile(tau)` | real | a (y - f)^2, a = abs(tau - 1[y<f]) | 2 max a | 2 min a | - | expectile | f |
| `Poisson()` | >= 0 | exp(f) - y f | - | 0 | - | log mean | exp(f) |
| `Gamma()` | > 0 | y exp(-f) + f | - | 0 | - | log mean | exp(f) |
| `Tweedie(power)` | >= 0 | y exp((1-p) f)/(p-1) + exp((2-p) f)/(2-p) | - | 0 | - | log mean | exp(f) |
| `Logistic()` | -1, +1 | log(1 + exp(-y f)) | 1/4 | 0 | 1 | log odds | label |
| `Hinge()` | -1, +1 | (1 - y f)+ | - | 0 | 1 | heavier label | label |
| `SquaredHinge()` | -1, +1 | ((1 - y f)+)^2 / 2 | 1 | 0 | - | P(+1) - P(-1) | label |
| `Exponential()` | -1, +1 | exp(-y f) | - | 0 | - | log odds / 2 | label |
| `Softmax()` | 0 .. K-1 | log sum_k exp(f_k) - f_y | 1/2 | 0 | sqrt 2 | log shares | class |
| `MulticlassHinge()` | 0 .. K-1 | max_k (f_k + 1[k != y]) - f_y | - | 0 | sqrt 2 | unit vector or 0 | class |

Losses of several outputs, or of rows together (no constants stated):

| loss | targets | R(f) |
|---|---|---|
| `MultiQuantile(taus)` | real | sum over levels of the pinball loss; predictions are sorted |
| `Multioutput(loss)` | the loss's, (n, k) | sum over the columns of y of the loss |
| `Crossing(margin)` | any | sum_k (f_k - f_k+1 + margin)+, to add to another |
| `RankHinge()`, `RankLogistic()` | grades | mean over pairs of a query (`groups`) of the loss of f_i - f_j |
| `CVaR(loss, alpha)` | the loss's | mean of the worst 1 - alpha |
| `WorstGroup(loss)` | the loss's | largest mean over `groups` |
| `Cox()` | +time of event, -time last seen | negative log partial likelihood |

Losses add and scale: `0.5 * Absolute() + Squared()`. `pointwise(value, subgradient, curvature)` makes one of your own;
`get("quantile:0.9")` finds one by name.

A new loss is a file with its class, whose `row` is all that batches, streams and averaging compute of it, and an entry
in the list below.
"""

from anyboost.backends import definitions
from anyboost.losses.base import Loss
from anyboost.losses.combine import Sum
from anyboost.losses.counts import Gamma, Poisson, Tweedie
from anyboost.losses.domains import Domain
from anyboost.losses.functionals import Functional
from anyboost.losses.joint import Crossing, MultiQuantile
from anyboost.losses.margin import Exponential, Hinge, Logistic, SquaredHinge
from anyboost.losses.multiclass import MulticlassHinge, Softmax
from anyboost.losses.multioutput import Multioutput
from anyboost.losses.names import NAMED, get, stands_for, suited
from anyboost.losses.pointwise import pointwise
from anyboost.losses.ranking import RankHinge, RankLogistic
from anyboost.losses.regression import Absolute, Expectile, Huber, Quantile, Squared
from anyboost.losses.risk import CVaR, WorstGroup
from anyboost.losses.rowwise import RowwiseLoss
from anyboost.losses.survival import Cox

# The list. A loss's place is its number in compiled code and in the files of streams: new ones go to the end.
LISTED: tuple[type[Loss], ...] = (
    *(Squared, Absolute, Quantile, Huber, Expectile),
    *(Logistic, Hinge, SquaredHinge, Exponential),
    *(Poisson, Gamma, Tweedie),
    *(Softmax, MulticlassHinge, MultiQuantile),
    *(RankHinge, RankLogistic, Crossing, Cox),
    *(Multioutput, CVaR, WorstGroup),
)


def _multi_quantile(*taus: float) -> Loss:
    if not taus:
        raise ValueError("loss 'multi_quantile' needs its levels: write e.g. 'multi_quantile:0.05,0.5,0.95'")
    return MultiQuantile(taus)


NAMED |= {loss.name: loss for loss in LISTED if loss not in (Multioutput, CVaR, WorstGroup)}
NAMED["multi_quantile"] = _multi_quantile
definitions.ROWS[:] = [getattr(loss, "row", None) for loss in LISTED]

__all__ = [
    "Absolute",
    "CVaR",
    "Cox",
    "Crossing",
    "Domain",
    "Expectile",
    "Exponential",
    "Functional",
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MultiQuantile",
    "MulticlassHinge",
    "Multioutput",
    "Poisson",
    "Quantile",
    "RankHinge",
    "RankLogistic",
    "RowwiseLoss",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "Sum",
    "Tweedie",
    "WorstGroup",
    "get",
    "pointwise",
    "stands_for",
    "suited",
]
