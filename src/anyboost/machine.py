"""What figures were measured on, and with what."""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = ("anyboost", "numpy", "numba", "lightgbm", "xgboost", "scikit-learn", "catboost")


def machine(packages: tuple[str, ...] = PACKAGES) -> dict[str, Any]:
    """The processor, its cores, and the versions of Python and of these packages."""
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
