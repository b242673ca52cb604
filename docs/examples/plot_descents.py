"""
Where ordinary boosting stalls
==============================

The multiclass hinge has a kink in every row. One projection of its subgradient onto stumps often points at the stump
that was taken already: naive boosting takes it again, for ever. Residual descent carries what a stump missed into the
next round.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import anyboost as ab

X, y = load_digits(return_X_y=True)
step = ab.steps.InverseSqrt(1.0)
runs = {
    "naive": ab.boost(X, y, "multiclass_hinge", "stump", ab.descent.Naive(step), rounds=200),
    "residual": ab.boost(X, y, "multiclass_hinge", "stump", ab.descent.Residual(step), rounds=200),
}

# %%
# Same learner, same steps, same number of stumps.

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, run in runs.items():
    ax.plot([one.round for one in run.steps], [one.loss for one in run.steps], label=name)
ax.set(xlabel="stumps", ylabel="training loss", ylim=(0, None))
ax.legend(frameon=False)
