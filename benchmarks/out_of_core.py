"""Rows from files, larger than memory: `python -m benchmarks.out_of_core --rows 100000000 --folder ROOM`.

Generated rows, 20 columns of float32 and a target, in Parquet files under the folder; a fit of each way in a process of
its own, its seconds, and the most memory it had: `private`, pages of no file, and `all`, mapped files included, which
the system drops where others need the room. LightGBM's `two_round` reads text, so the rows are written as CSV for it
too (`--text`), and both libraries read that; its `Sequence` reads the Parquet files by row group.
"""

import argparse
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

COLUMNS, PER_FILE, PER_GROUP = 20, 5_000_000, 500_000
ESTIMATOR = "anyboost, estimator"
WAYS = ("anyboost", ESTIMATOR, "anyboost, text", "lightgbm, two_round text", "lightgbm, Sequence")
NAMES = [f"x{number}" for number in range(COLUMNS)]


def generate(folder: Path, rows: int) -> None:
    """Write the files, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, rows, PER_FILE):
        path, count = folder / f"{start // PER_FILE:04d}.parquet", min(PER_FILE, rows - start)
        if path.exists() and pq.read_metadata(path).num_rows == count:
            continue
        generator = np.random.default_rng(start)
        writer = None
        for done in range(0, count, PER_GROUP):
            some = min(PER_GROUP, count - done)
            X = generator.standard_normal((COLUMNS, some), dtype=np.float32)
            X[1::4] = np.round(X[1::4], 1)  # few values
            X[2, generator.random(some) < 0.1] = np.nan
            noise = generator.standard_normal(some, dtype=np.float32)
            y = X[0] * X[1] + np.abs(X[3]) + np.where(X[2] > 0, X[4], X[5]) + noise
            table = pa.table([*X, y], names=[*NAMES, "y"])
            writer = writer or pq.ParquetWriter(path.with_suffix(".part"), table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        path.with_suffix(".part").rename(path)


def write_text(folder: Path) -> None:
    """The same rows as one CSV file."""
    import pyarrow.csv
    import pyarrow.parquet as pq

    path = folder / "rows.csv"
    if path.exists():
        return
    files = sorted(folder.glob("*.parquet"))
    # LightGBM takes quotes for a part of the names, and pyarrow writes them
    options = pyarrow.csv.WriteOptions(include_header=False)
    with open(path.with_suffix(".part"), "wb") as out:
        out.write(",".join([*NAMES, "y"]).encode() + b"\n")
        writer = pyarrow.csv.CSVWriter(out, pq.read_schema(files[0]), write_options=options)
        for file in files:
            for batch in pq.ParquetFile(file).iter_batches(PER_GROUP):
                writer.write_batch(batch)
        writer.close()
    path.with_suffix(".part").rename(path)


class Memory:
    """The most memory of this process, looked at every so often, in bytes."""

    def __init__(self) -> None:
        self.private = self.all = 0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            self.look()
            threading.Event().wait(0.05)

    def look(self) -> None:
        found = _held()
        self.private = max(self.private, found["RssAnon"])
        self.all = max(self.all, found["VmRSS"])

    def now(self) -> int:
        """Private memory at this moment."""
        self.look()
        return _held()["RssAnon"]


def _held() -> dict[str, int]:
    """What the system says this process holds, by kind."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.endswith("kB")}


def ours(source: Any, given: argparse.Namespace) -> Iterator[str]:
    import anyboost as ab
    from anyboost.backends import arrays

    if given.memory is not None:
        arrays.memory = lambda: int(given.memory * 1e9)
    yield "import"
    table = ab.Binned.from_parquet(source, target="y", n_threads=given.threads)
    yield "load"
    if given.only == ESTIMATOR:
        model = ab.BoostingRegressor(max_iter=given.rounds, n_jobs=given.threads).fit(table)
        yield "fit"
        print(f"loss {model.steps_[-1].loss:.6f}", file=sys.stderr)
        return
    learner, step = ab.weak.Tree(given.leaves, min_leaf_weight=20), ab.descent.Naive(0.1)
    run = ab.boost(
        table, None, "squared", learner, step, given.rounds, record="light", n_threads=given.threads
    )
    yield "fit"
    print(f"loss {run.steps[-1].loss:.6f}", file=sys.stderr)


