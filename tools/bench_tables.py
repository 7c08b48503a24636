#!/usr/bin/env python3
"""Races mohs against pandas and polars: read trials, keep some, write them.

    python3 tools/bench_tables.py [--rows 10000000] [--folder /tmp/mohs-bench]

The same file, one after the other, each in a process of its own, so that peak memory is its own.
Kept are right answers after exposures up to 250 ms. Every tool must keep the same number of rows.
Needs cargo; makes a virtual environment with the versions of tools/requirements-bench.txt.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each runs in its own process with `source` and `target` set; peak memory is read at the end.
PROGRAMS = {
    "pandas": """
import pandas as pd
t = pd.read_{kind}(source)
kept = t[(t.exposure_ms <= 250) & (t.correct == 1)]
kept.to_{kind}(target, index=False)
n = len(kept)
""",
    "polars eager": """
import polars as pl
t = pl.read_{kind}(source)
kept = t.filter((pl.col("exposure_ms") <= 250) & (pl.col("correct").cast(pl.Int64) == 1))
kept.write_{kind}(target)
n = len(kept)
""",
    "polars streaming": """
import polars as pl
t = pl.scan_{kind}(source)
kept = t.filter((pl.col("exposure_ms") <= 250) & (pl.col("correct").cast(pl.Int64) == 1))
kept.sink_{kind}(target)
n = None
""",
}

AROUND = """
import json, sys, time
source, target = sys.argv[1:]
start = time.perf_counter()
{body}
seconds = time.perf_counter() - start
status = open("/proc/self/status").read()
peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
print(json.dumps({{"n_written": n, "seconds": seconds, "peak_mb": int(peak) // 1024}}))
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def python_with_tools(folder):
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        wanted = ROOT / "tools" / "requirements-bench.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
    return python


def stream_trials():
    command = ["cargo", "build", "--release", "-q", "-p", "mohs-data", "--example", "stream_trials"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "stream_trials"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/mohs-bench"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    python = python_with_tools(args.folder)
    mohs = stream_trials()

    print(f"{args.rows:,} trials on {os.cpu_count()} cores; read, filter, write")
    print()
    print("| format | tool | seconds | rows/s | peak memory | mohs is faster by | memory ratio |")
    print("|---|---|---:|---:|---:|---:|---:|")
    is_equal = True
    for kind, ending in [("csv", "csv"), ("parquet", "parquet")]:
        source = args.folder / f"trials-{args.rows}.{ending}"
        target = args.folder / f"kept.{ending}"
        if not source.exists():
            subprocess.run([mohs, "make", str(args.rows), source], check=True, capture_output=True)
        results = {"mohs": run([mohs, "filter", source, target])}
        for tool, body in PROGRAMS.items():
            program = AROUND.format(body=body.format(kind=kind))
            results[tool] = run([python, "-c", program, source, target])
        ours = results["mohs"]
        for tool, result in results.items():
            if "failed" in result:
                print(f"| {kind} | {tool} | failed: {result['failed']} | | | | |")
                continue
            if result["n_written"] not in (None, ours["n_written"]):
                is_equal = False
            print(
                f"| {kind} | {tool} | {result['seconds']:.1f} "
                f"| {args.rows / result['seconds']:,.0f} | {result['peak_mb']:,} MB "
                f"| {result['seconds'] / ours['seconds']:.2f} "
                f"| {result['peak_mb'] / ours['peak_mb']:.1f} |",
                flush=True,
            )
        target.unlink(missing_ok=True)
    if not is_equal:
        sys.exit("the tools kept different numbers of rows")


if __name__ == "__main__":
    main()
