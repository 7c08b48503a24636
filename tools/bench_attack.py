#!/usr/bin/env python3
"""Counts what a table of smallest epsilons costs with `mohs attack`, and races it against torchattacks.

    python3 tools/bench_attack.py [--section calls wall] [--model small] [--images 16]
                                  [--attacks all] [--preset torchattacks-3.5.1]
                                  [--square-queries 200] [--rounds 1] [--every 1] [--mohs PATH]

Needs tools/requirements-attacks.txt, and makes a Python with it where that is missing. Images that the
model gets wrong from the start are left out of all numbers.

`calls` runs `mohs attack` thrice on the same images: `--mode sweep` (every epsilon of the grid by
itself, nothing shared), `exact` and `fast` (with --audit 0 unless told otherwise). A call is one
picture through the model; its cost is 1 for an answer and 3 for an answer with its gradient. Printed
per attack and per image:

- nominal: all 140 epsilons, each to its last step (of Square: its start and all its queries);
- sweep: as nominal, but Square stops when it has fooled the model;
- least: what a search upwards needs that stops after the first epsilon that fools, taken from the
  runs of the sweep;
- exact and fast, as counted by mohs; how many times less than nominal, sweep and least each is;
- the share of images on which exact and fast give the same epsilon as the sweep.

Ends with 1 if exact differs from the sweep anywhere, or the sweep from its own runs. Where the sweep
takes too long (Square with thousands of queries, the preset `paper`), --without-sweep leaves it out:
nominal is then what mohs says of it, and fast is held against exact.

`wall` times the same table: torchattacks looped over the grid, all images at every epsilon as its
users do, in batches; then exact; then fast; attack by attack, then all again for each further round,
so that a busy machine is busy for everybody. Ours are whole processes, with start, reading of
pictures and loading of the model; theirs are without imports, and with pictures and model at hand.
Torch has as many threads as it takes by itself, or one where that is faster on a few batches before
the race; the load of the machine at the start is printed, and on a busy one torch with several
threads loses more than it should. With --every K torchattacks does every K-th epsilon
only and its time is multiplied (of Square, which is dearer where epsilon is small, this is rough).
Medians over rounds; the mean of the smallest epsilons of both is printed beside as a check.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

# First, as it sees to it that there is a Python with the others.
import attack_peers as peers  # isort: skip

import numpy as np
import torch

GRADIENT = 3
ABOVE = 0.05


def costs(table):
    return table["n_forward"] + GRADIENT * table["n_gradient"]


def times(large, small):
    return f"{large / small:.1f}" if small and not np.isnan(large) else "–"


def count_calls(args, mohs, target, attacks):
    """Prints the costs; returns what went wrong."""
    tables, seconds, trace = {}, {}, None
    for mode in ["exact", "fast"] if args.without_sweep else ["sweep", "exact", "fast"]:
        table, told, seconds[mode] = run(args, mohs, target, attacks, mode)
        tables[mode] = table
        if mode == "sweep":
            trace = told
    print("## Calls\n")
    ran = ", ".join(f"{mode} {seconds[mode]:.0f} s" for mode in tables)
    print(f"Mean cost per image, answer = 1, answer and gradient = {GRADIENT}. Runs took: {ran}.\n")
    names = ["attack", "n", "nominal", "sweep", "least", "exact", "fast", "exact: nominal/", "sweep/"]
    names += ["least/", "fast: nominal/", "sweep/", "least/", "exact = sweep"]
    names += ["fast = exact" if args.without_sweep else "fast = sweep"]
    print("| " + " | ".join(names) + " |\n|---|" + "---:|" * (len(names) - 1))
    failures, sums, calls = [], np.zeros(5), []
    for attack in attacks:
        places = {mode: peers.places(table, attack, target.ids) for mode, table in tables.items()}
        for mode, found in places.items():
            unlike = ((found != -1) != target.right.numpy()).sum()
            if unlike:
                failures.append(f"{attack}, {mode}: {unlike} clean answers are not those of torch")
        truth = places["exact" if args.without_sweep else "sweep"]
        attacked = truth != -1
        ids = [stimulus for stimulus, yes in zip(target.ids, attacked) if yes]
        nominal, sweep, least = nominal_of(tables["exact"].attrs["account"], attack), np.nan, np.nan
        if trace is not None:
            runs = runs_of(trace, attack, ids)
            sizes = runs.groupby("stimulus").size()
            if len(sizes) != len(ids) or (sizes != len(peers.grid())).any():
                failures.append(f"{attack}: the trace has not one run per image and epsilon")
                continue
            failures += contradictions(attack, runs, ids, truth[attacked])
            sweep = runs["cost"].sum() / len(ids)
            if attack != "square":
                nominal = runs.groupby("epsilon")["cost"].max().sum()
            before = runs.groupby("stimulus")["reached"].cumsum() - runs["reached"].astype(int)
            least = runs["cost"][before == 0].sum() / len(ids)
        n, ours = len(ids), []
        for mode in ["exact", "fast"]:
            rows = tables[mode]
            rows = rows[(rows["attack"] == attack) & rows["stimulus"].isin(ids)]
            ours.append(costs(rows).sum() / n)
            calls.append((attack, mode, rows["n_forward"].mean(), rows["n_gradient"].mean()))
        exact, fast = ours
        same = {mode: (found == truth)[attacked].mean() for mode, found in places.items()}
        if args.without_sweep:
            same["exact"] = np.nan
        elif same["exact"] != 1:
            failures.append(f"{attack}: exact is not what the sweep finds on {1 - same['exact']:.2%}")
        sums += [nominal, sweep, least, exact, fast]
        print_costs(attack, n, [nominal, sweep, least, exact, fast], same)
    print_costs("all", int(target.right.sum()), sums, None)
    print("\n| attack | mode | answers per image | answers with gradient per image |\n|---|---|---:|---:|")
    for attack, mode, n_forward, n_gradient in calls:
        print(f"| {attack} | {mode} | {n_forward:.1f} | {n_gradient:.1f} |")
    print(flush=True)
    return failures


def nominal_of(account, attack):
    """What mohs says that a sweep costs per image, each run to its end."""
    (row,) = account[account["attack"] == attack].itertuples()
    return (row.sweep_forward + GRADIENT * row.sweep_gradient) / row.n_attacked


def runs_of(trace, attack, ids):
    """The runs of a sweep, with their costs, by image and epsilon."""
    runs = trace[(trace["attack"] == attack) & trace["stimulus"].isin(ids)].copy()
    runs["cost"] = costs(runs)
    runs["reached"] = runs["reached"].astype(str).str.lower().isin(["1", "true", "yes"])
    return runs.sort_values(["stimulus", "epsilon"], kind="stable")


def print_costs(attack, n, numbers, same):
    nominal, sweep, least, exact, fast = numbers
    words = ["–" if np.isnan(number) else f"{number:.1f}" for number in numbers]
    for ours in [exact, fast]:
        words += [times(nominal, ours), times(sweep, ours), times(least, ours)]
    shares = [np.nan, np.nan] if same is None else [same["exact"], same["fast"]]
    words += ["–" if np.isnan(share) else f"{share:.4f}" for share in shares]
    print(f"| {attack} | {n} | " + " | ".join(words) + " |")


def contradictions(attack, runs, ids, places):
    """Holds the sweep's table against its runs."""
    first = runs[runs["reached"]].groupby("stimulus")["epsilon"].min()
    values = peers.grid()
    for stimulus, place in zip(ids, places):
        said = values[place] if place < len(values) else None
        found = first.get(stimulus)
        if (said is None) != (found is None) or (said is not None and 1e-9 < abs(said - found)):
            return [f"{attack}: the sweep says {said} of {stimulus}, its runs say {found}"]
    return []


