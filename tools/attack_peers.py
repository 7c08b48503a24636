"""What the tools about attacks share: both versions of torchattacks in one process, ONNX files as
torch modules, pictures, the grid of epsilons, the settings of the presets, and runs of `mohs attack`.

Not a program. See make_attack_fixtures.py, check_attacks.py and bench_attack.py. Where torchattacks
is not installed, importing this makes a Python that has it and starts the program anew with that.
"""

import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mohs" / "bench-peers"


def pip(python, *arguments):
    subprocess.run([python, "-m", "pip", "install", "-q", *arguments], check=True)


if importlib.util.find_spec("torchattacks") is None:
    own = FOLDER / "venv-attacks" / "bin" / "python"
    if own.resolve() == Path(sys.executable).resolve() and sys.prefix == str(own.parent.parent):
        sys.exit(f"{own.parent.parent} is broken; remove it")
    if not own.exists():
        print(f"making {own.parent.parent} for torchattacks; this takes a while", flush=True)
        venv.create(own.parent.parent, with_pip=True)
        pip(own, "-r", ROOT / "tools" / "requirements-attacks.txt")
        pip(own, "--no-deps", "torchattacks==3.5.1")
    os.execv(own, [str(own), *sys.argv])

import numpy as np
import onnx
import pandas
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper
from PIL import Image

# The networks that come with the program, by the names that the tools take.
NETWORKS = {"small": "plain", "residual": "residual", "transformer": "transformer"}
MODELS = ["resnet20", *NETWORKS]
# The fourteen attacks of the paper, by our names.
CLASSES = {
    "pgd": "PGD",
    "upgd": "UPGD",
    "apgd": "APGD",
    "tpgd": "TPGD",
    "eotpgd": "EOTPGD",
    "fgsm": "FGSM",
    "bim": "BIM",
    "rfgsm": "RFGSM",
    "ffgsm": "FFGSM",
    "mifgsm": "MIFGSM",
    "difgsm": "DIFGSM",
    "tifgsm": "TIFGSM",
    "square": "Square",
    "jitter": "Jitter",
}
DETERMINISTIC = ["fgsm", "bim", "upgd", "mifgsm"]
# Arguments of the constructors besides eps. `paper` is what the examples in the documentation of
# 3.2.6 say, which fits the published table; the other is what 3.5.1 does when nothing is said.
PRESETS = {
    "paper": {
        "pgd": dict(alpha=1 / 255, steps=40, random_start=True),
        "upgd": dict(alpha=1 / 255, steps=40, random_start=False, decay=1.0),
        "apgd": dict(steps=100),
        "tpgd": dict(alpha=2 / 255, steps=7),
        "eotpgd": dict(alpha=8 / 255, steps=40, eot_iter=10),
        "fgsm": dict(),
        "bim": dict(alpha=1 / 255, steps=0),
        "rfgsm": dict(alpha=8 / 255, steps=1),
        "ffgsm": dict(alpha=10 / 255),
        "mifgsm": dict(alpha=2 / 255, steps=5, decay=1.0),
        "difgsm": dict(alpha=2 / 255, steps=20, decay=0.0, resize_rate=0.9, diversity_prob=0.5),
        "tifgsm": dict(alpha=2 / 255, steps=20, decay=1.0, resize_rate=0.9, diversity_prob=0.7),
        "square": dict(n_queries=5000),
        "jitter": dict(alpha=2 / 255, steps=40, scale=10, std=0.1, random_start=True),
    },
    "torchattacks-3.5.1": {
        "pgd": dict(alpha=2 / 255, steps=10, random_start=True),
        "upgd": dict(alpha=2 / 255, steps=10, random_start=False, decay=1.0),
        "apgd": dict(steps=10),
        "tpgd": dict(alpha=2 / 255, steps=10),
        "eotpgd": dict(alpha=2 / 255, steps=10, eot_iter=2),
        "fgsm": dict(),
        "bim": dict(alpha=2 / 255, steps=10),
        "rfgsm": dict(alpha=2 / 255, steps=10),
        "ffgsm": dict(alpha=10 / 255),
        "mifgsm": dict(alpha=2 / 255, steps=10, decay=1.0),
        "difgsm": dict(alpha=2 / 255, steps=10, decay=0.0, resize_rate=0.9, diversity_prob=0.5),
        "tifgsm": dict(alpha=2 / 255, steps=10, decay=0.0, resize_rate=0.9, diversity_prob=0.5),
        "square": dict(n_queries=5000),
        "jitter": dict(alpha=2 / 255, steps=10, scale=10, std=0.1, random_start=True),
    },
}


