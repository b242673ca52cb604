"""Kernels as the disk keeps them."""

import pickle

from anyboost.backends.compiler import kernel


@kernel
def _doubled(number):
    return 2 * number


def test_compiled_code_of_an_earlier_version_is_compiled_anew_and_not_an_error():
    # Without this, the first fit after an upgrade that moved a class would end in Numba's AttributeError.
    index = _doubled._cache._cache_file
    index.flush()
    with open(index._index_path, "wb") as file:
        pickle.dump(index._version, file)
        file.write(b"canyboost.backends.compiler\nNoSuchClass\n.")
    assert _doubled(21) == 42
    assert len(index._load_index()) == 1  # and kept again