def run(args, mohs, target, attacks, mode):
    options = dict(preset=args.preset, mode=mode, seed=args.seed, audit=args.audit)
    options["square_queries"] = args.square_queries
    return peers.run_mohs(mohs, target, attacks, args.folder, more=args.more.split(), **options)


def choose_threads(target, batch):
    """Sets the number of threads with which torch answers and derives fastest, and returns it."""
    pictures = target.pictures[target.right][:batch]
    taken = {}
    for threads in [torch.get_num_threads(), 1]:
        torch.set_num_threads(threads)
        for round in range(6):
            start = time.perf_counter()
            asked = pictures.clone().requires_grad_()
            torch.autograd.grad(target.network(asked).sum(), asked)
            # The first is to warm up.
            if round:
                taken.setdefault(threads, []).append(time.perf_counter() - start)
    best = min(taken, key=lambda threads: statistics.median(taken[threads]))
    torch.set_num_threads(best)
    return best


def race(args, mohs, target, attacks):
    """Prints wall times."""
    load = os.getloadavg()[0]
    threads = choose_threads(target, args.batch)
    module = peers.import_version(args.version, args.old)
    chosen = torch.arange(len(target.ids))[target.right]
    values = peers.grid()[:: args.every]
    seconds = {(attack, who): [] for attack in attacks for who in ["torchattacks", "exact", "fast"]}
    means = {}
    above = np.append(peers.grid(), ABOVE)
    for _ in range(args.rounds):
        for attack in attacks:
            arguments = peers.arguments_of(args.preset, attack, args.square_queries)
            options = dict(grid=values, drop=False, batch=args.batch, seed=args.seed)
            start = time.perf_counter()
            found, _ = peers.smallest(module, attack, arguments, target, chosen, **options)
            took = (time.perf_counter() - start) * len(peers.grid()) / len(values)
            seconds[attack, "torchattacks"].append(took)
            means[attack, "torchattacks"] = np.append(values, ABOVE)[found].mean()
            for mode in ["exact", "fast"]:
                table, _, took = run(args, mohs, target, [attack], mode)
                seconds[attack, mode].append(took)
                places = peers.places(table, attack, target.ids)
                means[attack, mode] = above[places[places != -1]].mean()
            print(f"- {attack} done", file=sys.stderr, flush=True)
    print("## Wall time\n")
    print(f"Seconds for {len(chosen)} images; {args.rounds} rounds; torch with {threads} "
          f"threads, load {load:.1f} at the start, batches of {args.batch}; torchattacks at "
          f"{len(values)} of {len(peers.grid())} epsilons; "
          f"Square with {args.square_queries} queries for all.\n")
    names = ["attack", "torchattacks", "mohs exact", "mohs fast", "exact is faster by"]
    names += ["fast is faster by", "mean epsilon, torchattacks", "exact", "fast"]
    print("| " + " | ".join(names) + " |\n|---|" + "---:|" * (len(names) - 1))
    totals = np.zeros(3)
    for attack in attacks:
        who = ["torchattacks", "exact", "fast"]
        medians = [statistics.median(seconds[attack, one]) for one in who]
        totals += medians
        print_times(attack, medians, [f"{means[attack, one]:.5f}" for one in who])
    print_times("all", totals, ["", "", ""])
    # One run of all attacks at once starts and loads once only.
    for mode in ["exact", "fast"]:
        _, _, took = run(args, mohs, target, attacks, mode)
        print(f"\nmohs {mode}, all attacks in one run: {took:.1f} s, "
              f"torchattacks / mohs = {times(totals[0], took)}", flush=True)


