"""Moreau envelopes: the gradient belongs to the proximal point, and lies on no kink's wrong side."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from losses.registry import CASES, CLASSES

KINKED = [case for case in CASES if case.loss.smoothable]


@pytest.mark.parametrize("case", KINKED, ids=str)
@settings(deadline=None, max_examples=40)
@given(data=st.data(), mu=st.sampled_from([0.01, 0.3, 1.0, 5.0]), seed=st.integers(0, 10**6))
def test_gradient_is_a_subgradient_at_the_proximal_point(case, data, mu, seed):
    y = case.loss.check(data.draw(st.lists(case.targets, min_size=1, max_size=6)))
    random = np.random.default_rng(seed)
    shape = (len(y), CLASSES) if case.vector else (len(y),)
    scores = random.uniform(-3, 3, shape)
    gradient = case.loss.envelope_gradients(scores, y, mu)
    point = scores - mu * gradient
    at_point = case.loss.values(point, y)
    for _ in range(20):
        other = point + random.normal(size=shape) * random.choice([1e-3, 0.1, 3.0])
        rise = (gradient * (other - point)).reshape(len(y), -1).sum(axis=1)
        assert np.all(case.loss.values(other, y) >= at_point + rise - 1e-8)


def test_some_losses_have_kinks_and_some_do_not():
    assert {"absolute", "quantile:0.9", "hinge", "multiclass_hinge"} <= {str(case.loss) for case in KINKED}
    assert not {"squared", "logistic", "softmax", "poisson"} & {str(case.loss) for case in KINKED}
