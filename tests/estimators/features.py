"""What this version's trees can do: tests of what they cannot yet do are skipped."""

import inspect
from dataclasses import fields

import pytest

from anyboost.boosting import boost
from anyboost.weak import Tree

KNOWN = {field.name for field in fields(Tree)} | set(inspect.signature(boost).parameters)


def needs(*names):
    """Skip a test unless trees, or `boost`, know all of these."""
    missing = [name for name in names if name not in KNOWN]
    return pytest.mark.skipif(bool(missing), reason=f"trees have no {', '.join(missing)} yet")
