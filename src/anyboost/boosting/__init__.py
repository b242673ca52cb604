"""`boost`: data in, a Run out. Everything is checked before any work starts."""

from anyboost.boosting.asked import Method
from anyboost.boosting.beginning import fits
from anyboost.boosting.loop import boost
from anyboost.boosting.run import Callback, Options, Run

__all__ = ["Callback", "Method", "Options", "Run", "boost", "fits"]
