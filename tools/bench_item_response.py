#!/usr/bin/env python3
"""Races the item response fit of mohs against girth: the same answers, one run, ratios.

    python3 tools/bench_item_response.py [--python /path/with/girth/bin/python] [--quick]

Each fit is timed alone, after reading, in a process of its own. girth estimates no intervals, so the
ratio is of point estimates; the seconds mohs takes with all intervals stand beside it. Difficulties
of both must correlate. girth's 2PL does not settle with few people and may take hours; a fit that
passes the limit is stopped, and the ratio is then a lower bound. Needs cargo, and numpy and girth 0.8.0 in the Python named.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SIMULATE = """
import sys, numpy as np
path, n_items, n_people, seed = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(seed)
a = np.exp(rng.normal(0, 0.25, n_items))[:, None]
b = rng.normal(0, 1, n_items)[:, None]
theta = rng.normal(0, 1, n_people)[None, :]
y = rng.random((n_items, n_people)) < 1 / (1 + np.exp(-a * (theta - b)))
with open(path, "w") as out:
    for row in y:
        out.write("".join("1" if cell else "0" for cell in row) + "\\n")
np.savetxt(path + ".truth", b)
"""

GIRTH = """
import sys, time, json, numpy as np
from girth import onepl_mml, twopl_mml
path, model = sys.argv[1:]
y = np.array([[int(cell) for cell in line.strip()] for line in open(path)])
start = time.perf_counter()
found = (onepl_mml if model == "1pl" else twopl_mml)(y)
seconds = time.perf_counter() - start
np.savetxt(path + ".girth", found["Difficulty"])
print(json.dumps({"seconds": seconds}))
"""

AGREE = """
import sys, json, numpy as np
path = sys.argv[1]
a, d = np.loadtxt(path + ".mohs", delimiter=",").T
ours, theirs, truth = -d / a, np.loadtxt(path + ".girth"), np.loadtxt(path + ".truth")
sane = np.isfinite(theirs) & (np.abs(theirs) < 5.9) & (np.abs(ours) < 5.9)
r = lambda x, y: float(np.corrcoef(x[sane], y[sane])[0, 1])
print(json.dumps({"with_girth": r(ours, theirs), "ours_truth": r(ours, truth),
                  "girth_truth": r(theirs, truth), "n": int(sane.sum())}))
"""

# Stimuli, participants, model.
CASES = [(36_000, 20, "1pl"), (36_000, 20, "2pl"), (500, 5_000, "1pl"), (500, 5_000, "2pl"), (50, 1_000, "2pl")]
QUICK = [(1_000, 20, "1pl"), (50, 500, "1pl"), (50, 500, "2pl")]


def run(command, limit=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    if done.returncode != 0:
        sys.exit((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {}


def example():
    command = ["cargo", "build", "--release", "-q", "-p", "mohs-score", "--example", "fit_item_response"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "fit_item_response"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="a Python with numpy and girth")
    parser.add_argument("--limit", type=float, default=300, help="seconds girth may take for a fit")
    parser.add_argument("--quick", action="store_true", help="small cases only")
    args = parser.parse_args()
    ours = example()
    print("stimuli  people  model  girth s   mohs s    ratio  with intervals s  r(girth)  r(truth)  girth r(truth)")
    with tempfile.TemporaryDirectory() as folder:
        for n_items, n_people, model in QUICK if args.quick else CASES:
            path = str(Path(folder) / f"{n_items}x{n_people}")
            run([args.python, "-c", SIMULATE, path, str(n_items), str(n_people), "1"])
            mohs = run([ours, path, model, path + ".mohs"])
            try:
                girth = run([args.python, "-c", GIRTH, path, model], args.limit)["seconds"]
                agree = run([args.python, "-c", AGREE, path])
                agreement = (
                    f"{agree['with_girth']:8.4f}  {agree['ours_truth']:8.4f}"
                    f"  {agree['girth_truth']:14.4f}"
                )
                sign = " "
            except subprocess.TimeoutExpired:
                girth, agreement, sign = args.limit, "stopped", ">"
            print(
                f"{n_items:7d}  {n_people:6d}  {model:5s} {sign}{girth:7.2f}  {mohs['seconds']:7.3f}"
                f" {sign}{girth / mohs['seconds']:6.1f}x  {mohs['seconds_with_intervals']:16.3f}"
                f"  {agreement}",
                flush=True,
            )


if __name__ == "__main__":
    main()