def lightgbm(source: Any, given: argparse.Namespace) -> Iterator[str]:
    import lightgbm as lgb

    yield "import"
    params = {
        "objective": "regression", "num_leaves": given.leaves, "learning_rate": 0.1, "num_threads": given.threads,
        "verbose": -1, "two_round": True, "header": True, "label_column": COLUMNS, "max_bin": 255,
    }  # fmt: skip
    if isinstance(source, str):
        data = lgb.Dataset(source, params=params)
    else:
        parts = [_sequence(lgb, path) for path in source]
        y = np.concatenate([part.label() for part in parts])
        data = lgb.Dataset(parts, y, params=params)
    data.construct()
    yield "load"
    lgb.train(params, data, given.rounds)
    yield "fit"


def _sequence(lgb: Any, path: Path) -> Any:
    import pyarrow.parquet as pq

    class Groups(lgb.Sequence):
        """Rows of a file; the row group that was read last is kept."""

        batch_size = PER_GROUP

        def __init__(self) -> None:
            self.file, self.number = pq.ParquetFile(path), -1
            self.rows = np.empty((0, 0))

        def __len__(self) -> int:
            return int(self.file.metadata.num_rows)

        def label(self) -> np.ndarray:
            return self.file.read(["y"]).column("y").to_numpy()

        def __getitem__(self, index: Any) -> np.ndarray:
            first = index.start if isinstance(index, slice) else int(index)
            if first // PER_GROUP != self.number:
                self.number = first // PER_GROUP
                group = self.file.read_row_group(self.number, NAMES)
                self.rows = np.stack([column.to_numpy() for column in group.columns], axis=1).astype(
                    np.float64
                )
            shift = self.number * PER_GROUP
            if isinstance(index, slice):
                return self.rows[index.start - shift : index.stop - shift]
            return self.rows[first - shift]

    return Groups()


def measure(way: str, given: argparse.Namespace) -> None:
    """One way, in this process; a line of JSON."""
    text, files = str(given.folder / "rows.csv"), sorted(given.folder.glob("*.parquet"))
    library = ours if way.startswith("anyboost") else lightgbm
    memory, line = (
        Memory(),
        {"way": way, "rows": given.rows, "rounds": given.rounds, "threads": given.threads},
    )
    began, spent = perf_counter(), process_time()
    for name in library(text if way.endswith("text") else files, given):
        now, used = perf_counter(), process_time()
        line |= {f"{name}_s": round(now - began, 2), f"{name}_cpu_s": round(used - spent, 2)}
        memory.look()
        line[f"{name}_private_gb"] = round(memory.private / 1e9, 3)
        began, spent = perf_counter(), process_time()
    print(json.dumps(line | {"all_gb": round(memory.all / 1e9, 3)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--folder", type=Path, required=True, help="room for the files: 84 bytes a row, 200 more with --text"
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", type=float, help="GB of the machine; its own where nothing is said")
    parser.add_argument("--estimators", action="store_true", help="also fit an estimator with its defaults")
    parser.add_argument("--text", action="store_true", help="also read the rows as text")
    parser.add_argument("--turns", type=int, default=1, help="how often each way is measured, in turns")
    parser.add_argument("--only", choices=WAYS, help="one way, in this process")
    given = parser.parse_args()
    given.folder = given.folder / f"{given.rows}"
    if given.only:
        measure(given.only, given)
        return
    generate(given.folder, given.rows)
    if given.text:
        write_text(given.folder)
    for _ in range(given.turns):
        for way in WAYS:
            if (given.text or not way.endswith("text")) and (given.estimators or way != ESTIMATOR):
                subprocess.run(
                    [sys.executable, "-m", "benchmarks.out_of_core", *sys.argv[1:], "--only", way], check=True
                )


if __name__ == "__main__":
    main()
