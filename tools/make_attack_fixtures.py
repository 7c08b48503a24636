#!/usr/bin/env python3
"""Records what torchattacks does, step by step, for the tests of the attacks in mohs-vision.

    python3 tools/make_attack_fixtures.py [--old old-torchattacks] [--seed 8] [OUTPUT]

Needs tools/requirements-attacks.txt. Writes to crates/mohs-vision/tests/fixtures/attacks:

- network.onnx: a small network with fixed random weights, pixels from 0 to 1 in, five logits out.
  network13.onnx and network17.onnx have the same weights and ask for larger pictures: torchattacks
  cannot start Square by the L2 norm on pictures of 12 pixels, as its tiles do not fit.
- cases.f32: pictures, raw little-endian 32-bit floats, channel by row by column.
- cases.json: one entry per case, with its settings, all random numbers that were drawn, and where
  in cases.f32 (counted in numbers) the pictures that the network was asked about and the picture
  that was returned are. An entry names its own network, size and clean picture.

Every case is a batch of one, run by torchattacks 3.5.1 and 3.2.6 with the same arguments and the
same seed. The traces have to agree to 1e-6, but where `versions` names one only. Then 3.5.1 is run
again with the random numbers as they stand in cases.json, once with the network computed in double
precision (the attack's own arithmetic stays in 32 bits), and thrice with its weights off by parts in
a million: all must give the same trace, so that no case hangs on how a gradient near zero was
rounded. Where one does, another --seed has to be found.

What the network was asked about is without passes that repeat the one before (EOTPGD), without the
clean pass of TPGD, and without the checks of accuracy that APGD and Square make before and Square
also after the attack. What DIFGSM and TIFGSM ask about is the resized and padded picture.

`noise` maps the number of a stream to its numbers, in the order in which torchattacks draws them:

- stream 0, the start: PGD, EOTPGD, FFGSM, Jitter, UPGD with a random start: u per number of the
  picture, start = clamp(x + eps (2u - 1)). APGD: u per number, t = 2u - 1. RFGSM, TPGD: a standard
  normal per number. Square, Linf: u per channel and column, sign(2u - 1). PGDL2: a standard normal
  per number, then r, uniform. Square, L2: for each tile, row by row, one u (transposed if > 0.5)
  and one u per channel for the signs.
- stream 1 + step, the step counted from 0: DIFGSM and TIFGSM: u of the size (lo + floor(u (S - lo))),
  u of the top and u of the left (floor(u rem)), and the u that is compared to the probability.
  Jitter: a standard normal per class.
- stream 1 of Square holds all queries, one after the other. Linf: u of the row (floor(u (H - s))),
  u of the column, one u per channel for the signs. L2: row, column, row and column of the second
  window, one u (transposed if > 0.5), one u per channel for the signs.

torchattacks draws sizes and places of DIFGSM and TIFGSM as whole numbers k out of n; their u is
(k + 0.5) / n.
"""

import argparse
import json
import math
import sys
from pathlib import Path

# First, as it sees to it that there is a Python with the others.
from attack_peers import ROOT, import_version  # isort: skip

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

SIZE, N_CLASSES = 12, 5
VERSIONS = ["3.5.1", "3.2.6"]
SMALL, LARGE = 0.004, 8 / 255
TOLERANCE, ROUNDING = 1e-6, 2e-5


# The network


