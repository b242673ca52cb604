"""Proximal maps against a conic solver, against their optimality conditions, and at the ends of the range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anyboost.mirror import Entropy, PNorm, PowerDivergence, Simplex, SolidSimplex
from mirror.pairs import PAIRS
from reference import mirror as reference

by_name = {"ids": lambda part: part.__name__ if isinstance(part, type) else repr(part)}


class Cone:
    """minimize x'Px/2 + q'x subject to rows that lie in cones, for clarabel."""

    def __init__(self, size):
        self.size, self.rows, self.right, self.cones = size, [], [], []
        self.P, self.q = np.zeros(size), np.zeros(size)

    def put(self, entries, right, cone):
        """right - entries x in the cone; entries: a list of {index: value}, one a row."""
        self.rows += entries
        self.right += right
        self.cones.append(cone)

    def solve(self):
        import clarabel

        A = sparse.lil_matrix((len(self.rows), self.size))
        for i, row in enumerate(self.rows):
            for j, value in row.items():
                A[i, j] = value
        options = clarabel.DefaultSettings()
        options.verbose = False
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
        P = sparse.csc_matrix(sparse.diags(self.P))
        answer = clarabel.DefaultSolver(
            P, self.q, A.tocsc(), np.array(self.right), self.cones, options
        ).solve()
        assert "Solved" in str(answer.status)
        return np.array(answer.x)


def by_cones(proxy, domain, z, beta):
    """argmin <z, theta> + beta V(theta), from the definition of V, in exponential, power and linear cones."""
    import clarabel

    V = domain.radius * reference.vertices(type(domain).__name__, len(z))
    N, M, radius = len(V), len(z), domain.radius
    if not isinstance(proxy, Entropy):
        V = V[np.abs(V).sum(axis=1) > 0]
    sums_to_one = type(domain) is Simplex or isinstance(proxy, Entropy)
    N = len(V)
    # Variables: shares of the N vertices, theta (M), one t for each share or weight, and one more.
    problem = Cone(N + M + max(N, M) + 1)
    share, theta, t, tau = (
        np.arange(N),
        N + np.arange(M),
        N + M + np.arange(max(N, M)),
        N + M + max(N, M),
    )
    problem.put(
        [{theta[j]: 1.0} | {share[i]: -V[i, j] for i in range(N) if V[i, j]} for j in range(M)],
        [0.0] * M,
        clarabel.ZeroConeT(M),
    )
    problem.put([{share[i]: -1.0} for i in range(N)], [0.0] * N, clarabel.NonnegativeConeT(N))
    total = {share[i]: 1.0 for i in range(N)}
    problem.put([total], [1.0], clarabel.ZeroConeT(1) if sums_to_one else clarabel.NonnegativeConeT(1))
    problem.q[theta] = z
    if isinstance(proxy, Entropy):  # sum of weights w ln w over vertices, w = radius * share
        for i in range(N):
            problem.put([{t[i]: 1.0}, {share[i]: -radius}, {}], [0.0, 0.0, 1.0], clarabel.ExponentialConeT())
            problem.q[t[i]] = beta
        spare = t[N:]
    elif isinstance(proxy, PNorm):
        p = proxy.p or min(2.0, 1 + 1 / np.log(M))
        for j in range(M):  # |theta_j| <= t_j^(1/p) tau^(1 - 1/p), sum of t_j = tau
            problem.put([{t[j]: -1.0}, {tau: -1.0}, {theta[j]: -1.0}], [0.0] * 3, clarabel.PowerConeT(1 / p))
        problem.put([{t[j]: 1.0 for j in range(M)} | {tau: -1.0}], [0.0], clarabel.ZeroConeT(1))
        problem.P[tau] = beta / radius**2
        spare = t[M:]
    else:
        s = proxy.s or min(1.0, 1 / np.log(M))
        for j in range(M):  # theta_j <= t_j^(1/(s+1))
            problem.put(
                [{t[j]: -1.0}, {}, {theta[j]: -1.0}], [0.0, 1.0, 0.0], clarabel.PowerConeT(1 / (s + 1))
            )
            problem.q[t[j]] = beta * radius ** (1 - s) / (s * (s + 1))
        spare = t[M:]
    if len(spare):
        problem.put([{i: 1.0} for i in spare], [0.0] * len(spare), clarabel.ZeroConeT(len(spare)))
    if not isinstance(proxy, PNorm):
        problem.put([{tau: 1.0}], [0.0], clarabel.ZeroConeT(1))
    return problem.solve()[theta]


@pytest.mark.parametrize(("proxy", "domain"), PAIRS, **by_name)
def test_maps_equal_a_conic_solvers(proxy, domain):
    random = np.random.default_rng(1)
    for count in (2, 3, 8, 30):
        for _ in range(3):
            chosen = domain(float(random.choice([0.5, 1.0, 3.0])))
            z, beta = random.normal(size=count), float(random.choice([0.1, 1.0, 5.0]))
            ours = proxy.argmin(z, beta, chosen)
            np.testing.assert_allclose(ours, by_cones(proxy, chosen, z, beta), rtol=0, atol=2e-5)


@pytest.mark.parametrize(("proxy", "domain"), PAIRS, **by_name)
@given(seed=st.integers(0, 2**31), log_beta=st.floats(-4, 6), spread=st.floats(-6, 6))
@settings(max_examples=25, deadline=None)
def test_maps_equal_a_bisection(proxy, domain, seed, log_beta, spread):
    random = np.random.default_rng(seed)
    count = int(random.choice([1, 2, 3, 17, 200]))
    z, beta, chosen = 10.0**spread * random.normal(size=count), 10.0**log_beta, domain(2.0)
    exponent = getattr(proxy, "p", None) or getattr(proxy, "s", None)
    theirs = reference.prox(type(proxy).__name__, domain.__name__, 2.0, z, beta, exponent)
    np.testing.assert_allclose(
        proxy.argmin(z, beta, chosen), theirs, rtol=0, atol=1e-12 + 1e-15 * np.abs(z).max() / beta
    )


@pytest.mark.parametrize(("proxy", "domain"), PAIRS, **by_name)
def test_no_other_point_of_the_set_is_better(proxy, domain):
    """First-order optimality to machine precision: the gradient of the objective supports the set at the answer."""
    random = np.random.default_rng(4)
    for _ in range(20):
        count, chosen = int(random.integers(2, 60)), domain(1.0)
        z, beta = random.normal(size=count), float(random.choice([0.3, 2.0]))
        theta = proxy.argmin(z, beta, chosen)
        if isinstance(proxy, Entropy):
            continue  # its gradient is infinite at the border; the closed form is compared above
        if isinstance(proxy, PNorm):
            p = proxy.p or min(2.0, 1 + 1 / np.log(count))
            size = np.sum(np.abs(theta) ** p) ** (1 / p)
            slope = np.sign(theta) * np.abs(theta) ** (p - 1) * (size ** (2 - p) if size > 0 else 0.0)
        else:
            s = proxy.s or min(1.0, 1 / np.log(count))
            slope = theta**s / s
        gradient = z + beta * slope
        assert gradient @ theta <= chosen.best_vertex(gradient) + 1e-13


@pytest.mark.parametrize(("proxy", "domain"), PAIRS, **by_name)
def test_constants_are_those_of_v(proxy, domain):
    """alpha is a strong convexity constant in the l1 norm, and height the largest V, on random points of the set."""
    random = np.random.default_rng(0)
    for count in (2, 5, 40):
        chosen = domain(1.5)
        shape = proxy.shape(count, chosen)
        V = reference.vertices(domain.__name__, count)
        points = [1.5 * V.T @ random.dirichlet(np.full(len(V), 0.3)) for _ in range(40)]
        value = value_of(proxy, chosen, count)
        for a, b in zip(points[::2], points[1::2], strict=True):
            middle = value(0.5 * (a + b))
            gain = 0.5 * value(a) + 0.5 * value(b) - middle
            assert gain >= shape.alpha / 8 * np.abs(a - b).sum() ** 2 - 1e-9
        top = max(value(1.5 * vertex) for vertex in V)
        assert shape.height == pytest.approx(top, rel=1e-9)
        assert max(value(point) for point in points) <= shape.height + 1e-9


def value_of(proxy, domain, count):
    """V, on theta; the entropy of the vertices' weights is minimized over the ways to write theta."""
    radius = domain.radius
    if isinstance(proxy, PNorm):
        p = proxy.p or min(2.0, 1 + 1 / np.log(count))
        return lambda theta: np.sum(np.abs(theta) ** p) ** (2 / p) / (2 * radius**2)
    if isinstance(proxy, PowerDivergence):
        s = proxy.s or min(1.0, 1 / np.log(count))
        C1 = radius ** (1 - s) / (s * (s + 1))
        C0 = -C1 * radius ** (s + 1) * count**-s
        return lambda theta: C0 + C1 * np.sum(theta ** (s + 1))

    def entropy(weights):
        weights = weights[weights > 0]
        return np.sum(weights * np.log(weights))

    if type(domain) is Simplex:
        return lambda theta: radius * np.log(count / radius) + entropy(theta)
    if type(domain) is SolidSimplex:
        return lambda theta: (
            radius * np.log((count + 1) / radius) + entropy(np.append(theta, max(radius - theta.sum(), 0.0)))
        )

    def split(theta):
        """plus - minus = theta, plus + minus = sqrt(theta^2 + 4 c), with c such that all weights sum to the radius."""
        rest = radius - np.abs(theta).sum()
        c = reference.bisect(
            lambda c: np.sum(np.sqrt(theta**2 + 4 * c) - np.abs(theta)) - rest, 0.0, radius**2 + 1
        )
        both = np.sqrt(theta**2 + 4 * c)
        return radius * np.log(2 * count / radius) + entropy(
            np.concatenate([(both + theta) / 2, (both - theta) / 2])
        )

    return split


def test_extreme_dual_points_leave_finite_weights_in_the_set():
    for proxy, kind in PAIRS:
        for z in ([1e9, -1e9, 0.0], [1e300, 0.0, 0.0], [0.0, 0.0, 0.0], [1e-300, 0.0, -1e-300]):
            for beta in (1e-6, 1.0, 1e12):
                theta = proxy.argmin(z, beta, kind(2.0))
                assert np.isfinite(theta).all()
                assert np.abs(theta).sum() <= 2.0 + 1e-12
                best = int(np.argmin(z))
                assert theta[best] >= theta.max() - 1e-12
