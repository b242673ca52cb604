"""
Intervals that cover
====================

Three quantiles are fitted together, so that they cannot cross, and calibrated by rows that were not fitted. Any
coverage can be asked of the one model.
"""

import matplotlib.pyplot as plt
import numpy as np

import anyboost as ab

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 10, 1200))
y = np.sin(x) + random.normal(size=1200) * (0.1 + 0.08 * x)
train = random.random(1200) < 0.7

model = ab.BoostingRegressor("multi_quantile:0.05,0.5,0.95", max_iter=80).fit(x[train, None], y[train])
low, high = model.predict_interval(x[~train, None], coverage=0.9).T
print(f"{np.mean((low <= y[~train]) & (y[~train] <= high)):.2f} of new rows lie inside")

# %%
# The interval is wide where the rows are noisy.

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.fill_between(x[~train], low, high, alpha=0.3, label="90 % interval")
ax.plot(x[~train], y[~train], ".", markersize=3, color="black", label="new rows")
ax.legend(frameon=False)

# %%
# And it keeps its word at other coverages.

ab.plot.calibration(model, x[~train, None], y[~train])