class Network(torch.nn.Module):
    """Conv, softplus, conv, relu, conv, tanh, mean over places, linear."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.conv1 = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.conv3 = torch.nn.Conv2d(12, 12, 3, padding=1)
        self.head = torch.nn.Linear(12, N_CLASSES)
        for conv, gain in [(self.conv1, 1.5), (self.conv2, 1.2), (self.conv3, 1.0)]:
            fan_in = conv.weight[0].numel()
            torch.nn.init.normal_(conv.weight, std=gain * math.sqrt(2 / fan_in))
            torch.nn.init.normal_(conv.bias, std=0.1)

    def features(self, pictures):
        inner = F.softplus(self.conv1(pictures))
        inner = F.relu(self.conv2(inner))
        return torch.tanh(self.conv3(inner)).mean(dim=(2, 3))

    def forward(self, pictures):
        return self.head(self.features(pictures))

    @torch.no_grad()
    def settle(self, pictures):
        """Sets biases and the head so that no layer saturates on pictures like these."""
        inner = self.conv1(pictures)
        self.conv1.bias -= inner.mean(dim=(0, 2, 3))
        inner = self.conv2(F.softplus(self.conv1(pictures)))
        self.conv2.bias -= inner.mean(dim=(0, 2, 3))
        inner = self.conv3(F.relu(self.conv2(F.softplus(self.conv1(pictures)))))
        self.conv3.bias -= inner.mean(dim=(0, 2, 3))
        self.conv3.weight /= inner.std()
        self.conv3.bias /= inner.std()
        logits = self(pictures)
        self.head.weight *= (1.3 / logits.std(dim=0))[:, None]
        self.head.bias -= self(pictures).mean(dim=0)

    def export(self, path, size):
        weights = {name: value.detach().numpy() for name, value in self.named_parameters()}
        nodes, value = [], "pictures"
        for layer, activation, stride in [
            ("conv1", "Softplus", 1),
            ("conv2", "Relu", 2),
            ("conv3", "Tanh", 1),
        ]:
            inputs = [value, f"{layer}.weight", f"{layer}.bias"]
            settings = dict(kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2)
            nodes.append(helper.make_node("Conv", inputs, [layer], layer, **settings))
            value = activation.lower()
            nodes.append(helper.make_node(activation, [layer], [value], value))
        nodes.append(helper.make_node("GlobalAveragePool", [value], ["mean"], "mean"))
        nodes.append(helper.make_node("Flatten", ["mean"], ["flat"], "flat", axis=1))
        inputs = ["flat", "head.weight", "head.bias"]
        nodes.append(helper.make_node("Gemm", inputs, ["logits"], "head", transB=1))
        graph = helper.make_graph(
            nodes,
            "attacks",
            [helper.make_tensor_value_info("pictures", TensorProto.FLOAT, ["batch", 3, size, size])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", N_CLASSES])],
            [numpy_helper.from_array(value, name) for name, value in weights.items()],
        )
        opset = helper.make_opsetid("", 17)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=8, producer_name="mohs")
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def smooth_pictures(n, size, seed):
    """Colour clouds, with some numbers exactly 0 and exactly 1."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(n, 3, 4, 4, generator=generator)
    fine = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False)
    return (0.5 + 0.27 * fine).clamp(0, 1)


def choose(network, size, n, seed):
    """Returns pictures that are neither trivial nor impossible to change, with different labels."""
    pictures = smooth_pictures(4000, size, seed).requires_grad_()
    logits = network(pictures)
    first, second = logits.topk(2, dim=1).values.T
    (gradient,) = torch.autograd.grad((first - second).sum(), pictures)
    # To first order the epsilon that suffices.
    needed = ((first - second) / gradient.abs().sum(dim=(1, 2, 3))).detach()
    ends = ((pictures == 0).sum(dim=(1, 2, 3)) > 4) & ((pictures == 1).sum(dim=(1, 2, 3)) > 4)
    calm = logits.abs().amax(dim=1) < 5
    usable = (needed > 0.008) & (needed < 0.014) & ends & calm
    chosen, labels = [], []
    for idx in usable.nonzero().flatten().tolist():
        label = logits[idx].argmax().item()
        if label not in labels:
            chosen.append(pictures[idx : idx + 1].detach().clone())
            labels.append(label)
        if len(chosen) == n:
            return chosen, labels
    sys.exit("no pictures to use; another --seed")


class Asked(torch.nn.Module):
    """A network that keeps what it was asked about; in double precision inside when told so."""

    def __init__(self, network, double=False):
        super().__init__()
        self.network, self.double_inside, self.pictures = network, double, []

    def forward(self, pictures):
        self.pictures.append(pictures.detach().clone())
        if self.double_inside:
            return self.network(pictures.double()).float()
        return self.network(pictures)


