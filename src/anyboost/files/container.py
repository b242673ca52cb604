"""One safetensors file with a checksum: bytes to a header and tensors, and back.

    8 bytes: length of the header | header (JSON) | tensors

The header's `__metadata__` has one entry, "anyboost": a JSON text that begins with "sha256", the digest of the
whole file with zeros in place of the digest. The safetensors library writes the file. Reading is done here:
the digest has to be checked before anything in the file is believed, and every size before it is used.
"""

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from anyboost.files.fields import Fault, choice, count, items, record, refuse

FORMAT = 1
MOST_HEADER = 4 << 20  # bytes: JSON of this size stays under 100 MB as Python objects
MOST_TENSORS = 10_000
MOST_DEPTH = 32  # of JSON: what is deeper no model needs, and every walk through it stays short
DTYPES = {"F64": np.float64, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32}
_MARK = rb"{\"sha256\":\""
_ZEROS = b"0" * 64
_BLOCK = 1 << 20


class ModelFileError(ValueError):
    """A file that is not a model file, is damaged, or is written by a newer version; the sentence says which.

    Examples
    --------
    >>> import anyboost as ab
    >>> from pathlib import Path
    >>> _ = Path("note.txt").write_text("not a model")
    >>> ab.load("note.txt")
    Traceback (most recent call last):
    ...
    anyboost.files.container.ModelFileError: ...
    """


class Tensor(NamedTuple):
    """Where a tensor lies among the bytes after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Contents(NamedTuple):
    """A file whose digest is right; `data` is None where only the header was asked for."""

    header: dict[str, Any]
    tensors: dict[str, Tensor]
    data: bytes | None
    size: int


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Turn a Fault into one sentence that names the file."""
    try:
        yield
    except Fault as fault:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {fault}") from None
    except MemoryError:
        raise ModelFileError(
            f"{os.fspath(path)} cannot be loaded: it needs more memory than there is"
        ) from None


def encode(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """The bytes of a file."""
    from safetensors.numpy import save

    text = json.dumps({"sha256": _ZEROS.decode(), **header}, separators=(",", ":"), allow_nan=False)
    blob = bytearray(save(tensors, metadata={"anyboost": text}))
    length = int.from_bytes(blob[:8], "little")
    if length > MOST_HEADER:
        raise ValueError(
            f"model needs a header of {length} bytes, more than the {MOST_HEADER} a file may have"
        )
    place = blob.index(_MARK) + len(_MARK)
    blob[place : place + 64] = hashlib.sha256(blob).hexdigest().encode()
    return bytes(blob)


def check_regular(path: Any) -> None:
    """A Fault for what is no file: a pipe would wait for ever, a device never end."""
    refuse(not stat.S_ISREG(os.stat(path).st_mode), "it is not a regular file")


def held(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Contents:
    """A header and tensors in memory, to be believed no more than those of a file."""
    places, blobs, reached = {}, [], 0
    for name, array in tensors.items():
        blobs.append(array.astype(array.dtype.newbyteorder("<")).tobytes())
        places[name] = Tensor(word_of(array.dtype), array.shape, reached, reached + len(blobs[-1]))
        reached += len(blobs[-1])
    return Contents(header, places, b"".join(blobs), reached)


def word_of(dtype: np.dtype) -> str:
    """What a file calls a type."""
    return next(word for word, kind in DTYPES.items() if np.dtype(kind) == dtype)


def read(path: Any, keep: bool = True) -> Contents:
    """The header and, where `keep`, the tensors' bytes; a Fault unless the digest and all sizes are right."""
    check_regular(path)
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        prefix, header = _read_header(file, size)
        place = header.find(_MARK) + len(_MARK)
        refuse(place < len(_MARK), "anyboost did not write it")
        digest = hashlib.sha256(prefix + header[:place] + _ZEROS + header[place + 64 :])
        data = _read_rest(file, size - 8 - len(header), digest, keep)
    if header[place : place + 64] != digest.hexdigest().encode():
        raise Fault("its checksum is wrong, so it is damaged or was changed")
    outer = parse(header)
    metadata = outer.pop("__metadata__", None)
    text = metadata.get("anyboost") if isinstance(metadata, dict) else None
    if not isinstance(text, str) or len(metadata) != 1:
        raise Fault("its metadata is not that of a model file")
    inner = parse(text)
    inner.pop("sha256", None)
    return Contents(inner, _tensors(outer, size - 8 - len(header)), data, size)


def _read_header(file: BinaryIO, size: int) -> tuple[bytes, bytes]:
    prefix = file.read(8)
    length = int.from_bytes(prefix, "little")
    refuse(len(prefix) < 8 or not 2 <= length <= MOST_HEADER, "it is not a model file")
    refuse(length > size - 8, "it is truncated")
    header = file.read(length)
    refuse(len(header) != length, "it is truncated")
    return prefix, header


def _read_rest(file: BinaryIO, length: int, digest: Any, keep: bool) -> bytes | None:
    if keep:
        data = file.read(length)
        digest.update(data)
        return data
    while block := file.read(min(_BLOCK, length)):
        digest.update(block)
        length -= len(block)
    return None


def parse(text: str | bytes) -> dict[str, Any]:
    """A JSON object without repeated keys, NaN, infinities or endless nesting."""

    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        refuse(len(found) != len(pairs), "its header names something twice")
        return found

    def constant(word: str) -> None:
        raise Fault(f"its header holds {word}, which is no number")

    try:
        found = json.loads(text, object_pairs_hook=unrepeated, parse_constant=constant)
    except (ValueError, RecursionError):
        raise Fault("its header is not JSON") from None
    refuse(not isinstance(found, dict), "its header is not a JSON object")
    level: list[Any] = [found]
    for _ in range(MOST_DEPTH):
        level = [part for whole in level for part in _parts(whole)]
    refuse(level, "its header is nested too deeply")
    return found


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _tensors(entries: dict[str, Any], length: int) -> dict[str, Tensor]:
    """The tensors, which must fill the bytes after the header in the order in which safetensors writes them.

    Wide types come first, then names count: so two tensors cannot stand under each other's names.
    """
    refuse(len(entries) > MOST_TENSORS, f"it has {len(entries)} tensors, more than a model file can have")
    found = {name: _tensor(name, entry) for name, entry in entries.items()}
    reached = 0
    for name in sorted(found, key=lambda name: (-_width(found[name]), name)):
        tensor = found[name]
        needed = math.prod(tensor.shape) * _width(tensor)
        if tensor.begin != reached or tensor.end - tensor.begin != needed:
            raise Fault(f"its tensor {name!a} does not lie where it has to")
        reached = tensor.end
    refuse(reached != length, "its length is not that of its tensors")
    return found


def _width(tensor: Tensor) -> int:
    return np.dtype(DTYPES[tensor.dtype]).itemsize


_PLACES = items(2, count(0, 2**62 - 1))
_TENSOR = record(dtype=choice(*DTYPES), shape=_PLACES, data_offsets=_PLACES)


def _tensor(name: str, entry: Any) -> Tensor:
    try:
        dtype, shape, offsets = _TENSOR(entry, name).values()
        return Tensor(dtype, tuple(shape), *offsets)
    except (Fault, TypeError):
        raise Fault(f"its tensor {name!a} has a type, shape or place that cannot be") from None
