"""A damaged or hostile file raises ModelFileError, or is a model: nothing crashes, hangs or fills the memory.

A byte changed without the checksum is always found. With a right checksum a file can still say something else
than the one it was made from, a leaf of 2 where there was a 1; then it must predict what it says, which a
reader of its own (reference.files) decides.
"""

import faulthandler
import json
import os
import re
import struct
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost.cli.inspect import rows
from anyboost.files import KINDS, peek
from files import mutations
from files.samples import fit
from files.specimens import specimens
from reference import files as reference

resource = pytest.importorskip("resource", reason="needs limits on memory, which this system lacks")
TIME = 60.0  # seconds a hundred cases may take
MEMORY = 400 << 20  # bytes a test may take beyond what it has at its start


@contextmanager
def bounded():
    """No more memory than MEMORY beyond what is there."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc, which this system lacks")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@contextmanager
def watched():
    """Ends the process where cases take too long: an endless loop in a compiled kernel hears no signal."""
    try:
        yield lambda: faulthandler.dump_traceback_later(TIME, exit=True)
    finally:
        faulthandler.cancel_dump_traceback_later()


def outcome(path, blob, use):
    """What becomes of one file: "refused", or what the model in it answers."""
    path.unlink(missing_ok=True)  # to empty a file is slow on some file systems
    path.write_bytes(blob)
    try:
        with suppress(ab.ModelFileError):  # what a header lacks, `inspect` may show all the same
            assert rows(path, peek(path))
        model = ab.load(path)
    except ab.ModelFileError as error:
        text = str(error)
        assert text.startswith(f"{path} cannot be loaded: ")
        assert "\n" not in text
        return "refused"
    with np.errstate(all="ignore"):
        return use(model)


def mutate(folder, count, seed):
    """Mutate `count` files and count what became of them, by mutation."""
    originals = specimens(folder)
    # What they answer also warms everything up.
    whole = [outcome(folder / "file", original.blob, original.use) for original in originals]
    random = np.random.default_rng(seed)
    seen = Counter()
    with bounded(), watched() as rearm:
        for case in range(count):
            if case % 100 == 0:
                rearm()
            mutation = mutations.MUTATIONS[case % len(mutations.MUTATIONS)]
            which = random.integers(len(originals))
            original = originals[which]
            blob = mutation(random, original.blob)
            found = outcome(folder / "file", blob, original.use)
            if isinstance(found, str):
                seen[mutation.__name__, found] += 1
                continue
            if mutation is mutations.damage:
                assert blob == original.blob  # nothing changed after all
            same = found.tobytes() == whole[which].tobytes()
            seen[mutation.__name__, "same" if same else "another model"] += 1
            if not same:
                original.check(blob, found)
    return seen


def check_all_kinds_seen(seen):
    print(*(f"{name} {what}: {count}" for (name, what), count in sorted(seen.items())), sep="\n")
    for mutation in mutations.MUTATIONS:
        assert seen[mutation.__name__, "refused"] > 0, mutation
    for name in (
        "damage",
        "claim_sizes",
        "swap_tensors",
        "retype",
        "mangle_json",
    ):  # these cannot leave a model
        assert seen[name, "another model"] == 0


def test_a_thousand_mutated_files(tmp_path):
    seen = mutate(tmp_path, 1_000, seed=0)
    assert seen.total() == 1_000
    check_all_kinds_seen(seen)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 51))
def test_a_million_mutated_files(tmp_path, seed):
    seen = mutate(tmp_path, 20_000, seed)
    assert seen.total() == 20_000
    check_all_kinds_seen(seen)


def test_every_kind_of_file_is_mutated(tmp_path):
    """A kind that is left out could crash whoever loads one from a stranger."""
    kinds = {reference.split(original.blob)[1]["kind"] for original in specimens(tmp_path)}
    assert kinds == set(KINDS)


def test_numbers_beyond_64_bits_are_mutated():
    """The mutations would stop at the first large number, and leave the rest of the files untried."""
    outer = {"none": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}
    blob = reference.join(outer, {"seed": 2**70}, b"")
    random = np.random.default_rng(0)
    found = b"".join(mutations.edit_header(random, blob) for _ in range(200))
    for number in (2**70 + 1, 2**71, -(2**70)):
        assert str(number).encode() in found


@pytest.fixture
def parts(tmp_path):
    """A small file taken apart, and a function that says why the file of changed parts is refused."""
    path = tmp_path / "model"
    ab.save(fit("absolute", "tree", "residual", 3), path)
    outer, inner, data = reference.split(path.read_bytes())

    def reason(*, data=data):
        path.write_bytes(reference.join(outer, inner, data))
        with pytest.raises(ab.ModelFileError) as caught:
            ab.load(path)
        text = str(caught.value)
        assert text.startswith(f"{path} cannot be loaded: ")
        return text.removeprefix(f"{path} cannot be loaded: ")

    return outer, inner, data, reason


def replaced(data, entry, values):
    begin, end = entry["data_offsets"]
    kinds = {"F64": np.float64, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32}
    raw = np.asarray(values).astype(kinds[entry["dtype"]]).tobytes()
    assert len(raw) == end - begin
    return data[:begin] + raw + data[end:]


def tensor(data, entry):
    kinds = {"F64": np.float64, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32}
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[begin:end], kinds[entry["dtype"]]).copy()


def test_a_tree_that_bites_its_tail(parts):
    outer, _, data, reason = parts
    left = tensor(data, outer["split.left"])
    cyclic = left.copy()
    cyclic[0] = 0  # the root's left child is the root
    assert "'split.left' holds a number out of range" in reason(
        data=replaced(data, outer["split.left"], cyclic)
    )
    far = left.copy()
    far[-1] = 255  # a child beyond the last node
    assert "a child outside it" in reason(data=replaced(data, outer["split.left"], far))
    shared = left.copy()
    shared[1] -= 1
    assert "no parent, or two" in reason(data=replaced(data, outer["split.left"], shared))


def test_a_feature_the_table_does_not_have(parts):
    outer, inner, data, reason = parts
    feature = tensor(data, outer["split.feature"])
    feature[0] = 4
    assert "'split.feature' holds a number out of range" in reason(
        data=replaced(data, outer["split.feature"], feature)
    )
    inner["model"]["ensemble"]["features"] = 1
    assert "'split.feature' holds a number out of range" in reason()


@pytest.mark.parametrize(
    "name", ["leaf.value", "added", "start", "scores", "residual", "steps", "gradient.last"]
)
def test_numbers_that_are_not_finite(parts, name):
    outer, _, data, reason = parts
    values = tensor(data, outer[name])
    values[-1] = np.nan
    assert "not finite" in reason(data=replaced(data, outer[name], values))


def test_rounds_out_of_order(parts):
    outer, _, data, reason = parts
    rounds = tensor(data, outer["rounds"])
    assert "rounds are not in order" in reason(data=replaced(data, outer["rounds"], rounds[::-1]))
    assert "out of range" in reason(data=replaced(data, outer["rounds"], rounds + 1))


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("loss", {"class": "Mean"}, "its loss is 'Mean', which this version does not know"),
        ("loss", {"class": "Quantile", "tau": 2}, "tau must be strictly between 0 and 1"),
        ("loss", {"class": "Absolute", "tau": 2}, "which this version does not know"),
        ("loss", {"class": "Sum", "terms": [[-1, {"class": "Absolute"}]]}, "positive number times a loss"),
        ("learner", {"class": "os.system"}, "its learner is 'os.system'"),
        ("learner", {"class": "Stump", "leaf": "rm"}, "leaf must be"),
        ("descent", {"class": "Hull", "radius": "1"}, "not a finite number"),
        ("seed", -1, "'seed' is not what it has to be"),
        ("start_loss", None, "'start_loss' is not a finite number"),
        ("needs", ["loss"], "'needs'"),
    ],
)
def test_entries_that_are_not_what_they_say(parts, entry, value, words):
    _, inner, _, reason = parts
    inner["model"][entry] = value
    assert words in reason()


def holders_of(found):
    """The objects of a header, however deep."""
    if isinstance(found, dict):
        yield found
    for each in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from holders_of(each)


@pytest.mark.parametrize(
    ("learner", "entry", "value"),
    [
        (ab.online.TreeLearner(max_leaves=4, bins=8), "grace", 2**63),
        (ab.online.TreeLearner(max_leaves=4, bins=8), "max_leaves", 2**63),
        (ab.online.LinearLearner(), "center", 2**63),
        (ab.online.LinearLearner(), "center", 6),
        (ab.online.LinearLearner(), "code", 2**63),
    ],
)
def test_whole_numbers_that_compiled_code_has_not(tmp_path, learner, entry, value):
    """With 2^63 for `grace` all kernels were compiled anew, for 20 seconds, at the first row."""
    model, path = ab.OnlineBoostingRegressor(learner, n_learners=2), tmp_path / "model"
    model.partial_fit([[0.0], [1.0]], [0.0, 1.0])
    ab.save(model, path)
    outer, inner, data = reference.split(path.read_bytes())
    for holder in holders_of(inner):
        if entry in holder:
            holder[entry] = value
    path.write_bytes(reference.join(outer, inner, data))
    with pytest.raises(ab.ModelFileError, match=f"{entry}.* (must be|is not what it has to be)"):
        ab.load(path)


def test_a_loss_in_a_loss_without_end(parts):
    _, inner, _, reason = parts
    loss = {"class": "Absolute"}
    for _ in range(200):
        loss = {"class": "Sum", "terms": [[1.0, loss]]}
    inner["model"]["loss"] = loss
    assert "nested too deeply" in reason()


def test_a_newer_file_says_to_update(parts):
    _, inner, _, reason = parts
    inner["format"] = 2
    inner["anything"] = "else"
    assert reason() == "it has format 2 and this version reads up to 1: update anyboost"


def test_the_checksum_is_looked_at_before_anything_else(tmp_path):
    path = tmp_path / "model"
    ab.save(fit("absolute", "tree", "residual", 3), path)
    blob = path.read_bytes()
    path.write_bytes(blob.replace(b'"shape"', b'"shap!"', 1))  # no longer a header anyone can read
    with pytest.raises(ab.ModelFileError, match="checksum is wrong, so it is damaged or was changed"):
        ab.load(path)


def test_foreign_files(tmp_path):
    from safetensors.numpy import save as save_tensors

    path = tmp_path / "file"
    for blob, words in [
        (b"", "it is not a model file"),
        (b"\x80\x04\x95.", "it is not a model file"),
        (b"tree\nversion=v4\nnum_class=1\n" * 50, "it is not a model file"),
        (struct.pack("<Q", 100) + b"{}", "it is truncated"),
        (save_tensors({"weight": np.ones(3)}), "anyboost did not write it"),
        (
            save_tensors({"weight": np.ones(3)}, {"anyboost": json.dumps({"a": 1})}),
            "anyboost did not write it",
        ),
    ]:
        path.write_bytes(blob)
        with pytest.raises(ab.ModelFileError, match=words):
            ab.load(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ab.ModelFileError, match="not a regular file"):
        ab.load(tmp_path / "pipe")
    with pytest.raises(ab.ModelFileError, match="not a regular file"):
        ab.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        ab.load(tmp_path / "nothing")


def test_a_file_larger_than_memory_is_refused(tmp_path):
    """A sparse file of a terabyte, with the header of a model."""
    path = tmp_path / "model"
    ab.save(fit("absolute", "stump", "naive", 1), path)
    os.truncate(path, 1 << 40)
    with bounded(), pytest.raises(ab.ModelFileError, match="more memory than there is"):
        ab.load(path)
