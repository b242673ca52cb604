"""Every proxy on every set that it goes with."""

from anyboost.mirror import Entropy, Octahedron, PNorm, PowerDivergence, Simplex, SolidSimplex

PAIRS = [
    (Entropy(), Simplex),
    (Entropy(), SolidSimplex),
    (Entropy(), Octahedron),
    (PNorm(), Simplex),
    (PNorm(), SolidSimplex),
    (PNorm(), Octahedron),
    (PNorm(1.7), Octahedron),
    (PNorm(2.0), Octahedron),
    (PowerDivergence(), Simplex),
    (PowerDivergence(0.4), Simplex),
    (PowerDivergence(1.0), Simplex),
]
