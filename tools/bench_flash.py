#!/usr/bin/env python3
"""Races `mohs score viewing-time` against the same analysis in pandas and numpy.

    python3 tools/bench_flash.py [--stimuli 4771] [--draws 1000] [--rounds 3] [--folder DIR]

200,382 flash trials by default: 4,771 stimuli, seven answers at each of six exposures, as many as
the viewing-time study had. Both read the same CSV, count answers, apply the counting rule, fit the
same model of thresholds (same grid, same rounds), and draw participants and stimuli anew 1,000
times for the accuracy of everything, of bands, and of classes. The main numbers must agree. Each
runs in a process of its own, in turn, so that peak memory is its own. Needs cargo; makes a virtual
environment with the versions of tools/requirements-bench.txt.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench_tables import ROOT, python_with_tools

EXPOSURES = [17, 50, 100, 150, 250, 10000]


def make_trials(path, n_stimuli):
    """Writes trials of a Latin square: each set of 50 stimuli meets 42 participants."""
    import numpy as np

    rng = np.random.default_rng(1)
    n_classes = 50
    classes = rng.integers(0, n_classes, n_stimuli)
    ln_threshold = rng.normal(np.log(80), 1.5, n_stimuli)
    with open(path, "w") as file:
        file.write("participant,stimulus,label,exposure_ms,response,rt_ms\n")
        participant = 0
        for start in range(0, n_stimuli, 50):
            members = np.arange(start, min(start + 50, n_stimuli))
            for order in range(42):
                participant += 1
                exposure = np.array(EXPOSURES)[(np.arange(len(members)) + order // 7) % 6]
                z = 1.5 * (np.log(exposure) - ln_threshold[members]) + rng.normal(0, 0.6)
                is_right = rng.random(len(members)) < 0.02 + 0.96 / (1 + np.exp(-z))
                other = (classes[members] + rng.integers(1, n_classes, len(members))) % n_classes
                answer = np.where(is_right, classes[members], other)
                rt = np.round(300 + rng.gamma(2, 200, len(members)))
                for i, stimulus in enumerate(members):
                    file.write(
                        f"p{participant:05},img{stimulus:05}.png,class_{classes[stimulus]:02},"
                        f"{exposure[i]},class_{answer[i]:02},{rt[i]:.0f}\n"
                    )


def score_with_pandas(path, n_draws):
    """The analysis in pandas and numpy, vectorised; returns the main numbers."""
    import numpy as np
    import pandas as pd

    trials = pd.read_csv(path)
    right = (trials.response == trials.label).to_numpy()
    stimulus, stimuli = pd.factorize(trials.stimulus, sort=True)
    participant, participants = pd.factorize(trials.participant, sort=True)
    exposure, exposures = pd.factorize(trials.exposure_ms, sort=True)
    n_stimuli, n_exposures = len(stimuli), len(exposures)
    label, labels = pd.factorize(trials.groupby("stimulus").label.first().sort_index(), sort=True)

    place = stimulus * n_exposures + exposure
    shape = (n_stimuli, n_exposures)
    n = np.bincount(place, minlength=n_stimuli * n_exposures).reshape(shape)
    k = np.bincount(place[right], minlength=n_stimuli * n_exposures).reshape(shape)
    difficulty = 1 - k.sum(1) / n.sum(1)
    recognised = k >= 0.5 * n
    stays = np.flip(np.cumprod(np.flip(recognised, 1), 1), 1)
    band = n_exposures - stays.sum(1)

    def wilson(k, n, z=1.959963984540054):
        p = k / n
        centre, scale = p + z * z / (2 * n), 1 + z * z / n
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (centre - half) / scale, (centre + half) / scale

    wilson(n.sum(1) - k.sum(1), n.sum(1))

    # The model of thresholds: empirical Bayes on a grid, as docs/methods/viewing-threshold.md says.
    low, high = np.log(exposures[0]) - 2.5, np.log(exposures[-1]) + 2.5
    n_steps = int(np.ceil((high - low) / 0.1))
    step = (high - low) / n_steps
    at = low + step * (np.arange(n_steps) + 0.5)
    slopes = np.array([0.6, 1.0, 1.65, 2.7, 4.5, 7.5])
    cell_at, cell_slope = np.tile(at, len(slopes)), np.repeat(slopes, n_steps)
    nodes = np.linspace(-3, 3, 31)
    ln_exposure = np.log(exposures.to_numpy(dtype=float))
    guess = 1 / len(labels)
    kernel = np.exp(-0.5 * ((at[None, :] - at[:, None]) / 0.25) ** 2)
    kernel /= kernel.sum(1, keepdims=True)
    start_slopes = np.exp(-0.5 * ((np.log(slopes) - 0.7) / 0.7) ** 2)
    start_slopes /= start_slopes.sum()
    order = np.argsort(stimulus, kind="stable")
    o_stimulus, o_exposure = stimulus[order], exposure[order]
    o_participant, o_right = participant[order], right[order].astype(int)
    starts = np.searchsorted(o_stimulus, np.arange(n_stimuli + 1))

    def tables(lapse):
        span = 1 - guess - lapse
        share = (0.5 - guess) / span
        k0 = np.log(share / (1 - share))
        z = cell_slope * (ln_exposure[:, None, None] - cell_at) + k0 + nodes[None, :, None]
        p = np.clip(guess + span / (1 + np.exp(-z)), 1e-6, 1 - 1e-6)
        return np.stack([np.log1p(-p), np.log(p)], 2).astype(np.float32), span, k0

    def expect(table, weights, ability, which, want_beliefs):
        node = np.clip(np.rint((ability + 3) / 0.2), 0, 30).astype(int)
        ln_weights = np.log(np.maximum(weights, 1e-30)).astype(np.float32)
        flat = table.reshape(-1, table.shape[-1])
        row = (o_exposure * 31 + node[o_participant]) * 2 + o_right
        beliefs = np.empty((len(which), len(cell_at))) if want_beliefs else None
        total = 0.0
        for chunk in range(0, len(which), 256):
            some = which[chunk : chunk + 256]
            rows = np.concatenate([row[starts[s] : starts[s + 1]] for s in some])
            sizes = starts[some + 1] - starts[some]
            ends = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            logs = np.add.reduceat(flat[rows], ends, axis=0) + ln_weights
            largest = logs.max(1, keepdims=True)
            belief = np.exp(logs - largest).astype(float)
            sums = belief.sum(1, keepdims=True)
            total += float((largest + np.log(sums)).sum())
            if want_beliefs:
                beliefs[chunk : chunk + 256] = belief / sums
        return beliefs, total

    def points(beliefs):
        """Twelve points of equal weight for each belief."""
        cube = beliefs.reshape(n_stimuli, len(slopes), n_steps)
        over = cube.sum(1)
        bucket = np.minimum((np.cumsum(over, 1) - over / 2) * 12, 11.999).astype(int)
        slope = np.einsum("sbt,b->st", cube, np.log(slopes))
        flat = (np.arange(n_stimuli)[:, None] * 12 + bucket).ravel()
        mass = np.bincount(flat, over.ravel(), n_stimuli * 12)
        safe = np.maximum(mass, 1e-300)
        point_at = np.bincount(flat, (over * at).ravel(), n_stimuli * 12) / safe
        point_slope = np.exp(np.bincount(flat, slope.ravel(), n_stimuli * 12) / safe)
        return [x.reshape(n_stimuli, 12) for x in (mass, point_at, point_slope)]

    everything = np.arange(n_stimuli)
    sample = everything[:: -(-n_stimuli // 500)]
    w_at, w_slope = np.full(n_steps, 1 / n_steps), start_slopes
    ability, sd = np.zeros(len(participants)), 0.5
    table, span, k0 = tables(0.02)
    before, rounds, is_settled = -np.inf, 0, False
    while rounds < 100 and not is_settled:
        rounds += 1
        weights = (w_slope[:, None] * w_at[None, :]).ravel()
        beliefs, now = expect(table, weights, ability, everything, True)
        is_settled = 12 < rounds and abs(now - before) / len(trials) < 5e-6
        before = now
        cube = beliefs.reshape(n_stimuli, len(slopes), n_steps)
        w_at = cube.sum((0, 1)) @ kernel + 1 / n_steps
        w_slope = cube.sum((0, 2)) + start_slopes
        w_at, w_slope = w_at / w_at.sum(), w_slope / w_slope.sum()
        mass, point_at, point_slope = points(beliefs)
        z = point_slope[stimulus] * (ln_exposure[exposure][:, None] - point_at[stimulus])
        seen = 1 / (1 + np.exp(-(z + k0 + ability[participant][:, None])))
        p = np.clip(guess + span * seen, 1e-6, 1 - 1e-6)
        dp = span * seen * (1 - seen)
        slope = np.where(right[:, None], dp / p, -dp / (1 - p))
        gradient = np.bincount(participant, (mass[stimulus] * slope).sum(1))
        information = np.bincount(participant, (mass[stimulus] * dp * dp / (p * (1 - p))).sum(1))
        variance = 1 / (information + 1 / sd**2)
        ability = np.clip(ability + np.clip((gradient - ability / sd**2) * variance, -1, 1), -3, 3)
        mean = ability.mean()
        sd = float(np.clip(np.sqrt(((ability - mean) ** 2 + variance).mean()), 0.05, 2.0))
        ability -= mean
        if rounds in (3, 6, 9):
            weights = (w_slope[:, None] * w_at[None, :]).ravel()
            tried = [0.0, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.11, 0.15]
            made = [tables(lapse) for lapse in tried]
            likely = [expect(one[0], weights, ability, sample, False)[1] for one in made]
            table, span, k0 = made[int(np.argmax(likely))]
    weights = (w_slope[:, None] * w_at[None, :]).ravel()
    beliefs, _ = expect(table, weights, ability, everything, True)
    over = beliefs.reshape(n_stimuli, len(slopes), n_steps).sum(1)
    below = np.cumsum(over, 1)

    def quantile(q):
        idx = (below < q).sum(1).clip(0, n_steps - 1)
        rest = q - (below[everything, idx] - over[everything, idx])
        return np.exp(at[idx] + step * (rest / over[everything, idx] - 0.5))

    threshold, _, _ = quantile(0.5), quantile(0.025), quantile(0.975)

    # The pigeonhole bootstrap over everything, bands and classes.
    groups = np.zeros((1 + n_exposures + 1 + len(labels), n_stimuli))
    groups[0] = 1
    groups[1 + band, everything] = 1
    groups[1 + n_exposures + 1 + label, everything] = 1
    rng = np.random.default_rng(1)
    draws = np.empty((n_draws, len(groups), n_exposures + 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        for draw in range(n_draws):
            of_people = np.bincount(rng.integers(0, len(participants), len(participants)), minlength=len(participants))
            of_stimuli = np.bincount(rng.integers(0, n_stimuli, n_stimuli), minlength=n_stimuli)
            weight = of_people[participant].astype(float)
            n_d = np.bincount(place, weight, n_stimuli * n_exposures).reshape(shape)
            k_d = np.bincount(place, weight * right, n_stimuli * n_exposures).reshape(shape)
            weighted = groups * of_stimuli
            n_g, k_g = weighted @ n_d, weighted @ k_d
            draws[draw, :, :n_exposures] = k_g / n_g
            draws[draw, :, n_exposures] = k_g.sum(1) / n_g.sum(1)
            hard = 1 - k_d.sum(1) / n_d.sum(1)
            known = np.isfinite(hard)
            draws[draw, :, -1] = weighted[:, known] @ hard[known] / weighted[:, known].sum(1)
        interval = np.nanpercentile(draws, [2.5, 97.5], axis=0)
    return {
        "accuracy": right.mean(),
        "accuracy_low": interval[0, 0, n_exposures],
        "accuracy_high": interval[1, 0, n_exposures],
        "bands": np.bincount(band, minlength=n_exposures + 1).tolist(),
        "difficulty": difficulty.mean(),
        "threshold_ms": float(np.exp(np.log(threshold).mean())),
    }


def numbers_of(summary):
    """The same numbers from a summary.json."""
    import math

    found = summary["viewing_time"]
    stimuli = found["stimuli"]
    return {
        "accuracy": found["accuracy"]["value"],
        "accuracy_low": found["accuracy"]["low"],
        "accuracy_high": found["accuracy"]["high"],
        "bands": [band["n_stimuli"] for band in found["bands"]],
        "difficulty": statistics.fmean(one["difficulty"]["value"] for one in stimuli),
        "threshold_ms": math.exp(
            statistics.fmean(math.log(one["threshold_ms"]["value"]) for one in stimuli)
        ),
    }


def timed(command, stdout):
    start = time.perf_counter()
    with open(stdout, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed; run it by hand: {' '.join(map(str, command))}")
    return time.perf_counter() - start, usage.ru_maxrss // 1024


def differences(ours, theirs):
    """Names of numbers that differ by more than the draws and the grid allow."""
    allowed = {"accuracy": 1e-9, "difficulty": 1e-9, "threshold_ms": 0.02 * ours["threshold_ms"]}
    far = [name for name, by in allowed.items() if by < abs(ours[name] - theirs[name])]
    near = 0.003
    far += [end for end in ("accuracy_low", "accuracy_high") if near < abs(ours[end] - theirs[end])]
    return far + (["bands"] if ours["bands"] != theirs["bands"] else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stimuli", type=int, default=4771)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/mohs-bench"))
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        print(json.dumps(score_with_pandas(args.peer, args.draws)))
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    python = python_with_tools(args.folder)
    trials = args.folder / f"flash-{args.stimuli}.csv"
    if not trials.exists():
        code = f"import bench_flash as b; b.make_trials({str(trials)!r}, {args.stimuli})"
        subprocess.run([python, "-c", code], check=True, cwd=ROOT / "tools")
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    mohs = [target / "release" / "mohs", "score", "viewing-time", trials]
    mohs += ["--format", "json", "--resamples", str(args.draws)]
    peer = [python, Path(__file__).resolve(), "--peer", trials, "--draws", str(args.draws)]
    seconds, peak = {"mohs": [], "pandas + numpy": []}, {}
    for turn in range(args.rounds):
        for name, command in [("mohs", mohs), ("pandas + numpy", peer)]:
            took, peak[name] = timed(command, args.folder / f"{name.split()[0]}.json")
            seconds[name].append(took)
            print(f"round {turn + 1}: {name:<15} {took:7.2f} s {peak[name]:5} MB", flush=True)
    ours = numbers_of(json.loads((args.folder / "mohs.json").read_text()))
    theirs = json.loads((args.folder / "pandas.json").read_text())
    far = differences(ours, theirs)
    print(f"numbers {'agree' if not far else 'DIFFER: ' + ', '.join(far)}")
    print(f"  mohs           {ours}\n  pandas + numpy {theirs}")
    ratios = [theirs / ours for ours, theirs in zip(seconds["mohs"], seconds["pandas + numpy"])]
    print(
        f"pandas + numpy / mohs: time x{statistics.median(ratios):.1f} "
        f"({min(ratios):.1f} to {max(ratios):.1f}), "
        f"memory x{peak['pandas + numpy'] / peak['mohs']:.1f}"
    )
    sys.exit(1 if far else 0)


if __name__ == "__main__":
    main()
