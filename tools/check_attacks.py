#!/usr/bin/env python3
"""Holds the smallest epsilons that `mohs attack` finds against those of torchattacks.

    python3 tools/check_attacks.py [--model resnet20] [--images 320] [--attacks pgd fgsm | all]
                                   [--preset torchattacks-3.5.1] [--version 3.5.1] [--mohs PATH]

Needs tools/requirements-attacks.txt, and makes a Python with it where that is missing. For each
attack and each image that the model gets right, torchattacks goes up the 140 epsilons of the paper
until one fools the model; `mohs attack` does the same images with the same settings. Images start as
the same 8-bit pixels, the model is the same ONNX file (rebuilt in torch; logits must agree with
onnxruntime to 1e-4), and both must get the same images right to begin with.

Printed per attack: the number of images, both means, the 95 % interval of the mean of paired
differences, and how many survive the whole grid on either side; survivors count as one step above
the grid (0.05). Attacks without random numbers: the share of images with the same epsilon and the
largest distance in steps of the grid. The others: two-sample Kolmogorov-Smirnov and Mann-Whitney,
and Wilcoxon's signed ranks, which sees more as both sides share their images. `yardstick` is the
same share or the same tests of torchattacks against itself with another seed, where --yardstick asks
for it.

Exits with 1 if clean answers differ, if less than 98 % of the images of an attack without random
numbers have the same epsilon, or if a test of the others has p below 0.01 divided by their number.

With --noise common an image has the same random numbers at every epsilon, here and there; `as-is` and
`fresh` draw anew at every epsilon (`mohs attack --noise fresh`), as users of torchattacks get it, and
so reach their aim earlier. See `smallest` in attack_peers.py. In a batch, torchattacks draws sizes, places
and signs of DIFGSM, TIFGSM and Square once for all images, so that tests of these take for
independent what is not; small batches are slower and better, --batch 1 is exact. What torchattacks
found is kept in --folder and used again when nothing that matters has changed. --every K leaves all but
every K-th epsilon out, on both sides: Square needs minutes for each epsilon of a few hundred images.
"""

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path

# First, as it sees to it that there is a Python with the others.
import attack_peers as peers  # isort: skip

import numpy as np
import scipy.stats
import torch

SHARE_EQUAL, SMALLEST_P = 0.98, 0.01
ABOVE = 0.05


def values_of(args):
    return peers.grid()[:: args.every]


def of_torchattacks(args, module, target, attack, chosen, seed):
    """Returns places in the grid and how many pictures were no numbers; from an earlier run if any."""
    arguments = peers.arguments_of(args.preset, attack, args.square_queries)
    key = [target.name, args.images, args.version, attack, sorted(arguments.items())]
    key += [args.noise, args.batch, seed, torch.__version__, target.path.stat().st_size]
    key += [] if args.every == 1 else [args.every]
    name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
    kept = args.folder / "found" / f"{attack}-{name}.json"
    if kept.exists() and not args.anew:
        told = json.loads(kept.read_text())
        return np.array(told["places"]), told["n_not_numbers"], told["seconds"]
    start = time.perf_counter()
    options = dict(noise=args.noise, batch=args.batch, seed=seed, grid=values_of(args))
    found, n_not_numbers = peers.smallest(module, attack, arguments, target, chosen, **options)
    seconds = time.perf_counter() - start
    kept.parent.mkdir(exist_ok=True)
    told = dict(places=found.tolist(), n_not_numbers=n_not_numbers, seconds=seconds, key=key)
    kept.write_text(json.dumps(told))
    return found, n_not_numbers, seconds