def grid():
    """The 140 epsilons of the paper."""
    return np.concatenate([np.arange(50) * 0.0001, 0.005 + np.arange(90) * 0.0005])


def import_version(version, old=None):
    """Returns torchattacks 3.5.1 or 3.2.6; the latter from `old`, or from a folder made for it."""
    if version == "3.5.1":
        return import_torchattacks()
    old = old or FOLDER / "torchattacks-3.2.6"
    if not old.exists():
        pip(sys.executable, "--no-deps", "--target", old, "torchattacks==3.2.6")
    return import_torchattacks(old)


def import_torchattacks(folder=None):
    """Returns a fresh import of torchattacks, from a folder or from the environment.

    Classes imported before stay what they are, so that two versions can be used side by side.
    """
    for name in [name for name in sys.modules if name.split(".")[0] == "torchattacks"]:
        del sys.modules[name]
    if folder is None:
        return importlib.import_module("torchattacks")
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        module = importlib.import_module("torchattacks")
    finally:
        sys.path.remove(str(folder))
    if Path(folder).resolve() not in Path(module.__file__).resolve().parents:
        sys.exit(f"{folder} holds no torchattacks")
    return module


# ONNX files as torch modules


class OnnxNetwork(torch.nn.Module):
    """Runs the nodes of an ONNX file one after the other, for any batch, with gradients.

    Takes pixels from 0 to 1 and normalises them itself, as torchattacks wants it.
    """

    def __init__(self, path, mean, sd):
        super().__init__()
        model = onnx.load(path)
        self.nodes = list(model.graph.node)
        self.settings = [
            {a.name: helper.get_attribute_value(a) for a in node.attribute} for node in self.nodes
        ]
        self.input, self.output = model.graph.input[0].name, model.graph.output[0].name
        self.constants, self.names = {}, {}
        for idx, tensor in enumerate(model.graph.initializer):
            value = torch.from_numpy(numpy_helper.to_array(tensor).copy())
            if value.is_floating_point():
                self.names[tensor.name] = f"weight{idx}"
                self.register_parameter(f"weight{idx}", torch.nn.Parameter(value, requires_grad=False))
            else:
                self.constants[tensor.name] = value
        for node, settings in zip(self.nodes, self.settings):
            if node.op_type == "Constant":
                value = torch.from_numpy(numpy_helper.to_array(settings["value"]).copy())
                self.constants[node.output[0]] = value
        self.register_buffer("mean", torch.tensor(mean).reshape(1, 3, 1, 1))
        self.register_buffer("sd", torch.tensor(sd).reshape(1, 3, 1, 1))
        self.eval()

    def forward(self, pictures):
        values = dict(self.constants)
        values.update((name, getattr(self, own)) for name, own in self.names.items())
        values[self.input] = (pictures - self.mean) / self.sd
        for node, settings in zip(self.nodes, self.settings):
            if node.op_type != "Constant":
                inputs = [values[name] if name else None for name in node.input]
                values[node.output[0]] = OPERATORS[node.op_type](settings, *inputs)
        return values[self.output]


def window(settings, x):
    """Pads as asked and returns the picture and the other arguments of a pooling."""
    if settings.get("auto_pad", b"NOTSET") not in [b"NOTSET", b"VALID"]:
        sys.exit("auto_pad is not read")
    top, left, bottom, right = settings.get("pads", [0] * 4)
    return (left, right, top, bottom), settings["kernel_shape"], settings.get("strides", [1, 1])


def conv(settings, x, weight, bias=None):
    top, left, bottom, right = settings.get("pads", [0] * 4)
    if (top, left) != (bottom, right):
        x, top, left = F.pad(x, (left, right, top, bottom)), 0, 0
    more = dict(dilation=settings.get("dilations", [1, 1]), groups=settings.get("group", 1))
    return F.conv2d(x, weight, bias, settings.get("strides", [1, 1]), (top, left), **more)