# Random numbers


class Draws:
    """Stands in for torch's random functions: writes down what they give, or gives what it is told.

    An event is a kind and its numbers: u for uniform ones, the numbers themselves for normal ones.
    """

    NAMES = ["rand", "randn", "randn_like", "rand_like", "randint"]

    def __init__(self, told=None):
        self.events, self.told, self.last = [], told, None

    def __enter__(self):
        self.original = {name: getattr(torch, name) for name in self.NAMES}
        self.uniform, self.normal = torch.Tensor.uniform_, torch.Tensor.normal_
        for name in self.NAMES:
            setattr(torch, name, getattr(self, f"draw_{name}"))
        torch.Tensor.uniform_ = lambda tensor, low=0.0, high=1.0: self.fill(tensor, low, high)
        torch.Tensor.normal_ = lambda tensor: tensor.copy_(self.draw_randn(tensor.shape))
        return self

    def __exit__(self, *_):
        for name, function in self.original.items():
            setattr(torch, name, function)
        torch.Tensor.uniform_, torch.Tensor.normal_ = self.uniform, self.normal

    def take(self, shape):
        n = math.prod(shape)
        taken, self.told = self.told[:n], self.told[n:]
        assert len(taken) == n, "more random numbers than were recorded"
        return torch.tensor(taken, dtype=torch.float32).reshape(shape)

    def keep(self, kind, value):
        self.events.append((kind, value.flatten().tolist()))
        self.last = value
        return value

    def draw_rand(self, *shape):
        shape = tuple(shape[0]) if isinstance(shape[0], (list, tuple, torch.Size)) else shape
        if self.told is not None:
            return self.take(shape)
        return self.keep("uniform", self.original["rand"](shape))

    def draw_rand_like(self, tensor):
        return self.draw_rand(tensor.shape)

    def draw_randn(self, shape):
        if self.told is not None:
            return self.take(shape)
        # As normal_() and randn_like do it: the numbers depend on the size, not on the function.
        return self.keep("normal", self.original["randn"](tuple(shape)))

    def draw_randn_like(self, tensor):
        if self.told is not None and self.skip_randn_like:
            return torch.empty_like(tensor)
        return self.draw_randn(tensor.shape)

    skip_randn_like = False

    def fill(self, tensor, low, high):
        if self.told is not None:
            u = self.take(tensor.shape)
            return tensor.copy_(high * (2 * u - 1) if low == -high else low + (high - low) * u)
        if tensor is self.last:
            # FFGSM draws normal numbers and overwrites them.
            self.events.pop()
        state = torch.get_rng_state()
        u = self.original["rand"](tuple(tensor.shape))
        torch.set_rng_state(state)
        self.uniform(tensor, low, high)
        assert (tensor - (low + (high - low) * u)).abs().max() < 1e-7
        self.keep("uniform", u)
        return tensor

    def draw_randint(self, low, high, size, dtype):
        assert tuple(size) == (1,)
        if self.told is not None:
            return torch.tensor([low + math.floor(self.take((1,)).item() * (high - low))], dtype=dtype)
        value = self.original["randint"](low=low, high=high, size=size, dtype=dtype)
        self.events.append(("whole", [(value.item() - low + 0.5) / (high - low)]))
        return value


def short(number):
    """Nine digits, which is enough to get the same 32 bits back."""
    return float(f"{number:.9g}")


