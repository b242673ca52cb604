"""L2(P): the sample, its weights, and the geometry boosting happens in.

`masses` are the weights as they are added up, `norms` the inner product, `geometry` the space, `binned` the table that
is binned once to fit many.
"""

from anyboost.space.binned import Binned, binned_files
from anyboost.space.geometry import Space
from anyboost.space.masses import Masses

__all__ = ["Binned", "Masses", "Space", "binned_files"]
