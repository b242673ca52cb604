"""
A model as curves
=================

A sum of stumps is a sum of curves, one a column. They are drawn as they are: nothing is sampled or averaged.
"""

from sklearn.datasets import load_diabetes

import anyboost as ab

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = ab.BoostingRegressor(max_leaf_nodes=2, max_iter=200).fit(X, y)
ab.plot.shapes(model, top=4)

# %%
# Why one row has the score that it has:

ab.plot.why(model, X.iloc[:1])
