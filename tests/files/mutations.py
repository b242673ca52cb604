"""Files gone wrong: damage, and lies told with a right checksum."""

import copy
import itertools
import json
import struct

import numpy as np

from reference.files import join, signed, split

HUGE = (2**31, 2**32, 2**40, 2**53, 2**61, 2**62, 2**63, 2**64, 10**30)
FAR = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e18, -1.0, 0.0, 0.5, 5e-324)
ODD = (
    None,
    True,
    -1,
    0,
    1,
    2,
    0.5,
    1e308,
    -1e308,
    "",
    "x",
    "\ud800",
    "../../etc",
    [],
    [[]],
    {},
    {"class": "Sum"},
)


def damage(random, blob):
    """Bytes flipped, cut off, added, moved or doubled; the checksum stays."""
    blob = bytearray(blob)
    how = random.integers(6)
    if how == 0:
        for _ in range(random.integers(1, 4)):
            blob[random.integers(len(blob))] ^= 1 << random.integers(8)
    elif how == 1:
        del blob[random.integers(len(blob)) :]
    elif how == 2:
        blob += random.bytes(random.integers(1, 50))
    elif how == 3:
        place = random.integers(len(blob))
        blob[place:place] = random.bytes(random.integers(1, 9))
    elif how == 4:
        place, length = random.integers(len(blob)), random.integers(1, 100)
        blob[place : place + length] = bytes(length)
    else:
        blob[:8] = struct.pack("<Q", int(random.choice([0, 1, len(blob), 2**20, 2**40, 2**63])))
    return bytes(blob)


def flip_and_sign(random, blob):
    """A byte changed anywhere, and the checksum made right again."""
    blob = bytearray(blob)
    for _ in range(random.integers(1, 3)):
        blob[random.integers(len(blob))] = random.integers(256)
    try:
        return signed(bytes(blob))
    except ValueError:
        return bytes(blob)


def edit_header(random, blob):
    """One entry of the header, anywhere in it, replaced, removed, renamed or doubled."""
    outer, inner, data = split(blob)
    everything = {"outer": outer, "inner": inner}
    holder, key = _pick(random, everything)
    how = random.integers(5)
    odd = copy.deepcopy(ODD[random.integers(len(ODD))])
    if how == 0:
        holder[key] = odd
    elif how == 1:
        del holder[key]
    elif how == 2 and isinstance(holder, dict):
        holder[str(odd)] = holder.pop(key)
    elif how == 3 and isinstance(holder[key], int | float):
        # Taken by its place: an array of these would be one of objects where a number passes 64 bits.
        holder[key] = (holder[key] + 1, holder[key] * 2, -holder[key], 0)[random.integers(4)]
    else:
        other_holder, other_key = _pick(random, everything)
        holder[key], other_holder[other_key] = (
            copy.deepcopy(other_holder[other_key]),
            copy.deepcopy(holder[key]),
        )
    outer, inner = everything.get("outer", {}), everything.get("inner", {})
    if not isinstance(outer, dict) or not isinstance(inner, dict):
        return damage(random, blob)
    return join(outer, inner, data)


def _pick(random, holder):
    """A random entry at a random depth, as its holder and key; never the two halves themselves."""
    holder = holder[("outer", "inner")[random.integers(2)]]
    while True:
        if not holder:
            return {"": None}, ""
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = keys[random.integers(len(keys))]
        if not isinstance(holder[key], dict | list) or not holder[key] or random.integers(3) == 0:
            return holder, key
        holder = holder[key]


def claim_sizes(random, blob):
    """A tensor that claims to be huge, or to lie where another does."""
    outer, inner, data = split(blob)
    name = list(outer)[random.integers(len(outer))]
    huge = HUGE[random.integers(len(HUGE))]
    how = random.integers(4)
    if how == 0:
        outer[name]["shape"] = [huge] if random.integers(2) else [huge, huge]
    elif how == 1:
        outer[name]["data_offsets"] = [0, huge]
    elif how == 2:
        outer[name]["shape"], outer[name]["data_offsets"] = [huge], [0, 8 * huge]
    else:
        outer["extra"] = {"dtype": "F64", "shape": [0, huge], "data_offsets": [len(data), len(data)]}
    return join(outer, inner, data)


