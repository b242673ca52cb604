"""Tables larger than memory: files read a portion at a time, numbers kept in mapped files, predictions as a stream."""

from anyboost.on_disk.files import ColumnFiles, Files, stamp, unchanged
from anyboost.on_disk.predicting import predict_files, predict_portions
from anyboost.on_disk.table import ColumnsAsked, Stored, stored

__all__ = [
    "ColumnFiles",
    "ColumnsAsked",
    "Files",
    "Stored",
    "predict_files",
    "predict_portions",
    "stamp",
    "stored",
    "unchanged",
]
