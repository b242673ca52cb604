"""Which classifiers have probabilities: those whose loss gives them, or that learnt some from rows held out."""

from typing import Any

from anyboost.estimators import parameters
from anyboost.fitted import snapshot


def gives_probabilities(estimator: Any) -> bool:
    if getattr(estimator, "calibration_", estimator.calibration) is not None:
        return True
    try:
        loss = getattr(estimator, "loss_", None) or parameters.find_loss(estimator.loss, "logistic")
        return loss.link_.probabilities is not None
    except (ValueError, TypeError):
        return True  # `fit` will say what is wrong, or a loss from a file where its functions are


class OfProbabilities:
    """A method of losses that give probabilities; others do not have it, and say what does.

    scikit-learn's `available_if` has one sentence for all refusals, and it does not say what to do.
    """

    def __init__(self, method: Any) -> None:
        self.method = method

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.method
        if not gives_probabilities(snapshot(model)):
            raise AttributeError(
                f"{self.method.__name__} needs probabilities, which the loss {getattr(model, 'loss_', model.loss)} "
                "does not give: use loss='logistic', or calibration='temperature' with this one"
            )
        return self.method.__get__(model, owner)
