"""Models for other programs: ONNX, JSON, treelite, and text for people."""

from anyboost.export.json_files import from_json, to_json
from anyboost.export.onnx_files import to_onnx
from anyboost.export.text import to_text
from anyboost.export.treelite_models import to_treelite

__all__ = ["from_json", "to_json", "to_onnx", "to_text", "to_treelite"]
