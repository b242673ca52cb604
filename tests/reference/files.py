"""A model file read the slow, obvious way, from docs/files.md alone: safetensors, JSON and plain Python walks."""

import hashlib
import json
import struct
from functools import partial

import numpy as np
from safetensors.numpy import load as load_tensors


def split(blob):
    """A file's header, as two JSON objects (outer without metadata, inner), and the bytes of its tensors."""
    (length,) = struct.unpack("<Q", blob[:8])
    outer = json.loads(blob[8 : 8 + length])
    inner = json.loads(outer.pop("__metadata__")["anyboost"])
    return outer, inner, blob[8 + length :]


def join(outer, inner, data, dumps=json.dumps):
    """The bytes of a file with these parts and a right checksum."""
    inner = {"sha256": "0" * 64, **{key: value for key, value in inner.items() if key != "sha256"}}
    text = json.dumps(
        {"__metadata__": {"anyboost": json.dumps(inner, separators=(",", ":"))}}, separators=(",", ":")
    )
    header = (text[:-1] + "," + dumps(outer)[1:]).encode()
    return signed(struct.pack("<Q", len(header)) + header + data)


def signed(blob):
    """The same bytes with the digest that belongs to them."""
    mark = rb"{\"sha256\":\""
    place = blob.index(mark) + len(mark)
    zeroed = blob[:place] + b"0" * 64 + blob[place + 64 :]
    return blob[:place] + hashlib.sha256(zeroed).hexdigest().encode() + blob[place + 64 :]


def predict(blob, X):
    """Raw scores (n, k) of the model in the file, in exact order: start, then one hypothesis after another."""
    tensors = load_tensors(blob)
    model = split(blob)[1]["model"]
    form = model.get("ensemble", model)["hypotheses"]
    kept = 1.0 - tensors["shrinks"]
    coefficients = [
        added * np.prod(kept[round_:][::-1])
        for added, round_ in zip(tensors["added"], tensors["rounds"], strict=True)
    ]
    out = np.tile(tensors["start"], (len(X), 1))
    functions = {
        "none": list,
        "columns": lambda: columns(tensors),
        "linear functions": lambda: linear(tensors),
        "nets": lambda: nets(tensors),
        "trees": lambda: trees(tensors),
        "trees an output": lambda: together(trees(tensors), out.shape[1]),
    }[form]()
    for coefficient, function in zip(coefficients, functions, strict=True):
        for row, x in enumerate(X):
            out[row] = out[row] + coefficient * function(x)
    return out


def columns(tensors):
    pairs = zip(tensors["column.index"].tolist(), tensors["column.vector"], strict=True)
    return [lambda x, column=column, vector=vector: x[column] * vector for column, vector in pairs]


def linear(tensors):
    outputs = tensors["linear.constant"].shape[1]
    return [
        lambda x, m=m, constant=constant: (
            tensors["linear.weight"][m * outputs : (m + 1) * outputs] @ x + constant
        )
        for m, constant in enumerate(tensors["linear.constant"])
    ]


def nets(tensors):
    units, outputs = tensors["net.bias"].shape[1], tensors["net.constant"].shape[1]

    def net(m):
        hidden = tensors["net.hidden"][m * units : (m + 1) * units]
        output = tensors["net.output"][m * outputs : (m + 1) * outputs]
        return lambda x: output @ np.tanh(hidden @ x + tensors["net.bias"][m]) + tensors["net.constant"][m]

    return [net(m) for m in range(len(tensors["net.bias"]))]


def together(functions, outputs):
    """Vector functions, each made of as many scalar ones as there are outputs."""
    parts = [functions[i : i + outputs] for i in range(0, len(functions), outputs)]
    return [lambda x, part=part: np.concatenate([function(x) for function in part]) for part in parts]


def sets(tensors):
    """For each split None, or a function that says whether a value, a code or missing, goes left."""
    if "split.on_set" not in tensors:
        return [None] * len(tensors["split.left"])
    bins, first = {}, 0
    for column, codes in zip(
        tensors["category.column"].tolist(), tensors["category.codes"].tolist(), strict=True
    ):
        bins[column] = tensors["category.bin"][first : first + codes].tolist()
        first += codes
    lefts = iter(tensors["set.bits"].reshape(-1, 32).tolist())
    flags = [int(bit) for byte in tensors["split.on_set"] for bit in f"{byte:08b}"]
    found = []
    for flag, column in zip(flags, tensors["split.feature"].tolist(), strict=False):
        if flag:
            found.append(partial(_in_set, next(lefts), bins[column]))
        else:
            found.append(None)
    return found


def _in_set(left, known, x):
    entry = known[int(x)] if x == x and 0 <= x < len(known) and x == int(x) else 255
    return left[entry // 8] >> (entry % 8) & 1


def trees(tensors):
    """One function of a row for each tree; a node is (feature, threshold, left, right, missing_left, set) or values."""
    bits = [int(bit) for byte in tensors["node.split"] for bit in f"{byte:08b}"]
    splits = zip(
        tensors["split.feature"].tolist(),
        tensors["split.threshold"].tolist(),
        tensors["split.left"].tolist(),
        tensors["split.right"].tolist() if "split.right" in tensors else [None] * len(tensors["split.left"]),
        [int(bit) for byte in tensors.get("split.missing_left", []) for bit in f"{byte:08b}"]
        or [0] * len(tensors["split.left"]),
        sets(tensors),
        strict=False,
    )
    leaves = iter(tensors["leaf.value"])
    nodes = []
    for place, is_split in zip(range(int(tensors["tree.nodes"].astype(int).sum())), bits, strict=False):
        if is_split:
            feature, threshold, left, right, missing_left, chosen = next(splits)
            right = left + 1 if right is None else right
            nodes.append((feature, threshold, place + left, place + right, missing_left, chosen))
        else:
            nodes.append(next(leaves))
    roots = np.cumsum(tensors["tree.nodes"].astype(int)) - tensors["tree.nodes"]
    return [lambda x, root=int(root): _walk(nodes, root, x) for root in roots]


def _walk(nodes, place, x):
    while isinstance(nodes[place], tuple):
        feature, threshold, left, right, missing_left, chosen = nodes[place]
        goes_left = x[feature] <= threshold or (x[feature] != x[feature] and missing_left)
        goes_left = goes_left if chosen is None else chosen(x[feature])
        place = left if goes_left else right
    return nodes[place]
