"""How fast and how good, in one run, on this machine: beside the package, not in it.

`anyboost bench speed | online | combine` races other libraries; `python -m benchmarks.NAME`, in the root of a checkout,
runs one of the studies behind the tables of docs/.
"""
