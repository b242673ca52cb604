"""A measurement in a process of its own: a module of this folder that prints a line of JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def in_own_process(
    module: str, *arguments: str, limit: float | None = None, **environment: str
) -> dict[str, float] | None:
    """What the module's last line says, or None where a library is not installed, it failed, or time was up."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    everything = {**os.environ, "PYTHONPATH": path, **environment}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=everything, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None
