"""Kernels of online boosting: all rows of an array, in order, through a chain of learners.

`rows` has the loop, `vectors` that for several scores a row, and `wave` a faster one for linear learners on large
dense batches. What a learner does in it is a module each (`linear`, `stumps`, `nets`, `trees`): a NamedTuple of
settings and a few functions of it, found by the tuple's type when the loop is compiled.
"""