def print_times(attack, numbers, means):
    theirs, exact, fast = numbers
    words = [f"{number:.2f}" for number in numbers] + [times(theirs, exact), times(theirs, fast)]
    print(f"| {attack} | " + " | ".join([*words, *means]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--section", nargs="+", choices=["calls", "wall"], default=["calls", "wall"])
    parser.add_argument("--mohs", type=Path, help="a built mohs; without it, cargo builds one")
    parser.add_argument("--model", choices=peers.MODELS, default="small")
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--attacks", nargs="+", default=["all"], metavar="ATTACK")
    parser.add_argument("--preset", choices=peers.PRESETS, default="torchattacks-3.5.1")
    parser.add_argument("--version", choices=["3.5.1", "3.2.6"], default="3.5.1")
    parser.add_argument("--old", type=Path, help="folder with torchattacks 3.2.6")
    parser.add_argument("--square-queries", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="of the grid, for torchattacks only")
    parser.add_argument("--without-sweep", action="store_true", help="count exact and fast only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--audit", type=float, default=0, help="share of images that fast audits")
    parser.add_argument("--more", default="", help="further options of `mohs attack`, in one string")
    parser.add_argument("--folder", type=Path, default=peers.FOLDER / "attacks")
    args = parser.parse_args()
    attacks = list(peers.CLASSES) if args.attacks == ["all"] else args.attacks
    unknown = [attack for attack in attacks if attack not in peers.CLASSES]
    if unknown:
        parser.error(f"no such attack: {' '.join(unknown)}")
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    mohs = args.mohs.resolve() if args.mohs else peers.built_mohs()
    target = peers.Target(args.model, args.images, args.folder, mohs)
    print(f"{args.model}, {args.images} images, {int(target.right.sum())} right; "
          f"preset {args.preset}\n", flush=True)
    failures = count_calls(args, mohs, target, attacks) if "calls" in args.section else []
    if "wall" in args.section:
        race(args, mohs, target, attacks)
    if failures:
        sys.exit("\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
