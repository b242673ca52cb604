"""Streams killed and resumed until they end, with both ways of refits: `python stream_killed.py FOLDER KILLS SEED`.

One process imports the library and forks a child for each attempt, which is killed after a random time (KILLS times),
or kills itself at a given moment of a save or in a refit of the team's batch experts. After each kill the model file
must load, and the next attempt says how many examples it lacks. Prints what happened as JSON.
"""

import json
import random
import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import anyboost as ab
from anyboost.cli import build
from anyboost.streams.experts import Refitted
from files.killed import MOMENTS, attempt, kill

REFITS = ("refit begun", "refit done")
WAYS = ("inline", "background")  # run number i takes WAYS[i % 2]
ROWS = 400
EVERY = 16


def write(path):
    draw = random.Random(3)
    lines = ["a,b,color,y"]
    for _ in range(ROWS):
        a, b, color = draw.gauss(0, 1), draw.gauss(0, 1), draw.choice(["red", "green", "blue"])
        lines.append(f"{a!r},{b!r},{color},{a - 2 * b + (color == 'red')!r}")
    path.write_text("\n".join(lines) + "\n")


def stream(data, model, said, refit, resume):
    """The command, in this process; what it prints goes to a file."""
    sys.stdout = sys.stderr = Path(said).open("w", buffering=1)  # noqa: SIM115
    options = ["stream", str(data), "--target", "y", "--save", str(model), "--every", str(EVERY)]
    options += ["--predictions", f"{model}.predictions"]
    options += ["--resume", str(model)] if resume else ["--refit", refit]
    build()(options, standalone_mode=False)


def die_in_refit(moment, number, work):
    """Do the work, and be gone in its refit of that number."""
    real, left = Refitted.fitted, [number]

    def fitted(*given):
        left[0] -= 1
        if moment == "refit begun" and left[0] == 0:
            kill()
        found = real(*given)
        if left[0] == 0:
            kill()
        return found

    Refitted.fitted = fitted
    work()


def lost(said):
    """How many examples the resumed run said were lost; None where it died before it could say."""
    text = said.read_text()
    found = re.search(r"(\d+) more were taken after its last save and lost", text)
    return int(found[1]) if found else 0 if "examples learnt" in text else None


def main(folder, kills, seed):
    draw = random.Random(seed)
    data = folder / "data.csv"
    write(data)
    out = sys.stdout, sys.stderr
    for way in WAYS:  # here: children then find kernels loaded
        stream(data, folder / f"whole-{way}", folder / "whole.txt", way, resume=False)
    sys.stdout, sys.stderr = out
    done = {"timed": 0, **dict.fromkeys(MOMENTS + REFITS, 0)}
    most, runs = 0, 0
    while done["timed"] < kills or runs < len(WAYS):
        way, first = WAYS[runs % len(WAYS)], [*REFITS] if runs < len(WAYS) else []
        model, said = folder / f"killed-{runs}", folder / "said.txt"
        reached = Path(f"{model}.reached")
        while True:
            expected = None
            if model.exists() and reached.exists():
                count = int.from_bytes(reached.read_bytes(), "little")
                expected = max(0, count - ab.load(model)._stream["tally"]["rows"])
                assert expected <= EVERY
                most = max(most, expected)
            moment = first.pop() if first else draw.choice([None, None, None, *MOMENTS, *REFITS])
            after = draw.uniform(0.0, 0.08) if moment is None else draw.randint(1, 4)
            said.write_text("")
            work = partial(stream, data, model, said, way, resume=model.exists())
            if moment in REFITS:
                work = partial(die_in_refit, moment, after, work)
            ended = attempt(work, moment, after)
            heard = lost(said)
            assert expected is None or heard in (None, expected), (expected, heard)
            if ended:
                break
            done[moment or "timed"] += 1
            if model.exists():
                ab.load(model)
        runs += 1
    print(json.dumps({"kills": done, "runs": runs, "most_lost": most}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
