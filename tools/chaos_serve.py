#!/usr/bin/env python3
"""Throws everything at `mohs serve` and counts from both sides: nothing may be lost or doubled.

    python3 tools/chaos_serve.py [--trials 200000] [--loss 0.3] [--duplicates 0.1] [--drop-out 0.3]
                                 [--voids 0.05] [--kill-every 20] [--at-once 150] [--db URL]

Simulated participants (crates/mohs-serve/examples/crowd) answer trials over HTTP while requests and
answers are lost, sent twice and in another order, a share of people leaves in the middle, and the
server is killed (-9) and started again every so many seconds. Then the export is held against the
ledger of the crowd: every answered trial must be there once, with its answer, and nothing else but
trials that were begun and never reported, which have none; nobody may have seen a picture twice; and
of trials with good timing, every pair of stimulus and exposure must have the same number, give or
take one. Ends with 1 if any of this fails.
"""

import argparse
import collections
import csv
import subprocess
import sys
import threading
import time
from pathlib import Path

import serve_bench as bench

EXPOSURES = [17, 50, 100, 250]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200_000, help="at least so many")
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--loss", type=float, default=0.3)
    parser.add_argument("--duplicates", type=float, default=0.1)
    parser.add_argument("--drop-out", type=float, default=0.3)
    parser.add_argument("--voids", type=float, default=0.05)
    parser.add_argument("--kill-every", type=float, default=20)
    parser.add_argument("--at-once", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--db", help="another database than a new SQLite file")
    parser.add_argument("--folder", type=Path, default=bench.FOLDER / "chaos")
    args = parser.parse_args()
    bench.FOLDER.mkdir(parents=True, exist_ok=True)
    mohs, crowd = bench.build()
    per_cell = -(-args.trials // (args.pictures * len(EXPOSURES)))
    study = args.folder / "chaos"
    asked = bench.make_study(mohs, study, args.pictures, 32, per_cell, EXPOSURES)
    server = bench.Server(mohs, study, args.db or f"sqlite:{study}/mohs.db")
    server.start()
    ledger = args.folder / "ledger.csv"
    begun = time.perf_counter()
    process = bench.crowd(
        crowd, server.address, "chaos", participants=10 * asked // 50, at_once=args.at_once,
        loss=args.loss, duplicates=args.duplicates, drop_out=args.drop_out, voids=args.voids,
        reorder=True, seed=args.seed, ledger=ledger, until_empty=True)
    n_kills = 0
    over = threading.Event()
    threading.Thread(target=lambda: (process.wait(), over.set()), daemon=True).start()
    while not over.wait(args.kill_every):
        server.kill()
        n_kills += 1
        server.start()
        print(f"killed {n_kills} times in {time.perf_counter() - begun:.0f} s",
              file=sys.stderr, flush=True)
    said = bench.finish(process)
    server.stop()
    export = args.folder / "trials.csv"
    export.unlink(missing_ok=True)
    source = [args.db, "--study", "chaos"] if args.db else [study]
    subprocess.run([mohs, "export", *source, "--to", "csv", "--output", export], check=True)
    failures = compare(ledger, export, asked, per_cell)
    print(f"{said['acked']} answered trials of {asked} asked for, {said['requests']} requests, "
          f"{n_kills} kills, {said['complete']} sessions complete, {said['dropped_out']} left, "
          f"{time.perf_counter() - begun:.0f} s; refusals: {said['refusals']}")
    if failures:
        sys.exit("\n".join(failures))
    print("nothing lost, nothing doubled, nobody saw a picture twice, cells within one")


def compare(ledger, export, asked, per_cell):
    sent = collections.Counter(line.strip() for line in open(ledger) if line.strip())
    stored, seen, cells = collections.Counter(), collections.Counter(), collections.Counter()
    stimuli, n_given_up = set(), 0
    for row in csv.DictReader(open(export)):
        seen[row["participant"], row["stimulus"]] += 1
        stimuli.add(row["stimulus"])
        # Begun and never reported: the server says so in a row without an answer.
        if row["reason"] in ["reopened", "lapsed"] and not row["response"]:
            n_given_up += 1
            continue
        stored[f"{row['session']},{row['trial']},{row['response']}"] += 1
        if row["timing"] == "ok" and not row.get("is_practice") == "1":
            cells[row["stimulus"], row["exposure_ms"]] += 1
    counts = [cells[stimulus, str(ms)] for stimulus in stimuli for ms in EXPOSURES]
    failures = []
    lost, extra = sent - stored, stored - sent
    if lost:
        failures.append(f"{sum(lost.values())} lost, e.g. {next(iter(lost))}")
    if extra:
        failures.append(f"{sum(extra.values())} not in the ledger or doubled, e.g. {next(iter(extra))}")
    twice = sum(1 for n in seen.values() if 1 < n)
    if twice:
        failures.append(f"{twice} pictures seen twice by the same person")
    print(f"cells: {min(counts)} to {max(counts)} good trials each, {per_cell} asked for; "
          f"{sum(counts)} good trials, {sum(counts) / asked - 1:+.2%}; {n_given_up} begun and never reported")
    if 1 < max(counts) - min(counts) or min(counts) < per_cell:
        failures.append("cells differ by more than one, or are not full")
    return failures


if __name__ == "__main__":
    main()
