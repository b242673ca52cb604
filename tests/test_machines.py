"""The same models, to the byte, on processors of another kind: NumPy, Numba and BLAS without vector instructions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fingerprints

CASES = list(fingerprints.CASES)
OLD_BLAS = {"OPENBLAS_CORETYPE": "Prescott"}  # NumPy's own one has kernels for each kind of processor
PLAIN = {
    **OLD_BLAS,
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
    if "NUMBA_CPU_NAME" in environment:  # kernels of the two kinds must not meet
        own["NUMBA_CACHE_DIR"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)], env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_fits_are_the_same_whatever_blas_has_for_the_processor(tmp_path):
    some = ["squared, trees", "absolute, stumps, residual", "multiclass_hinge, trees", "float weights, cvar"]
    assert models(some, tmp_path, {}) == models(some, tmp_path, OLD_BLAS)


@pytest.mark.full
def test_every_recorded_fit_is_the_same_without_vector_instructions(tmp_path):
    for name, one, other in zip(
        CASES, models(CASES, tmp_path, {}), models(CASES, tmp_path, PLAIN), strict=True
    ):
        assert one == other, name


AVERAGES = """
import hashlib, numpy as np, anyboost as ab
rng = np.random.default_rng(0)
H = rng.normal(size=(300, 37))
y = np.where(H[:, 0] + rng.normal(size=300) > 0.0, 1.0, -1.0)
averagers = [
    ab.mirror.MirrorAverager(loss, "entropy", domain, schedule)
    for loss in ("hinge", "logistic") for domain in ("simplex", "octahedron:2", "solid_simplex:2")
    for schedule in ("anytime", "adaptive")
] + [ab.mirror.StumpAverager(schedule=schedule) for schedule in ("anytime", "known_horizon:300")]
for one in averagers:
    one.partial_fit(H, y)
    print(hashlib.sha256(one.weights_.tobytes() + one.predict(H).tobytes()).hexdigest())
"""


@pytest.mark.full
def test_averages_are_the_same_without_vector_instructions_and_whoever_compiled(tmp_path):
    """Sums once were in the compiler's order, which was another in processes that loaded what one had compiled."""

    def hashes(folder, environment):
        own = {**os.environ, **environment, "NUMBA_CACHE_DIR": str(tmp_path / folder)}
        command = [sys.executable, "-c", AVERAGES]
        return subprocess.run(command, env=own, capture_output=True, text=True, check=True).stdout.split()

    compiled, loaded, plain = hashes("own", {}), hashes("own", {}), hashes("plain", PLAIN)
    assert len(compiled) == 14
    assert compiled == loaded == plain
