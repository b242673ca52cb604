"""The same models, to the byte, on processors of another kind: NumPy and Numba without their vector instructions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fingerprints

CASES = list(fingerprints.CASES)
PLAIN = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512_SKX",  # as old and new NumPy name them
}


def models(names, folder, environment):
    """The hashes of cuts and values, and the scores, of these cases, in a process of its own."""
    code = (
        "import json, sys, warnings, fingerprints; warnings.simplefilter('ignore');"
        "print(json.dumps([fingerprints.fingerprint(*fingerprints.fit(**fingerprints.CASES[n])) "
        "for n in json.loads(sys.argv[1])]))"
    )
    here = str(Path(__file__).parent)
    own = {**os.environ, **environment, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    if environment:  # kernels of the two kinds must not meet
        own["NUMBA_CACHE_DIR"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)], env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.full
def test_every_recorded_fit_is_the_same_without_vector_instructions(tmp_path):
    for name, one, other in zip(
        CASES, models(CASES, tmp_path, {}), models(CASES, tmp_path, PLAIN), strict=True
    ):
        assert one == other, name