def max_pool(settings, x):
    pads, shape, strides = window(settings, x)
    if any(pads):
        x = F.pad(x, pads, value=-torch.inf)
    return F.max_pool2d(x, shape, strides, ceil_mode=bool(settings.get("ceil_mode", 0)))


def average_pool(settings, x):
    pads, shape, strides = window(settings, x)
    left, right, top, bottom = pads
    if (left, top) != (right, bottom):
        sys.exit("uneven padding of AveragePool is not read")
    counted = bool(settings.get("count_include_pad", 0))
    return F.avg_pool2d(x, shape, strides, (top, left), bool(settings.get("ceil_mode", 0)), counted)


def gemm(settings, a, b, c=None):
    a = a.T if settings.get("transA", 0) else a
    b = b.T if settings.get("transB", 0) else b
    product = settings.get("alpha", 1.0) * (a @ b)
    return product if c is None else product + settings.get("beta", 1.0) * c


def batch_norm(settings, x, scale, bias, mean, variance):
    return F.batch_norm(x, mean, variance, scale, bias, eps=settings.get("epsilon", 1e-5))


def layer_norm(settings, x, scale, bias=None):
    axis = settings.get("axis", -1) % x.dim()
    return F.layer_norm(x, x.shape[axis:], scale, bias, eps=settings.get("epsilon", 1e-5))


def reshape(settings, x, shape):
    # Files made for a batch of one say so here.
    sizes = [x.shape[idx] if n == 0 else n for idx, n in enumerate(shape.tolist())]
    return x.reshape(len(x), *sizes[1:])


def reduce_mean(settings, x, axes=None):
    axes = settings.get("axes") if axes is None else axes.tolist()
    return x.mean(dim=tuple(axes), keepdim=bool(settings.get("keepdims", 1)))


def take_slice(settings, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    steps = [1] * len(starts) if steps is None else steps.tolist()
    places = [slice(None)] * x.dim()
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps):
        places[axis] = slice(start, end, step)
    return x[tuple(places)]


def pad(settings, x, pads, value=None):
    before, after = pads.tolist()[: x.dim()], pads.tolist()[x.dim() :]
    flat = [n for pair in reversed(list(zip(before, after))) for n in pair]
    return F.pad(x, flat, value=0.0 if value is None else value.item())


OPERATORS = {
    "Add": lambda settings, a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "Erf": lambda settings, x: torch.erf(x),
    "Flatten": lambda settings, x: x.flatten(settings.get("axis", 1)),
    "Gemm": gemm,
    "GlobalAveragePool": lambda settings, x: x.mean(dim=(2, 3), keepdim=True),
    "Identity": lambda settings, x: x,
    "LayerNormalization": layer_norm,
    "MatMul": lambda settings, a, b: a @ b,
    "MaxPool": max_pool,
    "Mul": lambda settings, a, b: a * b,
    "Pad": pad,
    "ReduceMean": reduce_mean,
    "Relu": lambda settings, x: F.relu(x),
    "Reshape": reshape,
    "Sigmoid": lambda settings, x: torch.sigmoid(x),
    "Slice": take_slice,
    "Softmax": lambda settings, x: F.softmax(x, dim=settings.get("axis", -1)),
    "Softplus": lambda settings, x: F.softplus(x),
    "Sub": lambda settings, a, b: a - b,
    "Tanh": lambda settings, x: torch.tanh(x),
    "Transpose": lambda settings, x: x.permute(settings["perm"]),
}


