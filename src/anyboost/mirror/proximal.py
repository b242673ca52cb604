"""Proximal maps of mirror descent: from the dual point z to theta = argmin over Theta of <z, theta> + beta V(theta).

Entropy has a closed form on all three sets. The other two need one number nu, the root of a monotone function
that is bracketed from the start and found by guarded Newton steps to the last bits.
"""

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import exp_down
from anyboost.backends.reductions import largest_size, smallest, sum_between, sum_of_roots
from anyboost.mirror.state import OCTAHEDRON, P_NORM, POWER, SIMPLEX, SOLID_SIMPLEX

_STEPS = 200


@kernel
def prox(proxy, domain, radius, exponent, z, beta, theta):
    """theta <- argmin over the set of <z, theta> + beta V(theta). `exponent`: q of the p-norm, or the power s."""
    if proxy == P_NORM:
        _p_norm(domain, radius, exponent, z, beta, theta)
    elif proxy == POWER:
        _power(radius, exponent, z, beta, theta)
    elif domain == OCTAHEDRON:
        _gibbs_with_signs(radius, z, beta, theta)
    else:
        _gibbs(radius, z, beta, theta, domain == SOLID_SIMPLEX)


@kernel
def _gibbs(radius, z, beta, theta, with_zero):
    """(10): theta_j proportional to exp(-z_j / beta); on request with a function that is zero, whose z is zero too."""
    lowest = smallest(z)
    if with_zero:
        lowest = min(lowest, 0.0)
    down = -1.0 / beta
    for j in range(len(z)):
        theta[j] = exp_down((z[j] - lowest) * down)
    total = sum_between(theta, 0, len(theta))
    if with_zero:
        total += exp_down(-lowest * down)
    share = radius / total
    for j in range(len(z)):
        theta[j] *= share


@kernel
def _gibbs_with_signs(radius, z, beta, theta):
    """(10) over h_1 .. h_M and -h_1 .. -h_M; theta_j is the difference of the two weights."""
    farthest = largest_size(z)
    up = 1.0 / beta
    for j in range(len(z)):
        theta[j] = exp_down((-z[j] - farthest) * up) - exp_down((z[j] - farthest) * up)
    # The product of the two weights is the same for all j, so their sum follows from their difference.
    product = exp_down(-2.0 * farthest * up)
    share = radius / sum_of_roots(theta, 4.0 * product)
    for j in range(len(z)):
        theta[j] *= share


@kernel
def _p_norm(domain, radius, q, z, beta, theta):
    """theta = (radius^2/beta) s^(q-1) / ||s||_q^(q-2), s = (nu - z)+; on the octahedron z stands for -|z|.

    With delta = nu - min z and r = s/delta, the l1 norm of theta is (radius^2/beta) delta G(delta), G between 1
    and M^(2/q): so the delta that makes it the radius lies between beta/radius M^(-2/q) and beta/radius. Inside the
    other two sets nu is 0 where that gives a norm under the radius.
    """
    signed = domain == OCTAHEDRON
    lowest = -largest_size(z) if signed else smallest(z)
    high = beta / radius
    low = high * len(z) ** (-2.0 / q)
    inside = False
    delta = high
    if domain != SIMPLEX:
        if lowest >= 0.0:
            theta[:] = 0.0
            return
        excess, _ = _p_norm_excess(signed, q, z, lowest, -lowest, radius / beta)
        inside = excess <= 0.0
        delta = -lowest if inside else min(high, -lowest)
    if not inside:
        for _ in range(_STEPS):
            excess, slope = _p_norm_excess(signed, q, z, lowest, delta, radius / beta)
            if excess > 0.0:
                high = min(high, delta)
            elif excess < 0.0:
                low = max(low, delta)
            if excess == 0.0 or high <= low:
                break
            ahead = delta - excess / slope
            if not low <= ahead <= high:
                ahead = 0.5 * (low + high)
            moved = abs(ahead - delta)
            delta = ahead
            if moved <= 1e-15 * delta:
                break
    total = 0.0
    norm = 0.0
    for j in range(len(z)):
        r = max(1.0 - ((-abs(z[j]) if signed else z[j]) - lowest) / delta, 0.0)
        power = r ** (q - 1.0)
        theta[j] = power
        total += power
        norm += power * r
    # On the boundary the norm is the radius; dividing by the sum leaves no rounding of the root behind.
    share = radius * radius / beta * delta * norm ** (2.0 / q - 1.0) if inside else radius / total
    for j in range(len(z)):
        theta[j] *= -share if signed and z[j] > 0.0 else share


@kernel
def _p_norm_excess(signed, q, z, lowest, delta, factor):
    """||theta||_1/radius - 1 as a function of delta, and its slope; `factor` is radius/beta."""
    a, b, c = 0.0, 0.0, 0.0
    for j in range(len(z)):
        r = 1.0 - ((-abs(z[j]) if signed else z[j]) - lowest) / delta
        if r > 0.0:
            power = r ** (q - 2.0)
            a += power
            b += power * r
            c += power * r * r
    shrink = factor * c ** (2.0 / q - 1.0)
    return shrink * delta * b - 1.0, shrink * ((q - 1.0) * a - (q - 2.0) * b * b / c)


@kernel
def _power(radius, s, z, beta, theta):
    """theta_j = radius (x - e_j)+^(1/s), e_j = (z_j - min z) s/(beta radius), and x between M^-s and 1.

    The sum is convex and grows with x, so Newton's steps from x = 1 fall onto the root from above.
    """
    lowest = smallest(z)
    unit = s / (beta * radius)
    x, low, high = 1.0, len(z) ** -s, 1.0
    for _ in range(_STEPS):
        total, slope = 0.0, 0.0
        for j in range(len(z)):
            gap = x - (z[j] - lowest) * unit
            if gap > 0.0:
                power = gap ** (1.0 / s - 1.0)
                slope += power
                total += power * gap
        if total > 1.0:
            high = min(high, x)
        else:
            low = max(low, x)
        ahead = x - (total - 1.0) * s / slope
        if not low <= ahead <= high:
            ahead = 0.5 * (low + high)
        moved = abs(ahead - x)
        x = ahead
        if moved <= 1e-15 * x or high <= low:
            break
    total = 0.0
    for j in range(len(z)):
        weight = max(x - (z[j] - lowest) * unit, 0.0) ** (1.0 / s)
        theta[j] = weight
        total += weight
    share = radius / total
    for j in range(len(z)):
        theta[j] *= share
