#!/usr/bin/env python3
"""Kills an evaluation at random moments, lets it go on, and compares with one that ran through.

    python tools/kill_and_resume.py --mohs target/release/mohs --data ../shared/data [--kills 20]

Uses the 1,000 pictures and the trained ResNet-20 of ../shared/data. Prints how many model calls
were made in all, how many of them were for nothing, and whether the files are the same bytes.
Only the standard library is needed. Exits with 1 if the files differ or more than 1 % of the calls
were for nothing.
"""

import argparse
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MANIFEST = """version = 1
name = "killed"
seed = 3
batch = {batch}
stimuli = {stimuli}
[[model]]
name = "resnet20"
file = {model}
classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
preprocess = {{ mean = [0.485, 0.456, 0.406], sd = [0.229, 0.224, 0.225] }}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mohs", default="target/release/mohs")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--engine", default="rten")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    mohs = shutil.which(args.mohs) or str(pathlib.Path(args.mohs).resolve())
    data = pathlib.Path(args.data).resolve()
    draw = random.Random(args.seed)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "eval.toml").write_text(
            MANIFEST.format(
                batch=args.batch,
                stimuli=json.dumps(str(data / "cifar10h" / "stimuli.csv")),
                model=json.dumps(str(data / "onnx" / "cifar10_resnet20.onnx")),
            )
        )
        command = [mohs, "eval", "eval.toml", "--engine", args.engine, "--format", "json"]

        def run(*more):
            ran = subprocess.run(command + list(more), cwd=folder, capture_output=True, text=True)
            if ran.returncode != 0:
                sys.exit(f"mohs failed:\n{ran.stderr}")
            return json.loads(ran.stdout)

        started = time.monotonic()
        needed = run("--no-cache")["asked"]
        whole_seconds = time.monotonic() - started
        whole = (folder / "predictions.csv").read_bytes()
        (folder / "predictions.csv").unlink()

        def kept() -> int:
            """Rows that are kept, whole ones only."""
            row = 4 + 32 + 10 * 4 + 8
            files = (folder / ".mohs-cache").glob("*.rows")
            return sum((file.stat().st_size - 44) // row for file in files)

        killed, in_time = 0, 0
        # Each run is killed within the time that the rest would take, so that all are interrupted.
        while killed < args.kills:
            rest = 1 - (kept() / needed if (folder / ".mohs-cache").exists() else 0)
            process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(draw.uniform(0, whole_seconds * max(rest, 0.02) / 4))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
            else:
                in_time += 1
                if 5 < in_time:
                    break
        before = kept()
        last = run()
        after = kept()
        warm = run()
        same = (folder / "predictions.csv").read_bytes() == whole
        calls = before + last["asked"]
        extra = calls - needed
        print(f"model calls needed           {needed}")
        print(f"kills                        {killed} (batch {args.batch}, engine {args.engine})")
        print(f"answers kept before the end  {before}")
        print(f"asked in the last run        {last['asked']} (from cache {last['from_cache']})")
        print(f"answered twice               {extra} ({extra / needed:.2%}); kept at the end {after}")
        print(f"lost in the engine           at most {killed * args.batch} (a batch per kill)")
        print(f"asked in a second run        {warm['asked']}")
        print(f"same bytes                   {'yes' if same else 'NO'}")
        return 0 if same and extra <= 0.01 * needed and warm["asked"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
