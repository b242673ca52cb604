"""Compiled functions on arrays: sums, bins, histograms, splits, partitions, predictions. No objects.

Sums over rows are sums of integers (see `sums`), so no result here depends on threads or row order.
"""
