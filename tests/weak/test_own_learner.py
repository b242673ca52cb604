"""Learners of one's own: those that inherit from `Learner`, and those of another family."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.weak import Learner, Stump, Takes


class Inherits(Learner):
    def project(self, space, target):
        return Stump().project(space, target)

    def support(self, space, target, search=True):
        return Stump().support(space, target, search)


class Stranger:
    exact_leaves = False
    project = Inherits.project
    support = Inherits.support


class WantsNumbers(Inherits):
    takes = Takes(missing=False)


@pytest.mark.parametrize("learner", [Inherits(), Stranger()], ids=["inherits", "stranger"])
@pytest.mark.parametrize("options", [{}, {"row_fraction": 0.5, "random_state": 3}], ids=["all", "drawn"])
def test_what_is_not_declared_is_as_in_learner(learner, options):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = X[:, 0] + random.normal(size=80)
    own, known = (ab.boost(X, y, learner=h, rounds=5, **options) for h in (learner, Stump()))
    np.testing.assert_array_equal(own.scores, known.scores)
    assert own.floor(1.0) == known.floor(1.0)


def test_what_is_declared_is_asked_before_any_work():
    X, y = np.array([[0.0], [np.nan], [2.0]]), np.arange(3.0)
    assert ab.boost(X, y, learner=Inherits(), rounds=1).steps
    with pytest.raises(ValueError, match="WantsNumbers"):
        ab.boost(X, y, learner=WantsNumbers(), rounds=1)