def swap_tensors(random, blob):
    """Two tensors under each other's names."""
    outer, inner, data = split(blob)
    one, other = random.choice(list(outer), 2, replace=False)
    outer[one], outer[other] = outer[other], outer[one]
    return join(outer, inner, data)


def exchange_numbers(random, blob):
    """Two tensors of one size with each other's numbers."""
    outer, inner, data = split(blob)
    names = list(outer)
    random.shuffle(names)
    pieces = {name: data[slice(*outer[name]["data_offsets"])] for name in names}
    for one, other in itertools.pairwise(names):
        if len(pieces[one]) == len(pieces[other]):
            pieces[one], pieces[other] = pieces[other], pieces[one]
            break
    order = sorted(outer, key=lambda name: outer[name]["data_offsets"])
    return join(outer, inner, b"".join(pieces[name] for name in order))


def retype(random, blob):
    """A tensor's bytes as another type, with a shape that fits the bytes."""
    outer, inner, data = split(blob)
    name = list(outer)[random.integers(len(outer))]
    dtype, size = [
        ("F64", 8),
        ("F32", 4),
        ("I64", 8),
        ("I32", 4),
        ("U8", 1),
        ("U16", 2),
        ("U32", 4),
        ("BOOL", 1),
    ][random.integers(8)]
    begin, end = outer[name]["data_offsets"]
    outer[name]["dtype"], outer[name]["shape"] = dtype, [(end - begin) // size]
    return join(outer, inner, data)


def spoil_numbers(random, blob):
    """NaN, infinity, a far-off number or a far-off index in a tensor."""
    outer, inner, data = split(blob)
    name = list(outer)[random.integers(len(outer))]
    kinds = {"F64": np.float64, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32}
    begin, end = outer[name]["data_offsets"]
    values = np.frombuffer(data[begin:end], kinds[outer[name]["dtype"]]).copy()
    if len(values):
        place = random.integers(len(values))
        if values.dtype == np.float64:
            values[place] = FAR[random.integers(len(FAR))]
        else:
            values[place] = random.choice([0, np.iinfo(values.dtype).max, random.integers(256)])
    return join(outer, inner, data[:begin] + values.tobytes() + data[end:])


def rewire_trees(random, blob):
    """Children that point elsewhere: cycles, shared and orphaned nodes, jumps into the next tree."""
    outer, inner, data = split(blob)
    name = ("split.left", "node.split", "tree.nodes", "split.feature")[random.integers(4)]
    if name not in outer:
        return swap_tensors(random, blob)
    begin, end = outer[name]["data_offsets"]
    part = bytearray(data[begin:end])
    if part:
        for _ in range(random.integers(1, 4)):
            part[random.integers(len(part))] = random.integers(256)
    return join(outer, inner, data[:begin] + bytes(part) + data[end:])


def mangle_json(random, blob):
    """Repeated keys, NaN, deep nesting and long numbers, which JSON parsers read in their own ways."""
    outer, inner, data = split(blob)
    name = json.dumps(next(iter(outer)))
    text = json.dumps(outer)[1:-1]
    junk = [
        f'{name}: {{"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}',
        '"extra": NaN',
        '"extra": ' + "[" * 50_000 + "]" * 50_000,
        '"extra": ' + "9" * 10_000,
        '"extra": {"dtype": "F64", "shape": [1e0], "data_offsets": [0, 8]}',
        '"__metadata__": {}',
    ][random.integers(6)]
    return join(outer, inner, data, dumps=lambda _: "{" + text + ", " + junk + "}")


MUTATIONS = (
    damage,
    flip_and_sign,
    edit_header,
    claim_sizes,
    swap_tensors,
    exchange_numbers,
    retype,
    spoil_numbers,
    rewire_trees,
    mangle_json,
)
