"""Hypothesis draws new examples in every local run; in CI it draws the same ones, so that a change is judged alone."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
