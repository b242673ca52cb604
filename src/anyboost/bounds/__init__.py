"""How fast a run must converge: Theorems 3 to 7 of Grubb and Bagnell (2011), and bounds read off the run.

f_0 is the start; round t takes a subgradient g_t at f_{t-1} and a direction h_t to f_t = f_{t-1} - eta_t h_t.

    gamma = the smallest edge of any projection,   rho = sqrt(1 - gamma^2),   G = max_t ||g_t||,
    d = max ||f_t - f*|| over t = 0 .. T-1,        average gap = (1/T) sum_{t=0}^{T-1} R(f_t) - R(f*).

Every bound is an array over T = 1 .. rounds, with gamma and G of the whole run. Three forms:

    "printed"  as the paper states it; docs/theorems.md says which of these are false
    "safe"     what the proof gives in closed form
    "sharp"    the same proof, with its geometric sums left as they stand; never above "safe"

`theorems` are Theorems 3 to 7, `proofs` the inequalities they share and the bound that norms of the run give,
`admission` what a run must be for them, `trace` what is read off it. `plans` goes from an accuracy to a tolerance.

f* need not be optimal: Theorems 4 to 7 and `computable` bound the average gap to any function f*.
"""

from anyboost.bounds.plans import RepeatedPlan, plan_repeated
from anyboost.bounds.proofs import computable
from anyboost.bounds.theorems import FORMS, theorem_3, theorem_4, theorem_5, theorem_6, theorem_7
from anyboost.bounds.trace import average_gap, gamma, gradient_bound

__all__ = [
    "FORMS",
    "RepeatedPlan",
    "average_gap",
    "computable",
    "gamma",
    "gradient_bound",
    "plan_repeated",
    "theorem_3",
    "theorem_4",
    "theorem_5",
    "theorem_6",
    "theorem_7",
]
