"""Models for other programs: ONNX, JSON, treelite, and text for people."""

from anyboost.export.json_files import from_json, to_json
from anyboost.export.onnx_files import to_onnx

__all__ = ["from_json", "to_json", "to_onnx"]
