#!/usr/bin/env python3
"""Races mohs against choix and evalica: Bradley and Terry's model on judgements of pairs.

    python3 tools/bench_pairs.py [--stimuli 900] [--judgements 5400] [--rounds 7]

All fit the same judgements to the same gradient: the tolerances of choix and evalica are tightened
until the largest gradient of the log-likelihood, computed here for all three alike, is at most
1e-6; mohs always goes further. Rounds take turns in changing order; medians and spreads are given.
Times are those of a fit from a list of judgements, without reading files or starting processes:
processor time on one thread for choix and evalica, so that a busy machine does not count against
them, and time by the clock for mohs, whose fit has one thread.
Needs cargo; makes a virtual environment with the versions of tools/requirements-pairs.txt, unless
the Python that runs it has choix and evalica.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = 1e-6


def with_tools(folder):
    """Runs this script again in an environment that has what it needs."""
    if importlib.util.find_spec("choix") and importlib.util.find_spec("evalica"):
        return
    python = folder / "venv-pairs" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv-pairs", with_pip=True)
        wanted = ROOT / "tools" / "requirements-pairs.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
    os.execv(python, [python, *sys.argv])


def planted(n_stimuli, n_judgements, seed):
    """Returns judgements as (harder, easier); a ring both ways joins and chains everybody."""
    import numpy as np

    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n_stimuli)
    rows = []
    for idx in range(n_stimuli):
        other = (idx + 1) % n_stimuli
        rows += [(idx, other), (other, idx)]
    while len(rows) < n_judgements:
        a, b = rng.choice(n_stimuli, 2, replace=False)
        is_a = rng.random() < 1 / (1 + np.exp(truth[b] - truth[a]))
        rows.append((int(a), int(b)) if is_a else (int(b), int(a)))
    return rows


def largest_gradient(difficulties, rows):
    import numpy as np

    d = np.asarray(difficulties)
    harder, easier = np.array(rows).T
    miss = 1 / (1 + np.exp(d[harder] - d[easier]))
    gradient = np.zeros(len(d))
    np.add.at(gradient, harder, miss)
    np.add.at(gradient, easier, -miss)
    return float(np.abs(gradient).max())


def tightened(fit, rows):
    """Returns the loosest tolerance, by powers of ten, that reaches the gradient wanted."""
    for power in range(3, 16):
        gradient = largest_gradient(fit(10.0**-power), rows)
        if gradient <= WANTED:
            return 10.0**-power, gradient
    sys.exit("a tool did not reach the gradient wanted")


def timed(fit):
    start = time.process_time()
    fit()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stimuli", type=int, default=900)
    parser.add_argument("--judgements", type=int, default=5_400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/mohs-bench"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    # Before numpy is loaded, which reads them once.
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    with_tools(args.folder)
    import choix
    import evalica
    import numpy as np

    rows = planted(args.stimuli, args.judgements, seed=1)
    table = args.folder / "pairs.csv"
    names = [f"s{idx:06}" for idx in range(args.stimuli)]
    lines = (f"{names[harder]},{names[easier]}" for harder, easier in rows)
    table.write_text("winner,loser\n" + "\n".join(lines) + "\n")
    command = ["cargo", "build", "--release", "-q", "-p", "mohs-score", "--example", "fit_pairs"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    fit_pairs = target / "release" / "examples" / "fit_pairs"

    def mohs(n_fits, *more):
        done = subprocess.run([fit_pairs, table, str(n_fits), *more], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def by_choix(tolerance):
        return choix.ilsr_pairwise(args.stimuli, rows, tol=tolerance, max_iter=10_000)

    xs, ys = [a for a, _ in rows], [b for _, b in rows]
    winners = [evalica.Winner.X] * len(rows)

    def by_evalica(tolerance):
        found = evalica.bradley_terry(xs, ys, winners, tolerance=tolerance, limit=1_000_000)
        return np.log(found.scores.sort_index().to_numpy())

    choix_tolerance, choix_gradient = tightened(by_choix, rows)
    evalica_tolerance, evalica_gradient = tightened(by_evalica, rows)
    ours = mohs(1)
    gradients = {
        "mohs": largest_gradient(ours["difficulties"], rows),
        "choix ilsr_pairwise": choix_gradient,
        "evalica bradley_terry": evalica_gradient,
    }
    tools = {
        "mohs": lambda: statistics.median(mohs(15)["seconds"]),
        "choix ilsr_pairwise": lambda: timed(lambda: by_choix(choix_tolerance)),
        "evalica bradley_terry": lambda: timed(lambda: by_evalica(evalica_tolerance)),
    }
    seconds = {name: [] for name in tools}
    for idx in range(args.rounds):
        order = list(tools) if idx % 2 == 0 else list(reversed(tools))
        for name in order:
            seconds[name].append(tools[name]())

    print(f"{args.stimuli:,} stimuli, {args.judgements:,} judgements, {args.rounds} rounds, {os.cpu_count()} cores")
    print()
    print("| tool | median ms per fit | spread (least–most) | largest gradient | mohs is faster by |")
    print("|---|---:|---:|---:|---:|")
    fastest = statistics.median(seconds["mohs"])
    for name, times in seconds.items():
        print(
            f"| {name} | {1e3 * statistics.median(times):.2f} "
            f"| {1e3 * min(times):.2f}–{1e3 * max(times):.2f} | {gradients[name]:.0e} "
            f"| {statistics.median(times) / fastest:.1f} |"
        )
    scored = mohs(1, "1000")["score_seconds"]
    print()
    print(f"mohs score with 1,000 bootstrap refits, intervals and all: {scored:.2f} s")


if __name__ == "__main__":
    main()
