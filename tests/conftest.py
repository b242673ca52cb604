"""Settings of Hypothesis, and a guard against descriptors that tests leave open.

Hypothesis draws new examples in every local run. In CI it draws the same ones, so that a change is judged alone.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


MOST_DESCRIPTORS = 1000  # of a process that runs tests, with the clusters of a session


@pytest.fixture(scope="module", autouse=True)
def descriptors():
    """Names the module that leaves files or sockets open, long before a later one can open no more."""
    yield
    folder = Path("/proc/self/fd")
    if folder.exists() and len(list(folder.iterdir())) > MOST_DESCRIPTORS:
        gc.collect()
        held = len(list(folder.iterdir()))
        assert held <= MOST_DESCRIPTORS, f"{held} descriptors are open after this module"
