#!/usr/bin/env python3
"""Races `mohs fit` against a PyTorch loop: the same small networks, pictures, batch and optimiser.

    python3 tools/bench_fit.py [--networks residual transformer] [--pictures 1600] [--rounds 3]
                               [--batch 64] [--threads 2] [--engines onnxruntime rten] [--mohs PATH]

Both train the built-in residual network and the vision transformer at 48 pixels with SGD and
momentum, without augmentation. A round is a training of three epochs in a process of its own, all
contenders in turn; the first epoch warms up, the others count. Times are those of whole epochs:
for mohs with its test on 16 pictures, for PyTorch without. Pictures are in memory as bytes, and
each contender turns them into numbers batch by batch.

Needs cargo, or a built program by --mohs, and the Python of tools/requirements-networks.txt.
It judges times, not numbers: the tests of mohs-vision compare those.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_peers import built_mohs, onnxruntime_library, python_with_tools  # noqa: E402

N_EPOCHS, SIDE, N_CLASSES = 3, 48, 16
PLAN = """version = 1
name = "{network}"
epochs = {epochs}
batch = {batch}
record = "none"
output = "{output}"
network = {{ architecture = "{network}" }}
input = {{ size = {side}, mean = [0.5, 0.5, 0.5], sd = [0.25, 0.25, 0.25] }}
train = {{ world = {{ seed = 5, n = {pictures}, size = 64 }} }}
validation = {{ world = {{ seed = 6, n = 16, size = 64 }} }}
optimiser = {{ kind = "sgd", learning_rate = 0.01, momentum = 0.9 }}
schedule = {{ kind = "constant" }}
"""


def residual(nn, width=16):
    """The residual network of mohs: a stem and three blocks."""

    class Block(nn.Module):
        def __init__(self, n_in, n_out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(n_out), nn.BatchNorm2d(n_out)
            self.shortcut = nn.Identity()
            if n_in != n_out or stride != 1:
                narrow = nn.Conv2d(n_in, n_out, 1, stride, bias=False)
                self.shortcut = nn.Sequential(narrow, nn.BatchNorm2d(n_out))

        def forward(self, x):
            y = self.norm2(self.conv2(self.norm1(self.conv1(x)).relu()))
            return (y + self.shortcut(x)).relu()

    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, N_CLASSES),
    )


def transformer(nn, width=48, depth=4, patch=6):
    """The vision transformer of mohs: patches, blocks, the mean over places."""
    import torch

    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, patch, patch)
            n_places = (SIDE // patch) ** 2
            self.position = nn.Parameter(torch.randn(1, n_places, width) * 0.02)
            layers = [
                nn.TransformerEncoderLayer(
                    width, width // 12, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
                )
                for _ in range(depth)
            ]
            self.blocks, self.norm = nn.Sequential(*layers), nn.LayerNorm(width)
            self.head = nn.Linear(width, N_CLASSES)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2) + self.position
            return self.head(self.norm(self.blocks(x)).mean(1))

    return Vision()


def torch_epochs(args):
    """Trains in PyTorch and prints the seconds of each epoch."""
    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    name = args.networks[0]
    model = {"residual": residual, "transformer": transformer}[name](torch.nn).train()
    pictures = torch.randint(0, 256, (args.pictures, 3, SIDE, SIDE), dtype=torch.uint8)
    labels = torch.arange(args.pictures) % N_CLASSES
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    seconds = []
    for _ in range(N_EPOCHS):
        start = time.perf_counter()
        for batch in torch.randperm(args.pictures).split(args.batch):
            numbers = (pictures[batch].float() / 255 - 0.5) / 0.25
            loss = torch.nn.functional.cross_entropy(model(numbers), labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            loss.item()
        seconds.append(time.perf_counter() - start)
    print(json.dumps(seconds))


def mohs_epochs(mohs, engine, network, args, environment):
    """Trains in mohs and returns the seconds of each epoch."""
    with tempfile.TemporaryDirectory() as folder:
        values = {"network": network, "epochs": N_EPOCHS, "batch": args.batch, "side": SIDE}
        plan = PLAN.format(**values, pictures=args.pictures, output="out")
        (Path(folder) / "fit.toml").write_text(plan)
        command = [mohs, "fit", Path(folder) / "fit.toml", "--engine", engine]
        command += ["--threads", str(args.threads), "--quiet"]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        with open(Path(folder) / "out" / "log.csv") as log:
            return [float(row["seconds"]) for row in csv.DictReader(log)]


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["residual", "transformer"]
    parser.add_argument("--networks", nargs="+", default=known, choices=known)
    parser.add_argument("--pictures", type=int, default=1600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engines", nargs="+", default=["onnxruntime", "rten"])
    parser.add_argument("--mohs", type=Path, help="a built mohs; without it, cargo builds one")
    parser.add_argument("--folder", type=Path, default=cache / "mohs" / "bench-peers")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        torch_epochs(args)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    python = python_with_tools(args.folder)
    mohs = args.mohs.resolve() if args.mohs else built_mohs()
    environment = dict(os.environ)
    environment.setdefault("ORT_DYLIB_PATH", str(onnxruntime_library(python)))
    print(f"{args.rounds} rounds, {args.threads} threads, {os.cpu_count()} cores, ", end="")
    print(f"{args.pictures} pictures of {SIDE} pixels, batch {args.batch}\n")
    for network in args.networks:
        print(f"## {network} (load before: {os.getloadavg()[0]:.1f})\n", flush=True)
        rates = {}
        for _ in range(args.rounds):
            for engine in args.engines:
                seconds = mohs_epochs(mohs, engine, network, args, environment)
                rates.setdefault(f"mohs fit ({engine})", []).append(seconds)
            command = [python, Path(__file__).resolve(), "--serve", "--networks", network]
            command += ["--pictures", str(args.pictures), "--batch", str(args.batch)]
            command += ["--threads", str(args.threads)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rates.setdefault("PyTorch", []).append(json.loads(done.stdout))
        best = {
            name: [args.pictures / min(seconds[1:]) for seconds in rounds]
            for name, rounds in rates.items()
        }
        print("| contender | pictures per second | least–most | of PyTorch's speed |")
        print("|---|---:|---:|---:|")
        for name, found in best.items():
            share = statistics.median(a / b for a, b in zip(found, best["PyTorch"]))
            median = statistics.median(found)
            print(f"| {name} | {median:.0f} | {min(found):.0f}–{max(found):.0f} | {share:.2f} |")
        print(flush=True)


if __name__ == "__main__":
    main()
