"""The tree engine: tables in bins, histograms, cuts, trees grown from them, and sums of trees on new rows.

It knows arrays and nothing of losses, weights or learners; `rows` is where it asks for sums over rows.
"""
