"""Named arrays in a folder, complete or not there: `manifest.json` comes last, and the folder gets its name with it.

A folder is believed if its manifest has the digest it says, and each array the size and the digest that the manifest
says. Arrays of a table that nobody asked to keep lie in files without a name (see `backends.mapped`).
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from anyboost.backends import mapped, threads

MANIFEST = "manifest.json"
FORMAT = 1
_PIECE = 1 << 24


class Builder:
    """Where the arrays of a table are written: a folder that is not there before all of them are; None for none."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.arrays: dict[str, np.ndarray] = {}
        if folder is None:
            self._place = Path(tempfile.gettempdir())
            return
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._place = Path(tempfile.mkdtemp(prefix=f"{folder.name}.building-", dir=folder.parent))
        except OSError as error:
            raise ValueError(f"folder {folder} cannot be written: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None and self.folder is not None:
            shutil.rmtree(self._place, ignore_errors=True)

    def zeros(self, name: str, shape: tuple[int, ...], dtype: Any, order: str = "F") -> np.ndarray:
        """A new array of the table."""
        if self.folder is None:
            self.arrays[name] = mapped.in_file(self._place, shape, dtype, order)
        else:
            kind = {"dtype": np.dtype(dtype), "shape": shape, "fortran_order": order == "F"}
            found = np.lib.format.open_memmap(self._file(name), mode="w+", **kind)
            self.arrays[name] = mapped.marked(found, self.folder)
        return self.arrays[name]

    def keep(self, name: str, values: np.ndarray) -> None:
        """A small array of the table."""
        self.zeros(name, values.shape, values.dtype, "C")[...] = values

    def spare(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array to work with."""
        return mapped.in_file(self._place, shape, dtype)

    def complete(self, facts: dict[str, Any]) -> None:
        """Give the folder its name, with these facts in its manifest."""
        if self.folder is None:
            return
        for array in self.arrays.values():
            mapped.flush(array)
        facts = {"format": FORMAT, **facts, "arrays": _digests(self._place, list(self.arrays))}
        text = json.dumps({"sha256": _digest_of(facts), **facts}, indent=1)
        with open(self._place / MANIFEST, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        try:
            if self.folder.exists():
                self.folder.rmdir()  # an empty one
            self._place.rename(self.folder)
        except OSError as error:
            if not _holds(self.folder, facts):  # else another process was first, with the same table
                raise ValueError(f"folder {self.folder} cannot be written: {error.strerror}") from None
            shutil.rmtree(self._place, ignore_errors=True)

    def _file(self, name: str) -> Path:
        return self._place / f"{name}.npy"


def taken(folder: Path) -> bool:
    """Whether there is anything in a folder."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder {folder} is a file: name another one")
    return folder.exists() and any(folder.iterdir())


def facts_of(folder: Path) -> dict[str, Any]:
    """The manifest of a complete folder whose arrays are as they were written."""
    advice = "name another one, or delete it"
    if not (folder / MANIFEST).exists():
        raise ValueError(f"folder {folder} is not empty, and has no finished table in it: {advice}")
    try:
        facts = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        said = facts.pop("sha256")
        good = said == _digest_of(facts) and facts["format"] == FORMAT
        found = _digests(folder, list(facts["arrays"])) if good else {}
        bad = [name for name, own in found.items() if own != facts["arrays"][name]]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        good, bad = False, []
    if not good or bad:
        what = f"{bad[0]}.npy" if bad else MANIFEST
        raise ValueError(f"folder {folder} is damaged, {what} is not what was written: {advice}")
    return facts


def _holds(folder: Path, facts: dict[str, Any]) -> bool:
    """Whether a folder is complete, and has these facts."""
    try:
        return _digest_of(facts_of(folder)) == _digest_of(facts)
    except ValueError:
        return False


def arrays_of(folder: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The arrays of a complete folder. Nothing that is done to them reaches the files."""
    return {
        name: mapped.marked(np.lib.format.open_memmap(folder / f"{name}.npy", mode="c"), folder)
        for name in names
    }


def _digest_of(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _digests(folder: Path, names: list[str]) -> dict[str, str]:
    """That of each array's file."""
    found: dict[str, str] = {}

    def one(number: int) -> None:
        digest = hashlib.blake2b(digest_size=32)
        with open(folder / f"{names[number]}.npy", "rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
        found[names[number]] = digest.hexdigest()

    threads.each(one, len(names), threads.available())
    return {name: found[name] for name in names}
