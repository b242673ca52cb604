"""
Weights that follow a changing best
===================================

Two forecasts, of which one is right at first and the other later. A tracker moves its weights to whoever is best now.
"""

import matplotlib.pyplot as plt
import numpy as np

import anyboost as ab

random = np.random.default_rng(0)
truth = random.normal(size=600)
forecasts = np.column_stack(
    [truth + random.normal(size=600) * np.where(np.arange(600) < 300, s, 1.2 - s) for s in (0.2, 1.0)]
)

tracker = ab.mirror.Tracker()
weights = []
for forecast, label in zip(forecasts, truth, strict=True):
    tracker.partial_fit(forecast[None], [label])
    weights.append(tracker.weights_)

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(weights)
ax.set(xlabel="row", ylabel="weight")
ax.legend(["right at first", "right later"], frameon=False)