class Target:
    """A network to attack, as a file and as a torch module, and pictures for it.

    `pictures` and `labels` are tensors; `stimuli` is a table for mohs with the same rows.
    """

    def __init__(self, name, n_images, folder, mohs):
        self.name = name
        if name == "resnet20":
            self.path = DATA / "onnx" / "cifar10_resnet20.onnx"
            if not self.path.exists():
                sys.exit(f"{self.path} is not there; --model small needs no data")
            self.mean, self.sd = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
            counts = pandas.read_csv(DATA / "cifar10h" / "human_counts.csv", nrows=0)
            self.classes = list(counts.columns[1:])
            table = pandas.read_csv(DATA / "cifar10h" / "stimuli.csv", dtype=str)[:n_images]
            files = [DATA / "cifar10h" / file for file in table["file"]]
        else:
            self.path = ROOT / "crates" / "mohs-vision" / "networks" / f"{NETWORKS[name]}.onnx"
            told = {p.key: p.value for p in onnx.load(self.path).metadata_props}
            self.mean, self.sd = json.loads(told["mohs.mean"]), json.loads(told["mohs.sd"])
            self.classes = json.loads(told["mohs.classes"])
            table, files = world(n_images, folder, mohs)
        if len(files) < n_images:
            sys.exit(f"there are {len(files)} pictures only")
        self.network = OnnxNetwork(self.path, self.mean, self.sd)
        levels = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
        self.pictures = torch.from_numpy(levels).permute(0, 3, 1, 2).float().div(255).contiguous()
        self.labels = torch.tensor([self.classes.index(label) for label in table["label"]])
        self.ids = list(table["stimulus"])
        self.check()
        with torch.no_grad():
            answers = [self.network(chunk).argmax(dim=1) for chunk in self.pictures.split(64)]
        self.right = torch.cat(answers) == self.labels

        self.stimuli, self.class_file = folder / f"{name}.csv", folder / f"{name}-classes.txt"
        table = table[["stimulus", "label"]].copy()
        table["file"] = [os.path.relpath(file, folder) for file in files]
        table.to_csv(self.stimuli, index=False)
        self.class_file.write_text("\n".join(self.classes) + "\n")

    def check(self):
        """Holds the module against onnxruntime."""
        import onnxruntime

        session = onnxruntime.InferenceSession(self.path)
        mean, sd = np.float32(self.mean)[:, None, None], np.float32(self.sd)[:, None, None]
        largest = 0.0
        for picture in self.pictures[:16]:
            prepared = ((picture.numpy() - mean) / sd)[None].astype(np.float32)
            (expected,) = session.run(None, {self.network.input: prepared})
            with torch.no_grad():
                answer = self.network(picture[None]).numpy()
            largest = max(largest, float(np.abs(answer - expected).max()))
        if not largest < 1e-4:
            sys.exit(f"{self.path}: logits of torch and of onnxruntime differ by {largest}")


def world(n_images, folder, mohs):
    """Draws pictures of the built-in world and shrinks them to what the small networks see."""
    drawn = folder / f"world-{n_images}"
    if not (drawn / "stimuli.csv").exists():
        command = [mohs, "init", "flash", drawn, "--world", str(n_images), "--size", "128", "--quiet"]
        subprocess.run(command, check=True)
    table = pandas.read_csv(drawn / "stimuli.csv", dtype=str)[:n_images]
    files = []
    for stimulus, file in zip(table["stimulus"], table["file"]):
        files.append(drawn / "shrunk" / f"{stimulus}.png")
        files[-1].parent.mkdir(exist_ok=True)
        if not files[-1].exists():
            Image.open(drawn / file).convert("RGB").resize((48, 48), Image.BILINEAR).save(files[-1])
    return table, files


# Runs


def smallest(module, attack, arguments, target, chosen, **options):
    """Returns, per chosen image, the place of the first epsilon that fools, or the grid's length.

    `drop` leaves out images once they are fooled. `noise` says where random numbers come from:
    `as-is` is what torchattacks does by itself (the global generator goes on from epsilon to
    epsilon, but APGD and Square set it anew at every call, to 0 if `seed` is 1), `fresh` gives every
    epsilon its own, `common` gives all epsilons of a batch the same, for which batches are kept
    whole. Also returns how often a picture had numbers that are none; those fool nobody here.
    """
    values = options.get("grid", grid())
    noise, drop = options.get("noise", "as-is"), options.get("drop", True)
    seed, batch = options.get("seed", 1), options.get("batch", 64)
    found = torch.full((len(chosen),), len(values))
    n_not_numbers = 0
    torch.manual_seed(seed)
    for first in range(0, len(chosen), batch):
        part = chosen[first : first + batch]
        pictures, labels = target.pictures[part], target.labels[part]
        at = torch.full((len(part),), len(values))
        for place, epsilon in enumerate(values):
            alive = (at == len(values)).nonzero().flatten()
            if drop and len(alive) == 0:
                break
            asked = alive if drop and noise != "common" else torch.arange(len(part))
            more, own = dict(arguments), seed - 1
            if noise != "as-is":
                own = seed * 1_000_003 + first * 1009 + (place if noise == "fresh" else 0)
                torch.manual_seed(own)
            if attack in ["apgd", "square"]:
                more["seed"] = own
            made = getattr(module, CLASSES[attack])(target.network, eps=float(epsilon), **more)
            changed = made(pictures[asked], labels[asked]).detach()
            with torch.no_grad():
                answers = target.network(changed).argmax(dim=1)
            numbers = changed.isfinite().flatten(1).all(dim=1)
            n_not_numbers += int((~numbers).sum())
            fooled = (answers != labels[asked]) & numbers
            newly = asked[fooled & (at[asked] == len(values))]
            at[newly] = place
        found[first : first + len(part)] = at
    return found.numpy(), n_not_numbers


