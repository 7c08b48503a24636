#!/usr/bin/env python3
"""Races `mohs eval` against a PyTorch DataLoader script on JPEG photographs, end to end.

    python3 tools/bench_eval.py [--models resnet50 resnet18] [--photographs 1000] [--rounds 3]
                                [--threads 2] [--batch 32] [--quick] [--mohs PATH]

`python3 tools/bench_peers.py --what eval` runs it too. A round is one process from its start to its
end: read and decode every photograph, resize (shorter side 256, bilinear), crop 224, normalise, run
the model, take softmax and the first five classes, write a CSV file. All contenders do one round in
turn, then all again, so that a busy machine is busy for everybody; mohs keeps no answers between
rounds. All have the same number of threads for the model; the loader has 0 or 2 processes of its
own beside.

Three ratios are printed, of medians within rounds: of the whole processes; of PyTorch without its
imports and the loading of the model against all of mohs, which is unfair to us; and of peak memory.
Memory is the sum of PSS over the process and its children, looked at ten times a second, so that
pages which loader processes share count once. Libraries are in it: a PyTorch built for CUDA brings
its own.

The photographs are cut from those of the pets data set, if it lies beside the project, and from
pictures of installed packages: 500 by 375 pixels, upright or not, quality 90, as most of ImageNet.
Weights are random and the same for all; the share of photographs with the same first class is
printed, and the race fails below 99 %.
"""

import argparse
import csv
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ["resnet50", "resnet18"]
REST_SECONDS = 1.0
# How much faster, and how much smaller, than the best of the peers we want to be.
WANTED_SPEED, WANTED_MEMORY = 1.5, 2.0
PEERS = {
    "PyTorch, 0 loaders": (0, False),
    "PyTorch, 2 loaders": (2, False),
    "PyTorch, 2 loaders, channels_last": (2, True),
}


def sources():
    """Returns pictures large enough to cut photographs from, real photographs first."""
    from PIL import Image

    pets = ROOT.parent / "shared" / "data" / "pets"
    found = sorted(path for path in pets.rglob("*.jpg"))
    for folder in {Path(path) for path in sys.path if path.endswith("site-packages")}:
        for ending in ["*.jpg", "*.jpeg", "*.png"]:
            found += sorted(folder.rglob(ending))
    usable = []
    for path in found:
        try:
            with Image.open(path) as picture:
                if 240 <= min(picture.size) and picture.mode in ["RGB", "L", "RGBA"]:
                    usable.append(path)
        except OSError:
            continue
    if not usable:
        sys.exit("no photographs: neither ../shared/data/pets nor pictures of installed packages")
    return usable


def make_photographs(folder, n):
    """Cuts photographs of about the size and quality of ImageNet's."""
    from PIL import Image

    done = folder / "stimuli.csv"
    if done.exists() and sum(1 for _ in done.open()) == n + 1:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    draw, usable = random.Random(1), sources()
    rows = []
    for idx in range(n):
        size = (500, 375) if draw.random() < 0.75 else (375, 500)
        with Image.open(usable[idx % len(usable)]) as opened:
            picture = opened.convert("RGB")
        share = draw.uniform(0.7, 1.0)
        ratio = min(picture.width / size[0], picture.height / size[1]) * share
        width, height = int(size[0] * ratio), int(size[1] * ratio)
        left = draw.randint(0, picture.width - width)
        top = draw.randint(0, picture.height - height)
        box = (left, top, left + width, top + height)
        cut = picture.resize(size, Image.Resampling.BICUBIC, box=box)
        name = f"{idx:05}.jpg"
        cut.save(folder / name, quality=90)
        rows.append((f"{idx:05}", name, "0"))
    with done.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["stimulus", "file", "label"])
        writer.writerows(rows)


def make_model(folder, name):
    """Writes a network with random weights twice: for PyTorch, and as ONNX."""
    import torch
    import torchvision

    if (folder / f"{name}.onnx").exists() and (folder / f"{name}.pt").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    model = getattr(torchvision.models, name)()
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                torch.nn.init.normal_(module.weight, 0.7, 0.2)
                torch.nn.init.normal_(module.bias, 0.0, 0.2)
        # A head that tells pictures apart, so that first classes can be compared.
        torch.nn.init.normal_(model.fc.weight, 0.0, 1.0)
    model.eval()
    torch.save(model.state_dict(), folder / f"{name}.pt")
    images = torch.randn(1, 3, 224, 224)
    names = {"input_names": ["images"], "output_names": ["logits"]}
    axes = {"images": {0: "batch"}, "logits": {0: "batch"}}
    target = str(folder / f"{name}.onnx")
    torch.onnx.export(model, (images,), target, dynamo=False, opset_version=17, dynamic_axes=axes, **names)


