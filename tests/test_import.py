"""`import anyboost` is quick and lazy, and every name it promises is there."""

import subprocess
import sys

import pytest

import anyboost


def test_import_loads_neither_numba_nor_scikit_learn():
    # A script that only parses its arguments, or a worker that only predicts, should not pay for them.
    code = (
        "import sys, time\n"
        "began = time.perf_counter()\n"
        "import anyboost\n"
        "print(f'import anyboost: {time.perf_counter() - began:.3f} s')\n"
        "heavy = {'numba', 'llvmlite', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    print(done.stdout.strip())


@pytest.mark.parametrize("name", anyboost.__all__)
def test_every_public_name_resolves(name):
    if name == "dask":
        pytest.importorskip("distributed", reason='clusters need pip install "anyboost[dask]"')
    assert getattr(anyboost, name) is not None
    assert name in dir(anyboost)


def test_a_new_process_reaches_files_through_the_package():
    # In this one, another test may have imported the room, by which it is there for all.
    code = "import anyboost as ab\nprint(ab.files.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "anyboost.files", done.stderr


def test_clusters_say_what_they_need():
    code = "import sys\nsys.modules['distributed'] = None\nimport anyboost\nanyboost.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert 'ImportError: anyboost.dask needs distributed: pip install "anyboost[dask]"' in done.stderr


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = anyboost.no_such_name
