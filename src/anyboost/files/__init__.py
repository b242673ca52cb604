"""Model files that cannot hurt anyone: `save`, `load`, and checkpoints of a run.

A file is one safetensors file (see `container`) that holds numbers, names and nothing else: no pickle, no code.
"""

from anyboost.files.checkpoint import Checkpoint
from anyboost.files.container import ModelFileError
from anyboost.files.models import KINDS as KINDS
from anyboost.files.models import load, peek, save
from anyboost.files.models import packed as packed
from anyboost.files.models import unpacked as unpacked

__all__ = ["Checkpoint", "ModelFileError", "load", "peek", "save"]