def built_mohs():
    import bench_peers

    return bench_peers.built_mohs()


def arguments_of(preset, attack, square_queries):
    arguments = dict(PRESETS[preset][attack])
    if attack == "square":
        arguments["n_queries"] = square_queries
    return arguments


def run_mohs(mohs, target, attacks, folder, **options):
    """Runs `mohs attack`; returns its table, what --trace wrote or None, and seconds.

    What mohs says of calls, its own and those of a sweep, is the table `account` among the attributes.
    """
    mode, seed = options.get("mode", "exact"), options.get("seed", 1)
    output, trace = folder / f"{mode}.csv", folder / f"{mode}-trace.csv"
    numbers = lambda values: "[" + ", ".join(map(str, values)) + "]"
    preprocess = f'{{ mean = {numbers(target.mean)}, sd = {numbers(target.sd)}, resize = "none" }}'
    command = [mohs, "attack", target.path, "--stimuli", target.stimuli, "--attacks"]
    grid_words = ",".join(map(repr, map(float, options["grid"]))) if "grid" in options else "paper"
    command += [",".join(attacks), "--preset", options["preset"], "--grid", grid_words]
    command += ["--mode", mode, "--seed", str(seed), "--preprocess", preprocess]
    command += ["--classes", target.class_file, "--output", output, "--no-cache"]
    command += ["--format", "csv"]
    if mode == "fast":
        command += ["--audit", str(options.get("audit", 0))]
    if "square" in attacks:
        command += ["--set", f"square.n_queries={options['square_queries']}"]
    if mode == "sweep":
        command += ["--trace", trace]
    command += options.get("more", [])
    for path in [output, trace]:
        path.unlink(missing_ok=True)
    environment = dict(os.environ)
    if "ORT_DYLIB_PATH" not in environment:
        import bench_peers

        environment["ORT_DYLIB_PATH"] = str(bench_peers.onnxruntime_library(sys.executable))
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0 or not output.exists():
        words = " ".join(map(str, command))
        sys.exit(f"{words}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    texts = dict(stimulus=str, attack=str, outcome=str, clean=str, label=str)
    table = pandas.read_csv(output, dtype=texts, keep_default_na=False, na_values={"epsilon": [""]})
    table["epsilon"] = pandas.to_numeric(table["epsilon"])
    table.attrs["account"] = pandas.read_csv(io.StringIO(done.stdout))
    told = pandas.read_csv(trace, dtype=texts) if mode == "sweep" else None
    return table, told, seconds


def places(table, attack, ids, values=None):
    """Returns the place in the grid, or in `values`, of each stimulus, its length where none suffices,
    -1 where the model is wrong from the start."""
    rows = table[table["attack"] == attack].set_index("stimulus")
    if not rows.index.is_unique or set(rows.index) != set(ids):
        sys.exit(f"mohs: rows of {attack} are not one for each stimulus")
    values, result = grid() if values is None else values, []
    for stimulus in ids:
        row = rows.loc[stimulus]
        if row["outcome"] == "found":
            place = int(np.abs(values - row["epsilon"]).argmin())
            if 1e-9 < abs(values[place] - row["epsilon"]):
                sys.exit(f"mohs: {row['epsilon']} of {stimulus} is not in the grid")
            result.append(place)
        elif row["outcome"] == "survived":
            result.append(len(values))
        elif row["outcome"] == "not-attacked":
            result.append(-1)
        else:
            sys.exit(f"mohs: {stimulus}, {attack}: {row['outcome']} {row.get('reason', '')}")
    return np.array(result)