class Photographs:
    """What a DataLoader reads: the pictures of a table, prepared as torchvision does."""

    def __init__(self, folder):
        from torchvision import transforms

        with (folder / "stimuli.csv").open(newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.folder = folder
        self.prepare = transforms.Compose([
            transforms.Resize(256),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, idx):
        from PIL import Image

        with Image.open(self.folder / self.rows[idx]["file"]) as picture:
            return self.prepare(picture.convert("RGB")), idx


def serve(args):
    """Is a contender: one run over all photographs, as people write it."""
    import torch
    import torchvision

    n_loaders, is_channels_last = PEERS[args.serve]
    torch.set_num_threads(args.threads)
    model = getattr(torchvision.models, args.models[0])()
    model.load_state_dict(torch.load(args.networks / f"{args.models[0]}.pt"))
    model.eval()
    if is_channels_last:
        model = model.to(memory_format=torch.channels_last)
    start = time.perf_counter()
    data = Photographs(args.folder / "photographs")
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch, num_workers=n_loaders)
    with args.output.open("w", newline="") as file, torch.inference_mode():
        writer = csv.writer(file)
        writer.writerow(["stimulus", "predicted", "confidence", "top_k"])
        for images, places in loader:
            if is_channels_last:
                images = images.contiguous(memory_format=torch.channels_last)
            first = torch.topk(torch.softmax(model(images), dim=1), 5)
            for place, sure, classes in zip(places, first.values, first.indices):
                top = "|".join(f"{c}:{p:.6g}" for c, p in zip(classes.tolist(), sure.tolist()))
                row = [data.rows[place]["stimulus"], classes[0].item(), sure[0].item(), top]
                writer.writerow(row)
    print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def family(pid):
    """Returns a process and all that it started."""
    found = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = (task / "children").read_text().split()
            found += [each for child in children for each in family(int(child))]
    except OSError:
        pass
    return found


def proportional_bytes(pid):
    """Returns the memory of a process, what it shares with others divided among them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line[:4] == "Pss:")
    except (OSError, StopIteration):
        return 0


class Contender:
    """A command that does all of the work once, and what its rounds took."""

    def __init__(self, name, command, output):
        self.name, self.command, self.output = name, [str(part) for part in command], output
        self.seconds, self.inside, self.peaks = [], [], []
        self.failed = None

    def round(self, environment, is_counted):
        self.output.unlink(missing_ok=True)
        start = time.perf_counter()
        pipe = subprocess.PIPE
        process = subprocess.Popen(self.command, stdout=pipe, stderr=pipe, text=True, env=environment)
        peak = 0
        is_over = threading.Event()

        def watch():
            nonlocal peak
            while not is_over.wait(0.1):
                peak = max(peak, sum(map(proportional_bytes, family(process.pid))))

        watcher = threading.Thread(target=watch)
        watcher.start()
        told, complaints = process.communicate()
        seconds = time.perf_counter() - start
        is_over.set()
        watcher.join()
        if process.returncode != 0:
            self.failed = (complaints.strip() or told.strip() or "failed").splitlines()[-1]
            return
        if is_counted:
            inside = json.loads(told)["seconds"] if told.startswith('{"seconds"') else seconds
            self.seconds.append(seconds)
            self.inside.append(inside)
            self.peaks.append(peak)

    def answers(self):
        with self.output.open(newline="") as file:
            return {row["stimulus"]: row["predicted"] for row in csv.DictReader(file)}


def contenders_of(args, python, mohs, model):
    folder = args.folder / "eval" / model
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "eval.toml"
    manifest.write_text(f"""version = 1
name = "bench"
stimuli = {json.dumps(str(args.folder / "photographs" / "stimuli.csv"))}

[[model]]
name = {json.dumps(model)}
file = {json.dumps(str(args.networks / f"{model}.onnx"))}
preprocess = "torchvision"
""")
    output = folder / "mohs.csv"
    command = [mohs, "eval", manifest, "--no-cache", "--quiet", "--output", output]
    command += ["--threads", args.threads, "--batch", args.batch]
    contenders = [Contender("mohs eval", command, output)]
    for idx, peer in enumerate(PEERS):
        output = folder / f"peer-{idx}.csv"
        command = [python, Path(__file__).resolve(), "--serve", peer, "--networks", args.networks]
        command += ["--models", model, "--threads", args.threads, "--batch", args.batch]
        command += ["--folder", args.folder, "--output", output]
        contenders.append(Contender(peer, command, output))
    return contenders


def ratio(peer, ours):
    return statistics.median(theirs / own for theirs, own in zip(peer, ours))


def print_race(contenders, n):
    ours = contenders[0]
    names = ["contender", "s", "least–most", "mohs is faster by", "without start by"]
    print("| " + " | ".join([*names, "photographs per s", "peak MB", "mohs is smaller by"]) + " |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for one in contenders:
        if one.failed:
            print(f"| {one.name} | {one.failed} | | | | | | |")
            continue
        seconds, peak = statistics.median(one.seconds), statistics.median(one.peaks) / 1e6
        faster = smaller = inside = "–"
        if not ours.failed and one is not ours:
            faster, inside = f"{ratio(one.seconds, ours.seconds):.2f}", f"{ratio(one.inside, ours.seconds):.2f}"
            smaller = f"{ratio(one.peaks, ours.peaks):.2f}"
        print(
            f"| {one.name} | {seconds:.1f} | {min(one.seconds):.1f}–{max(one.seconds):.1f} | {faster} "
            f"| {inside} | {n / seconds:.1f} | {peak:,.0f} | {smaller} |"
        )
    print(flush=True)


def judge(contenders):
    """Prints whether goals are met; returns whether all could be judged and agree."""
    ours, peers = contenders[0], [one for one in contenders[1:] if not one.failed]
    if ours.failed or not peers:
        return False
    speed = min(ratio(peer.seconds, ours.seconds) for peer in peers)
    memory = min(ratio(peer.peaks, ours.peaks) for peer in peers)
    for what, found, wanted in [("speed", speed, WANTED_SPEED), ("memory", memory, WANTED_MEMORY)]:
        state = "met" if wanted <= found else "missed"
        print(f"{what}: {found:.2f} against the best peer, wanted {wanted}: {state}")
    own, theirs = ours.answers(), peers[0].answers()
    same = sum(own.get(stimulus) == first for stimulus, first in theirs.items()) / len(theirs)
    print(f"same first class: {same:.1%} of {len(theirs)}, {len(set(theirs.values()))} classes\n", flush=True)
    return 0.99 <= same and len(own) == len(theirs)


def run(args, python, mohs, environment, n_rounds):
    """Makes what is needed, races, and returns whether nothing failed."""
    is_fine = True
    for model in args.models:
        made = [python, Path(__file__).resolve(), "--make", "--folder", args.folder]
        made += ["--networks", args.networks, "--models", model, "--photographs", args.photographs]
        subprocess.run([str(part) for part in made], check=True)
        load = os.getloadavg()[0]
        print(f"## {model}: {args.photographs} photographs, batch {args.batch} (load before: {load:.1f})\n", flush=True)
        contenders = contenders_of(args, python, mohs, model)
        for turn in range(n_rounds + 1):
            for contender in contenders:
                if contender.failed is None:
                    time.sleep(REST_SECONDS)
                    # The first round warms the file cache.
                    contender.round(environment, is_counted=turn != 0)
        print_race(contenders, args.photographs)
        is_fine = judge(contenders) and is_fine
    return is_fine


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--photographs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="100 photographs, one round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--mohs", type=Path, help="a built mohs; without it, cargo builds one")
    parser.add_argument("--folder", type=Path, default=cache / "mohs" / "bench-peers")
    parser.add_argument("--networks", type=Path, help="where the networks are, or are made")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.networks = (args.networks or args.folder / "eval-networks").resolve()
    if args.serve:
        serve(args)
        return
    if args.make:
        make_photographs(args.folder / "photographs", args.photographs)
        make_model(args.networks, args.models[0])
        return
    import bench_peers

    if args.quick:
        args.photographs, args.rounds = 100, 1
    args.folder.mkdir(parents=True, exist_ok=True)
    python = bench_peers.python_with_tools(args.folder)
    mohs = args.mohs.resolve() if args.mohs else bench_peers.built_mohs()
    environment = dict(os.environ)
    environment.setdefault("ORT_DYLIB_PATH", str(bench_peers.onnxruntime_library(python)))
    if not run(args, python, mohs, environment, args.rounds):
        sys.exit("a contender failed, or answers differ; see above")


if __name__ == "__main__":
    main()
