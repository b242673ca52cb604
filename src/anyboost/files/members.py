"""The part of a file that says how boosters of two-class losses make up a classifier of many classes."""

from typing import Any

from anyboost.files import fields
from anyboost.files.fields import Fault, Fields
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.online.one_vs_rest import OneVsRest

MOST_CLASSES = 1000


def pack(own: OneVsRest) -> Packed:
    """Header and tensors beside those of the boosters."""
    return {"rows": own.rows, "signs": own.signs}, {
        "classes.weights": finite(own.weights, "weights"),
        "classes.past": finite(own.past, "losses"),
        "classes.before": finite(own.before, "losses").reshape(-1, 3),
    }


def unpack(header: Fields, own: OneVsRest, tensors: Tensors, boosters: list[Any], classes: int) -> None:
    """Fill in a classifier of so many classes with its boosters."""
    if len(boosters) != (1 if classes <= 2 else classes):
        raise Fault("it has not a booster for each class")
    own.members = [(booster, None) for booster in boosters]
    own.classes, own.rows = classes, header.take("rows", fields.count())
    own.signs = header.take("signs", fields.items(MOST_CLASSES, fields.real))
    if len(own.signs) != len(boosters) or any(abs(sign) != 1 for sign in own.signs):
        raise Fault("its boosters have signs that are none")
    own.weights = tensors.floats("classes.weights", (classes,))
    own.past = tensors.floats("classes.past", (3,))
    own.before = list(tensors.floats("classes.before", (len(boosters), 3)))