def compare(args, attack, theirs, ours):
    """Returns words for the table and whether the two are alike; both are places in the grid."""
    values = np.append(values_of(args), ABOVE)
    left, right = values[theirs], values[ours]
    apart = right - left
    half = scipy.stats.t.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    words = [f"{left.mean():.6f}", f"{right.mean():.6f}"]
    words += [f"{apart.mean():+.6f} ({apart.mean() - half:+.6f} to {apart.mean() + half:+.6f})"]
    top = len(values) - 1
    words += [f"{(theirs == top).sum()} / {(ours == top).sum()}"]
    steps = np.abs(theirs - ours)
    share = (steps == 0).mean()
    words += [f"{share:.3f}", str(steps.max())]
    if attack in peers.DETERMINISTIC:
        return [*words, "", "", ""], None, share
    smirnov = scipy.stats.ks_2samp(left, right).pvalue
    ranks = scipy.stats.mannwhitneyu(left, right).pvalue
    signed = 1.0 if (steps == 0).all() else scipy.stats.wilcoxon(left, right).pvalue
    return [*words, *(f"{p:.3f}" for p in [smirnov, ranks, signed])], min(smirnov, ranks), share


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mohs", type=Path, help="a built mohs; without it, cargo builds one")
    parser.add_argument("--model", choices=peers.MODELS, default="resnet20")
    parser.add_argument("--images", type=int, default=320)
    parser.add_argument("--attacks", nargs="+", default=["all"], metavar="ATTACK")
    parser.add_argument("--preset", choices=peers.PRESETS, default="torchattacks-3.5.1")
    parser.add_argument("--version", choices=["3.5.1", "3.2.6"], default="3.5.1")
    parser.add_argument("--old", type=Path, help="folder with torchattacks 3.2.6")
    parser.add_argument("--mode", choices=["exact", "fast", "sweep"], default="exact")
    parser.add_argument("--noise", choices=["as-is", "fresh", "common"], default="common")
    parser.add_argument("--every", type=int, default=1, help="of the grid")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--square-queries", type=int, default=200)
    parser.add_argument("--threads", type=int, help="of torch; all cores when not given")
    parser.add_argument("--yardstick", action="store_true", help="torchattacks against itself too")
    parser.add_argument("--anew", action="store_true", help="run torchattacks even if it was run")
    parser.add_argument("--only-torchattacks", action="store_true", help="fill the folder, no mohs")
    parser.add_argument("--folder", type=Path, default=peers.FOLDER / "attacks")
    args = parser.parse_args()
    attacks = list(peers.CLASSES) if args.attacks == ["all"] else args.attacks
    unknown = [attack for attack in attacks if attack not in peers.CLASSES]
    if unknown:
        parser.error(f"no such attack: {' '.join(unknown)}")
    if args.threads:
        torch.set_num_threads(args.threads)
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    mohs = args.mohs.resolve() if args.mohs else peers.built_mohs()
    target = peers.Target(args.model, args.images, args.folder, mohs)
    module = peers.import_version(args.version, args.old)
    chosen = target.right.nonzero().flatten()
    print(f"{args.model}, {args.images} images, {len(chosen)} right; preset {args.preset}, "
          f"torchattacks {args.version}, noise {args.noise}, batches of {args.batch}, "
          f"Square with {args.square_queries} queries, {len(values_of(args))} epsilons, "
          f"mohs --mode {args.mode}", flush=True)

    found = {}
    for attack in attacks:
        found[attack] = of_torchattacks(args, module, target, attack, chosen, args.seed)
        places, n_not_numbers, seconds = found[attack]
        print(f"- torchattacks {attack}: {seconds:.0f} s, "
              f"{(places == len(values_of(args))).sum()} survive, {n_not_numbers} not numbers", flush=True)
    if args.only_torchattacks:
        return

    options = dict(preset=args.preset, mode=args.mode, seed=args.seed)
    options["square_queries"] = args.square_queries
    if args.every != 1:
        options["grid"] = values_of(args)
    options["more"] = ["--noise", "common" if args.noise == "common" else "fresh"]
    table, _, seconds = peers.run_mohs(mohs, target, attacks, args.folder, **options)
    print(f"- mohs: {seconds:.0f} s\n")
    failures = []
    names = ["attack", "n", "mean, torchattacks", "mean, mohs", "mohs - torchattacks (95 %)"]
    names += ["survive", "same", "largest distance", "KS p", "MW p", "Wilcoxon p"]
    print("| " + " | ".join(names) + " |\n|---|" + "---:|" * (len(names) - 1))
    n_random = sum(attack not in peers.DETERMINISTIC for attack in attacks)
    for attack in attacks:
        theirs = found[attack][0]
        ours = peers.places(table, attack, target.ids, values_of(args))
        unlike = ((ours != -1) != target.right.numpy()).sum()
        if unlike:
            failures.append(f"{attack}: {unlike} images are right for one and wrong for the other")
        both = ours[chosen.numpy()] != -1
        words, p, share = compare(args, attack, theirs[both], ours[chosen.numpy()][both])
        print(f"| {attack} | {both.sum()} | " + " | ".join(words) + " |", flush=True)
        if p is None and share < SHARE_EQUAL:
            failures.append(f"{attack}: the same epsilon on {share:.1%} of images only")
        if p is not None and p < SMALLEST_P / n_random:
            failures.append(f"{attack}: the two differ in distribution, p = {p:.1e}")
        if args.yardstick and attack not in peers.DETERMINISTIC:
            other, _, _ = of_torchattacks(args, module, target, attack, chosen, args.seed + 1)
            words, _, _ = compare(args, attack, theirs, other)
            print(f"| {attack}, yardstick | {len(theirs)} | " + " | ".join(words) + " |", flush=True)
    if failures:
        sys.exit("\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
