"""Kernels of online boosting: all rows of an array, in order, through a chain of learners.

`rows` has the loop. What a learner does in it is a module each (`linear`, `stumps`, `nets`, `trees`): a
NamedTuple of arrays and four functions of it, found by the tuple's type when the loop is compiled.
"""
