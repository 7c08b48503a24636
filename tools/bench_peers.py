#!/usr/bin/env python3
"""Races `mohs` against PyTorch and Python's onnxruntime on ResNet-50 and ViT-B/16.

    python3 tools/bench_peers.py [--quick] [--models resnet50 vit_b_16] [--batches 1 8]
                                 [--what forward input-gradient weight-gradient training-step eval]
                                 [--rounds 7] [--threads 2] [--engines auto] [--mohs PATH]

Each contender lives in a process of its own, with its model loaded, and does one timed round when
told: all contenders in turn, then all again, so that a busy machine is busy for everybody. Times
are medians; a ratio is the median of the ratios within rounds. Peak memory is that of the whole
process (VmHWM), libraries included; the baseline is the same process with its libraries loaded
and no model: 0.8 GB for a PyTorch built for CUDA. All have the same number of threads.

PyTorch runs torchvision's model in evaluation mode, as it is (NCHW) and in channels_last. Forward
runs without autograd. The input gradient is that of the summed cross-entropy, with weights that
need none; the weight gradient is that of the mean, for all parameters, with frozen BatchNorm and
no gradient of the input. A training step is the same to PyTorch; to mohs the weights then are inputs,
which change between runs, and no longer constants that the engine can prepare. onnxruntime runs forward only, from the file that mohs runs. In that file
the exporter has folded BatchNorm into Conv, so mohs has fewer weights to differentiate there.

`eval` is another race, of whole evaluations on photographs: see tools/bench_eval.py.

Needs cargo, or a built program by --mohs. If torch, torchvision and onnxruntime cannot be imported,
makes a virtual environment with the versions of tools/requirements-networks.txt in the cache
folder of the user; the networks are made there too. It judges times and memory, not numbers: the
tests of mohs-vision compare those.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ["resnet50", "vit_b_16"]
KINDS = ["forward", "input-gradient", "weight-gradient", "training-step"]
NEEDED = ["numpy", "onnxruntime", "torch", "torchvision"]
PEERS = ["PyTorch", "PyTorch channels_last", "onnxruntime"]
# Threads of one contender may spin for a moment after its round; the next should not feel it.
REST_SECONDS = 0.3
# How much faster than PyTorch we want to be: model, kind, batch, ratio, against which layout.
GOALS = [
    ("resnet50", "forward", 1, 1.4, ["PyTorch"]),
    ("resnet50", "forward", 8, 1.4, ["PyTorch"]),
    ("resnet50", "input-gradient", 1, 1.2, ["PyTorch", "PyTorch channels_last"]),
    ("resnet50", "input-gradient", 8, 1.0, ["PyTorch", "PyTorch channels_last"]),
    ("resnet50", "weight-gradient", 1, 0.95, ["PyTorch", "PyTorch channels_last"]),
    ("resnet50", "weight-gradient", 8, 0.95, ["PyTorch", "PyTorch channels_last"]),
    ("resnet50", "training-step", 1, 0.95, ["PyTorch", "PyTorch channels_last"]),
    ("resnet50", "training-step", 8, 0.95, ["PyTorch", "PyTorch channels_last"]),
    ("vit_b_16", "input-gradient", 1, 1.2, ["PyTorch", "PyTorch channels_last"]),
    ("vit_b_16", "input-gradient", 8, 1.0, ["PyTorch", "PyTorch channels_last"]),
    ("vit_b_16", "weight-gradient", 1, 0.95, ["PyTorch", "PyTorch channels_last"]),
    ("vit_b_16", "weight-gradient", 8, 0.95, ["PyTorch", "PyTorch channels_last"]),
]


def peak_bytes():
    """The most memory this process has held."""
    try:
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def torch_round(model_name, batch, kind, threads, is_channels_last):
    """Returns a function that does one round in PyTorch, and what to tell when ready."""
    import torch
    import torchvision

    torch.set_num_threads(threads)
    baseline = peak_bytes()
    torch.manual_seed(1)
    start = time.perf_counter()
    model = getattr(torchvision.models, model_name)().eval()
    if model_name.startswith("vit"):
        # torchvision starts the head at zero, which makes every gradient zero.
        torch.nn.init.trunc_normal_(model.heads.head.weight, std=0.05)
    images = torch.randn(batch, 3, 224, 224)
    if is_channels_last:
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.arange(batch) % 1000
    loss = torch.nn.functional.cross_entropy
    model.requires_grad_(kind in ["weight-gradient", "training-step"])
    images.requires_grad_(kind == "input-gradient")
    parameters = list(model.parameters())

    def once():
        if kind == "forward":
            with torch.inference_mode():
                return model(images)
        if kind == "input-gradient":
            return torch.autograd.grad(loss(model(images), labels, reduction="sum"), images)
        return torch.autograd.grad(loss(model(images), labels), parameters)

    told = {"engine": "torch", "engine_version": torch.__version__, "baseline_bytes": baseline}
    return once, {**told, "load_seconds": time.perf_counter() - start}


def onnxruntime_round(path, batch, kind, threads):
    """Returns a function that does one round in onnxruntime, and what to tell when ready."""
    import numpy as np
    import onnxruntime

    if kind != "forward":
        sys.exit("Python's onnxruntime runs forward only")
    baseline = peak_bytes()
    start = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    images = np.random.default_rng(1).normal(size=(batch, 3, 224, 224)).astype(np.float32)
    name = session.get_inputs()[0].name
    told = {"engine": "onnxruntime", "engine_version": onnxruntime.__version__}
    told |= {"baseline_bytes": baseline, "load_seconds": time.perf_counter() - start}
    return lambda: session.run(None, {name: images}), told


def serve(args):
    """Does one round for each line that comes in, until there are no more."""
    model = args.models[0]
    common = (args.batches[0], args.what[0], args.threads)
    if args.serve == "onnxruntime":
        once, told = onnxruntime_round(str(args.networks / f"{model}.onnx"), *common)
    else:
        once, told = torch_round(model, *common, args.serve.endswith("channels_last"))
    print(json.dumps({"ready": True, **told}), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        once()
        milliseconds = (time.perf_counter() - start) * 1e3
        told = {"milliseconds": milliseconds, "peak_memory_bytes": peak_bytes()}
        print(json.dumps(told), flush=True)


class Contender:
    """A process that does one round when told. `failed` says why it cannot."""

    def __init__(self, name, command, environment):
        self.name, self.milliseconds, self.peak, self.failed = name, [], 0, None
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env=environment,
        )
        self.ready = self.answer()

    def answer(self):
        """Returns the next line of JSON; engines may say other things before it."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        status = self.process.wait()
        self.said.seek(0)
        words = [line.strip() for line in self.said if line.strip()]
        self.failed = f"ended with {status}: {(words or ['no message'])[-1][:160]}"
        return {}

    def round(self, is_counted):
        try:
            self.process.stdin.write("once\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        found = self.answer()
        if self.failed is None:
            self.peak = max(self.peak, found["peak_memory_bytes"])
            if is_counted:
                self.milliseconds.append(found["milliseconds"])

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        self.said.close()


def race(commands, n_rounds, environment):
    """Starts all contenders, lets each do a round in turn, again and again."""
    contenders = [Contender(name, command, environment) for name, command in commands]
    for turn in range(n_rounds + 1):
        for contender in contenders:
            if contender.failed is None:
                time.sleep(REST_SECONDS)
                # The first round warms up: memory is claimed, kernels are chosen.
                contender.round(is_counted=turn != 0)
    for contender in contenders:
        contender.end()
    return contenders


def ratio(peer, ours):
    return statistics.median(a / b for a, b in zip(peer.milliseconds, ours.milliseconds))


def megabytes(n_bytes):
    return f"{n_bytes / 1e6:,.0f}" if n_bytes else "–"


def print_race(contenders, batch):
    first = contenders[0]
    print("| contender | ms per image | least–most | mohs is faster by | peak MB | baseline MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for one in contenders:
        if one.failed:
            print(f"| {one.name} | {one.failed} | | | | |")
            continue
        times = [each / batch for each in one.milliseconds]
        faster = "–" if first.failed else f"{ratio(one, first):.2f}"
        print(
            f"| {one.name} | {statistics.median(times):.1f} | {min(times):.1f}–{max(times):.1f} "
            f"| {faster} | {megabytes(one.peak)} | {megabytes(one.ready.get('baseline_bytes'))} |"
        )
    for one in contenders:
        if "derive_seconds" in one.ready:
            derive, load = one.ready["derive_seconds"], one.ready["load_seconds"]
            engine = f"{one.ready.get('engine')} {one.ready.get('engine_version')}"
            both = f"derive {derive:.2f} s + load {load:.2f} s = {derive + load:.2f} s"
            print(f"\n{one.name} on {engine}: {both}")
    print(flush=True)


def print_goals(races):
    """Sets the ratios beside what we want; the peer with the least ratio counts."""
    rows = []
    for model, kind, batch, wanted, layouts in GOALS:
        contenders = races.get((model, kind, batch), [])
        ours = next(iter(contenders), None)
        peers = [one for one in contenders if one.name in layouts and not one.failed]
        if ours is None or ours.failed or not peers:
            continue
        nearest = min(peers, key=lambda peer: ratio(peer, ours))
        found = ratio(nearest, ours)
        state = "met" if wanted <= found else "missed"
        least = min(peer.peak for peer in peers)
        rows.append(
            f"| {model} | {kind} | {batch} | {nearest.name} | {found:.2f} | {wanted} | {state} "
            f"| {megabytes(ours.peak)} / {megabytes(least)} |"
        )
    if rows:
        names = ["model", "what", "batch", "nearest peer", "mohs is faster by", "wanted", "state"]
        print("## Goals\n\n| " + " | ".join([*names, "our peak MB / least of PyTorch's"]) + " |")
        print("|---|---|---:|---|---:|---:|---|---:|")
        print("\n".join(rows))


def python_with_tools(folder):
    """Returns a Python that has the peers: this one, or one made for it."""
    code = f"import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {NEEDED})))"
    if subprocess.run([sys.executable, "-c", code]).returncode == 0:
        return Path(sys.executable)
    python = folder / "venv-networks" / "bin" / "python"
    if not python.exists():
        print(f"making {python.parent.parent} for torch; this takes a while", flush=True)
        venv.create(folder / "venv-networks", with_pip=True)
        wanted = ROOT / "tools" / "requirements-networks.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
    return python


def onnxruntime_library(python):
    """Returns the library inside Python's onnxruntime package, so that all race with the same."""
    code = "import importlib.util as u; print(u.find_spec('onnxruntime').origin)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    inside = Path(done.stdout.strip()).parent / "capi"
    found = [*inside.glob("libonnxruntime.so*"), *inside.glob("libonnxruntime*.dylib")]
    if not found:
        sys.exit(f"no libonnxruntime in {inside}; set ORT_DYLIB_PATH")
    return sorted(found)[-1]


def built_mohs():
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "mohs"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR")
    if target is None:
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        target = json.loads(done.stdout)["target_directory"]
    return ROOT / target / "release" / "mohs"


def commands_of(args, python, mohs, model, batch, kind):
    """Returns the contenders of one race, ours first."""
    path = args.networks / f"{model}.onnx"
    commands = []
    for engine in args.engines:
        name = "mohs" if engine == "auto" else f"mohs ({engine})"
        command = [mohs, "network", "bench", path, "--batch", batch, "--what", kind]
        command += ["--engine", engine, "--threads", args.threads, "--rounds-from-stdin"]
        commands.append((name, command))
    for peer in PEERS:
        if peer == "onnxruntime" and kind != "forward":
            continue
        command = [python, Path(__file__).resolve(), "--serve", peer, "--networks", args.networks]
        command += ["--models", model, "--batches", batch, "--what", kind, "--threads", args.threads]
        commands.append((peer, command))
    return commands


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8])
    what = [*KINDS, "eval"]
    parser.add_argument("--what", nargs="+", default=what, choices=what)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--threads", type=int, default=2)
    engines = "engines of mohs; peers are compared with the first"
    parser.add_argument("--engines", nargs="+", default=["auto"], help=engines)
    parser.add_argument("--mohs", type=Path, help="a built mohs; without it, cargo builds one")
    parser.add_argument("--folder", type=Path, default=cache / "mohs" / "bench-peers")
    parser.add_argument("--networks", type=Path, help="where resnet50.onnx and vit_b_16.onnx are")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    args.networks = args.networks or args.folder / "networks"
    python = python_with_tools(args.folder)
    does_eval = "eval" in args.what
    args.what = [kind for kind in args.what if kind != "eval"]
    if args.what and not all((args.networks / f"{model}.onnx").exists() for model in args.models):
        print(f"making networks in {args.networks}", flush=True)
        script = ROOT / "tools" / "make_network_fixtures.py"
        subprocess.run([python, script, "--large", args.networks], check=True)
    mohs = args.mohs.resolve() if args.mohs else built_mohs()
    if not mohs.is_file():
        sys.exit(f"{mohs} is not a program")
    environment = dict(os.environ)
    environment.setdefault("ORT_DYLIB_PATH", str(onnxruntime_library(python)))
    n_rounds = 3 if args.quick else args.rounds
    print(f"{n_rounds} rounds, {args.threads} threads, {os.cpu_count()} cores\n")
    races = {}
    for model in args.models:
        for batch in args.batches:
            for kind in args.what:
                # Only what others do is in the load of the first race; later ones have ours too.
                load = os.getloadavg()[0]
                print(f"## {model}, batch {batch}: {kind} (load before: {load:.1f})\n", flush=True)
                commands = commands_of(args, python, mohs, model, batch, kind)
                races[model, kind, batch] = race(commands, n_rounds, environment)
                print_race(races[model, kind, batch], batch)
    print_goals(races)
    is_fine = not any(one.failed for contenders in races.values() for one in contenders)
    if does_eval:
        script = ROOT / "tools" / "bench_eval.py"
        command = [sys.executable, script, "--mohs", mohs, "--folder", args.folder]
        command += ["--threads", args.threads, *(["--quick"] if args.quick else [])]
        done = subprocess.run([str(part) for part in command], env=environment)
        is_fine = is_fine and done.returncode == 0
    if not is_fine:
        sys.exit("a contender failed; see above")


if __name__ == "__main__":
    main()