def streams(attack, norm, events, n_start_tiles):
    """Deals recorded numbers to the streams of the fixture."""
    if attack == "square":
        n_start = 1 if norm == "linf" else 2 * n_start_tiles
        parts = {0: events[:n_start], 1: events[n_start:]}
    elif attack in ["difgsm", "tifgsm"]:
        assert len(events) % 4 == 0
        parts = {1 + idx // 4: events[idx : idx + 4] for idx in range(0, len(events), 4)}
        assert all([kind for kind, _ in part] == ["whole"] * 3 + ["uniform"] for part in parts.values())
    elif attack == "jitter":
        parts = {idx: [event] for idx, event in enumerate(events)}
    elif attack == "pgdl2":
        assert [kind for kind, _ in events] == ["normal", "uniform"]
        parts = {0: events}
    else:
        assert len(events) <= 1
        parts = {0: events} if events else {}
    return {
        str(stream): [short(number) for _, numbers in part for number in numbers]
        for stream, part in parts.items()
    }


# Cases


class Case:
    """One attack on one picture. `arguments` are those of torchattacks' constructor."""

    def __init__(self, attack, picture, epsilon, arguments, norm="linf", target=None, size=SIZE):
        self.attack, self.picture, self.epsilon = attack, picture, epsilon
        self.arguments, self.norm, self.target, self.size = arguments, norm, target, size

    def name(self):
        words = [f"{key}={value}" for key, value in self.arguments.items()]
        aim = "" if self.target is None else f" target {self.target}"
        return f"{self.attack} {self.norm} eps {self.epsilon:.4g} {' '.join(words)}{aim}"


def cases(targets):
    """All cases; `targets` holds the second best class of each picture."""
    two = 2 / 255
    step = dict(alpha=two, steps=10)
    rows = []

    def add(attack, epsilons, arguments, pictures=(0, 1), **more):
        """Takes the pictures in turn, so that each epsilon has one."""
        for idx, epsilon in enumerate(epsilons):
            rows.append(Case(attack, pictures[idx % len(pictures)], epsilon, arguments, **more))

    both = [SMALL, LARGE]
    add("pgd", both, dict(step, random_start=True))
    add("pgd", [LARGE], dict(step, random_start=True))
    add("upgd", both, dict(step, loss="ce", decay=1.0, random_start=False))
    add("upgd", [0.006], dict(step, loss="margin", decay=1.0, random_start=False))
    add("upgd", both, dict(step, loss="dlr", decay=1.0, random_start=False))
    add("upgd", [LARGE], dict(step, loss="ce", decay=1.0, random_start=True), pictures=(1,))
    add("apgd", both, dict(steps=10, loss="ce", rho=0.75))
    add("apgd", [0.008], dict(steps=25, loss="ce", rho=0.75))
    add("apgd", both, dict(steps=10, loss="dlr", rho=0.75))
    add("tpgd", both, step)
    add("eotpgd", both, dict(step, eot_iter=2, random_start=True))
    add("fgsm", both * 2, {}, pictures=(0, 1, 1, 0))
    add("bim", both, step)
    add("bim", [4 / 255, 0.0062], dict(alpha=1 / 255, steps=0))
    add("bim", [0.003], dict(alpha=1 / 255, steps=0))
    add("rfgsm", both * 2, dict(alpha=8 / 255, steps=1), pictures=(0, 1, 1, 0))
    add("rfgsm", both, step)
    add("ffgsm", both * 2, dict(alpha=10 / 255), pictures=(0, 1, 1, 0))
    add("mifgsm", both, dict(step, decay=1.0))
    diverse = dict(step, resize_rate=0.9, diversity_prob=0.5, random_start=False)
    add("difgsm", both, dict(diverse, decay=0.0))
    add("difgsm", [LARGE], dict(diverse, decay=1.0))
    add("tifgsm", both, dict(diverse, decay=0.0))
    add("tifgsm", [16 / 255], dict(diverse, decay=1.0, diversity_prob=0.7))
    add("square", [SMALL, 0.08], dict(n_queries=40, p_init=0.8, loss="margin"))
    add("jitter", both, dict(step, scale=10, std=0.1, random_start=True))
    add("pgdl2", [0.5, 0.1], dict(alpha=0.2, steps=10, random_start=True), norm="l2")
    query = dict(p_init=0.8, loss="margin", norm="L2")
    add("square", [0.15], dict(query, n_queries=40), norm="l2", size=13)
    add("square", [1.2], dict(query, n_queries=20), norm="l2", size=17)

    add("pgd", [LARGE], dict(step, random_start=True), pictures=(1,), target=targets[1])
    add("fgsm", [LARGE], {}, target=targets[0])
    add("bim", [LARGE], step, pictures=(1,), target=targets[1])
    add("mifgsm", [LARGE], dict(step, decay=1.0), target=targets[0])
    jitter = dict(step, scale=10, std=0.1, random_start=True)
    add("jitter", [LARGE], jitter, pictures=(1,), target=targets[1])
    add("square", [0.01], dict(n_queries=40, p_init=0.8, loss="margin"), target=targets[0])
    add("square", [0.045], dict(n_queries=40, p_init=0.8, loss="margin"))
    # Once the model is fooled the margin has no gradient, 0 / 0 has the sign 0, and the picture rests.
    add("upgd", [LARGE], dict(step, loss="margin", decay=1.0, random_start=False))
    return rows


def settings(case):
    """Our names of what was set."""
    names = dict(eot_iter="eot", diversity_prob="diversity")
    named = {names.get(key, key): value for key, value in case.arguments.items() if key != "norm"}
    if case.attack == "tifgsm":
        named.update(kernel="gaussian", kernel_size=15, kernel_sd=3)
    return named


def class_name(attack):
    return {"square": "Square", "jitter": "Jitter"}.get(attack, attack.upper())


def run(module, case, asked, picture, label, seed, draws):
    """Returns the pictures that the network was asked about and the one that was returned."""
    more = dict(seed=seed) if case.attack in ["apgd", "square"] else {}
    attack = getattr(module, class_name(case.attack))(asked, eps=case.epsilon, **case.arguments, **more)
    if case.target is not None:
        target = torch.tensor([case.target])
        attack.set_mode_targeted_by_function(lambda pictures, labels: target)
    torch.manual_seed(seed)
    with draws:
        returned = attack(picture, torch.tensor([label])).detach()
    pictures = asked.pictures
    if case.attack in ["apgd", "tpgd", "square"]:
        assert torch.equal(pictures[0], picture)
        pictures = pictures[1:]
    if case.attack == "square":
        pictures = pictures[:-1]
    pictures = pictures[:: case.arguments.get("eot_iter", 1)]
    return pictures, returned


def distance(left, right):
    """Between two runs: the largest difference of any number, infinite when lengths differ."""
    if len(left[0]) != len(right[0]):
        return math.inf
    pairs = zip([*left[0], left[1]], [*right[0], right[1]])
    return max((one - other).abs().max().item() for one, other in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--old", type=Path, help="folder with torchattacks 3.2.6")
    parser.add_argument("--seed", type=int, default=8)
    folder = ROOT / "crates" / "mohs-vision" / "tests" / "fixtures" / "attacks"
    parser.add_argument("output", type=Path, nargs="?", default=folder)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    modules = {version: import_version(version, options.old) for version in VERSIONS}

    network = Network(options.seed)
    network.settle(smooth_pictures(500, SIZE, options.seed + 1))
    network.requires_grad_(True).eval()
    rounded = []
    for off in [0.0, 1e-6, 1e-6, 1e-6]:
        double = Network(options.seed).double()
        double.load_state_dict(network.state_dict())
        with torch.no_grad():
            for weight in double.parameters():
                weight *= 1 + off * torch.randn_like(weight)
        rounded.append(double)

    numbers, n_numbers = [], 0

    def store(pictures):
        nonlocal n_numbers
        offset = n_numbers
        for picture in pictures:
            flat = picture.numpy().astype("<f4").ravel()
            assert np.isfinite(flat).all()
            numbers.append(flat)
            n_numbers += flat.size
        return offset

    pictures, labels, offsets, logits, networks = {}, {}, {}, {}, {}
    for size, n in [(SIZE, 2), (13, 1), (17, 1)]:
        pictures[size], labels[size] = choose(network, size, n, options.seed + 2 + size)
        offsets[size] = store(pictures[size])
        networks[size] = "network.onnx" if size == SIZE else f"network{size}.onnx"
        network.export(options.output / networks[size], size)
        session = onnxruntime.InferenceSession(options.output / networks[size])
        batch = torch.cat(pictures[size])
        logits[size] = network(batch).detach()
        (answer,) = session.run(None, {"pictures": batch.numpy()})
        assert np.abs(answer - logits[size].numpy()).max() < 1e-5
    targets = [row.argsort()[-2].item() for row in logits[SIZE]]

    entries = []
    for idx, case in enumerate(cases(targets)):
        picture, label = pictures[case.size][case.picture], labels[case.size][case.picture]
        seed = 1000 * options.seed + idx
        runs, draws = {}, {}
        for version in VERSIONS:
            draws[version] = Draws()
            asked = Asked(network)
            runs[version] = run(modules[version], case, asked, picture, label, seed, draws[version])
        same = distance(runs["3.5.1"], runs["3.2.6"]) <= TOLERANCE
        # 3.2.6 draws the start of PGDL2 and forgets to use it.
        assert same == (case.attack != "pgdl2"), f"{case.name()}: the versions disagree"

        tile = case.size // 5
        noise = streams(case.attack, case.norm, draws["3.5.1"].events, (case.size // tile) ** 2)
        told = [number for stream in sorted(noise, key=int) for number in noise[stream]]
        shift = 0.0
        for double in rounded:
            replay = Draws(told)
            replay.skip_randn_like = case.attack == "ffgsm"
            asked = Asked(double, double=True)
            again = run(modules["3.5.1"], case, asked, picture, label, seed, replay)
            assert not replay.told, "fewer random numbers than were recorded"
            shift = max(shift, distance(runs["3.5.1"], again))
        if ROUNDING < shift:
            sys.exit(f"{case.name()}: hangs on rounding ({shift}); another --seed")

        trace, returned = runs["3.5.1"]
        said = network(returned).argmax().item()
        fooled = said != label if case.target is None else said == case.target
        limit = (returned - picture).abs().max() if case.norm == "linf" else (returned - picture).norm()
        assert limit <= case.epsilon + TOLERANCE or case.attack == "rfgsm"
        entry = dict(
            attack=case.attack,
            norm=case.norm,
            settings=settings(case),
            epsilon=case.epsilon,
            target=case.target,
            picture=case.picture,
            label=label,
            size=case.size,
            network=networks[case.size],
            picture_offset=offsets[case.size] + case.picture * 3 * case.size**2,
            n_queries_recorded=len(trace),
            offset=store(trace),
            returned_offset=store([returned]),
            fooled=fooled,
            versions=VERSIONS if same else ["3.5.1"],
            noise=noise,
        )
        entries.append(entry)
        print(f"{case.name():90} {len(trace):3} asked, fooled {fooled}, shift {shift:.1e}")

    np.concatenate(numbers).tofile(options.output / "cases.f32")
    head = dict(
        made_by=f"tools/make_attack_fixtures.py --seed {options.seed}, torch {torch.__version__}",
        order_of_draws="see the top of tools/make_attack_fixtures.py",
        dropped="repeated passes of EOTPGD; clean pass of TPGD; checks of accuracy before APGD and "
        "Square and after Square",
        pictures_offset=offsets[SIZE],
        labels=labels[SIZE],
        logits=[[short(value) for value in row.tolist()] for row in logits[SIZE]],
    )
    lines = [json.dumps(entry, separators=(",", ":")) for entry in entries]
    opening = json.dumps(head, indent=0, separators=(",", ":"))[:-2]
    text = opening + ',\n"cases":[\n' + ",\n".join(lines) + "\n]}\n"
    json.loads(text)
    (options.output / "cases.json").write_text(text)
    total = sum(path.stat().st_size for path in options.output.iterdir())
    print(f"{len(entries)} cases, {sum(e['fooled'] for e in entries)} fooled, {total / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
