#!/usr/bin/env python3
"""Makes the networks that mohs-vision is tested with, and PyTorch's answers to compare with.

    python3 -m venv venv && venv/bin/pip install -r tools/requirements-networks.txt
    venv/bin/python tools/make_network_fixtures.py                  # the committed fixtures
    venv/bin/python tools/make_network_fixtures.py --only vit       # those with `vit` in the name
    venv/bin/python tools/make_network_fixtures.py --large DIR      # ResNet-50 and ViT-B/16

Each network is small, has random weights, and is exported as a user would export it: by the older
exporter that traces (`torchscript`) or by the newer one (`dynamo`), at some operator set from 11
to 21. Beside `<name>.onnx` lies `<name>.reference.onnx`: a file with an empty graph whose
initializers are the images fed, their labels, and what PyTorch computes from them in float64.
README.md in the folder of the fixtures says what is in them. The script checks every file with
ONNX's own checker and runs it in onnxruntime; it fails if a file is wrong or all are too large.

It writes no real weights, and does not judge mohs: the tests of mohs-vision do.
"""

import argparse
import contextlib
import copy
import io
import logging
import subprocess
import sys
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import network_families as families
import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
import torchvision
from onnx import numpy_helper
from torch import nn

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "crates" / "mohs-vision" / "tests" / "fixtures" / "networks"
MOST_BYTES = 4_500_000
LOGITS_TOLERANCE = 1e-4
# The batch of the references; exports are traced with another, so that a baked-in one shows.
N_IMAGES = 2
N_TRACED = 3


@dataclass
class Case:
    """A network, how it is exported, and what is asked of it."""

    name: str
    family: str
    build: Callable[[], nn.Module]
    exporter: str
    opset: int
    size: int = 32
    is_fixed_batch: bool = False
    is_external: bool = False
    # Weights keep their names, BatchNormalization stays a node, and weight gradients are stored.
    keeps_weights: bool = False
    # The dynamo exporter tells of every node which module it came from; one file keeps that.
    keeps_namespaces: bool = False
    inputs: str = "normal"
    note: str = ""


TS, DYNAMO = "torchscript", "dynamo"
vgg_plain = lambda: families.vgg_like(False)
vgg_norm = lambda: families.vgg_like(True)
clip = lambda: families.clip_image(families.GELU)
vit_shallow = lambda: families.vit_torchvision(1)
swin_shallow = lambda: families.swin_timm((1, 1))
clip_quick = lambda: families.clip_image(families.QUICK_GELU)

CASES = [
    Case("resnet_basic_ts11", "ResNet", families.resnet_basic, TS, 11, 33),
    Case("resnet_basic_dynamo18", "ResNet", families.resnet_basic, DYNAMO, 18, 35),
    Case("resnet_bottleneck_ts13", "ResNet", families.resnet_bottleneck, TS, 13, 33),
    Case("vgg_ts12", "VGG", vgg_plain, TS, 12, 24, inputs="uniform"),
    Case("vgg_bn_dynamo19", "VGG", vgg_norm, DYNAMO, 19, 24),
    Case("squeezenet_ts13", "SqueezeNet", families.NarrowSqueezeNet, TS, 13, 29, inputs="uniform"),
    Case(
        "squeezenet_dynamo20",
        "SqueezeNet",
        families.NarrowSqueezeNet,
        DYNAMO,
        20,
        29,
        keeps_namespaces=True,
    ),
    Case("densenet_ts14", "DenseNet", families.densenet_like, TS, 14, 24, inputs="uniform"),
    Case("densenet_dynamo21", "DenseNet", families.densenet_like, DYNAMO, 21, 24),
    Case("mobilenet_v2_ts11", "MobileNetV2", families.mobilenet_v2_like, TS, 11, 24),
    Case("mobilenet_v2_dynamo18", "MobileNetV2", families.mobilenet_v2_like, DYNAMO, 18, 25),
    Case("mobilenet_v3_ts11", "MobileNetV3", families.mobilenet_v3_like, TS, 11, 24),
    Case("mobilenet_v3_dynamo20", "MobileNetV3", families.mobilenet_v3_like, DYNAMO, 20, 24),
    Case("efficientnet_ts15", "EfficientNet", families.efficientnet_like, TS, 15, 24),
    Case("efficientnet_v2_dynamo21", "EfficientNet", families.efficientnet_v2_like, DYNAMO, 21, 26),
    Case("convnext_ts16", "ConvNeXt", families.convnext_like, TS, 16),
    Case(
        "convnext_dynamo18_external",
        "ConvNeXt",
        families.convnext_timm,
        DYNAMO,
        18,
        is_external=True,
        note="weights lie in convnext_dynamo18_external.onnx.data",
    ),
    Case("regnet_ts17", "RegNet", families.regnet_like, TS, 17, 25),
    Case("regnet_dynamo19", "RegNet", families.regnet_like, DYNAMO, 19, 25, inputs="uniform"),
    Case("vit_ts14", "ViT", vit_shallow, TS, 14, 24),
    Case("vit_dynamo18", "ViT", families.vit_torchvision, DYNAMO, 18, 24),
    Case("vit_timm_ts20", "ViT", families.vit_timm, TS, 20, 24, inputs="uniform"),
    Case("deit_ts17", "DeiT", families.deit_distilled, TS, 17, 24),
    Case("deit_dynamo21", "DeiT", families.deit_distilled, DYNAMO, 21, 24),
    Case("swin_ts17", "Swin", families.swin_torchvision, TS, 17, 24),
    Case("swin_timm_dynamo20", "Swin", families.swin_timm, DYNAMO, 20, 24),
    Case("mixer_ts21", "MLP-Mixer", families.mixer, TS, 21, 24),
    Case("mixer_dynamo18", "MLP-Mixer", families.mixer, DYNAMO, 18, 24),
    Case("clip_quick_gelu_ts16", "CLIP", clip_quick, TS, 16, 24),
    Case("clip_dynamo20", "CLIP", clip, DYNAMO, 20, 24),
    Case("odd_layers_ts16", "odd layers", families.OddLayers, TS, 16, 24),
    Case("odd_layers_dynamo21", "odd layers", families.OddLayers, DYNAMO, 21, 24),
    Case("odd_tokens_ts14", "odd tokens", families.OddTokens, TS, 14, 24),
    Case("odd_tokens_dynamo18", "odd tokens", families.OddTokens, DYNAMO, 18, 24),
    Case(
        "shufflenet_ts13_batch_1",
        "ShuffleNet",
        families.shufflenet_like,
        TS,
        13,
        is_fixed_batch=True,
        note="batch fixed at 1; the shuffles of channels are Reshapes with the batch in a constant",
    ),
    Case(
        "vgg_bn_dynamo18_batch_1",
        "VGG",
        vgg_norm,
        DYNAMO,
        18,
        24,
        is_fixed_batch=True,
        note="batch fixed at 1; flattening is a Reshape with the batch in a constant",
    ),
    Case(
        "vit_timm_ts17_batch_1",
        "ViT",
        families.vit_timm,
        TS,
        17,
        24,
        is_fixed_batch=True,
        note="batch fixed at 1; Reshape constants hold the batch alone",
    ),
    Case(
        "vit_ts17_batch_1",
        "ViT",
        vit_shallow,
        TS,
        17,
        24,
        is_fixed_batch=True,
        note="batch fixed at 1; Reshape constants hold the batch times the heads",
    ),
    Case(
        "swin_timm_ts17_batch_1",
        "Swin",
        swin_shallow,
        TS,
        17,
        24,
        is_fixed_batch=True,
        note="batch fixed at 1; Reshape constants hold the batch times the windows",
    ),
    Case("resnet_weights", "ResNet", families.resnet_bottleneck, TS, 13, 33, keeps_weights=True),
    Case(
        "mobilenet_v3_weights",
        "MobileNetV3",
        families.mobilenet_v3_like,
        DYNAMO,
        18,
        24,
        keeps_weights=True,
    ),
    Case(
        "efficientnet_weights",
        "EfficientNet",
        families.efficientnet_like,
        TS,
        17,
        24,
        keeps_weights=True,
    ),
    Case("vit_weights", "ViT", families.vit_torchvision, DYNAMO, 20, 24, keeps_weights=True),
]


def seed_of(name):
    return zlib.crc32(name.encode())


def images_of(case, n_images, seed):
    generator = torch.Generator().manual_seed(seed)
    shape = (n_images, 3, case.size, case.size)
    draw = torch.rand if case.inputs == "uniform" else torch.randn
    return draw(shape, generator=generator)


def has_batch_norm(model):
    return any(isinstance(module, nn.BatchNorm2d) for module in model.modules())


def made(case):
    """Builds the network of a case, with its random weights, ready to answer."""
    seed = seed_of(case.name)
    torch.manual_seed(seed)
    model = case.build()
    families.randomise(model, seed)
    if has_batch_norm(model):
        families.settle_batch_norms(model, images_of(case, 16, seed + 1), seed + 2)
    return model.eval()


@contextlib.contextmanager
def quiet():
    """Keeps the exporters' progress to itself, unless they fail."""
    said = io.StringIO()
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(said):
            warnings.simplefilter("ignore")
            yield
    except Exception:
        print(said.getvalue()[-4000:], file=sys.stderr)
        raise
    finally:
        logging.disable(logging.NOTSET)


def export(model, images, path, case):
    """Writes the file as a user would, then removes what tells of this machine."""
    options = {"input_names": ["input"], "output_names": ["logits"], "opset_version": case.opset}
    if case.exporter == TS:
        options["dynamo"] = False
        if not case.is_fixed_batch:
            options["dynamic_axes"] = {"input": {0: "batch"}, "logits": {0: "batch"}}
        if case.keeps_weights:
            # In evaluation mode the exporter folds BatchNorm into Conv; preserving, it does not.
            options["training"] = torch.onnx.TrainingMode.PRESERVE
            options["do_constant_folding"] = False
    else:
        options["dynamo"] = True
        options["external_data"] = case.is_external
        options["verbose"] = False
        if not case.is_fixed_batch:
            options["dynamic_shapes"] = ({0: "batch"},)
        if case.keeps_weights:
            options["optimize"] = False
    # Not under no_grad: there attention becomes one operator that the older exporter lacks.
    with quiet():
        torch.onnx.export(copy.deepcopy(model), (images,), str(path), **options)
    exported = onnx.load(path, load_external_data=False)
    found = next(one.version for one in exported.opset_import if one.domain in ("", "ai.onnx"))
    if found != case.opset:
        sys.exit(f"{path.name}: the exporter made operator set {found}, not {case.opset}")
    without_notes(exported, ("namespace",) if case.keeps_namespaces else ())
    onnx.save(exported, path)
    if sys.prefix.encode() in path.read_bytes() or b"site-packages" in path.read_bytes():
        sys.exit(f"{path.name}: holds a path of this machine")


def without_notes(exported, kept):
    """Drops the dynamo exporter's notes on nodes and values, such as stack traces."""
    holders = [*exported.graph.node, *exported.graph.value_info, *exported.graph.initializer]
    holders += [*exported.graph.input, *exported.graph.output, exported.graph]
    holders += [node for function in exported.functions for node in function.node]
    for holder in holders:
        props = [one for one in holder.metadata_props if one.key in kept]
        del holder.metadata_props[:]
        holder.metadata_props.extend(props)


def gradients(model, images, labels, dtype, is_live=False):
    """Runs the model forwards and backwards; everything is returned as it came, in `dtype`."""
    model = copy.deepcopy(model).to(dtype).eval()
    if is_live:
        families.without_chance(model)
    images = images.to(dtype, copy=True).requires_grad_()
    logits = model(images)
    losses = F.cross_entropy(logits, labels, reduction="none")
    found = {"logits": logits, "loss": losses}
    found["input_gradient"] = torch.autograd.grad(losses.sum(), images, retain_graph=True)[0]
    names, parameters = zip(*model.named_parameters())
    of_weights = torch.autograd.grad(losses.mean(), parameters)
    of_weights = dict(zip(names, of_weights))
    statistics = {
        name: buffer.clone()
        for name, buffer in model.named_buffers()
        if is_live and name.endswith(("running_mean", "running_var"))
    }
    return {name: value.detach() for name, value in found.items()}, of_weights, statistics


def relative(found, wanted):
    """The length of the difference over the length of what is wanted."""
    found, wanted = found.double(), wanted.double()
    return float((found - wanted).norm() / wanted.norm().clamp_min(1e-300))


def write_reference(path, case, tensors, more):
    graph = onnx.helper.make_graph([], path.name.removesuffix(".onnx"), [], [])
    for name, tensor in tensors.items():
        if tensor.dtype != torch.int64:
            tensor = tensor.float()
        if not torch.isfinite(tensor.double()).all():
            sys.exit(f"{path.name}: `{name}` has a value that is not finite")
        graph.initializer.append(numpy_helper.from_array(tensor.contiguous().numpy(), name))
    opset = onnx.helper.make_opsetid("", case.opset)
    reference = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    reference.producer_name = "make_network_fixtures.py"
    told = {
        "family": case.family,
        "exporter": case.exporter,
        "opset": str(case.opset),
        "torch": torch.__version__.split("+")[0],
        "note": case.note,
        **more,
    }
    onnx.helper.set_model_props(reference, told)
    onnx.checker.check_model(reference)
    onnx.save(reference, path)


def in_onnxruntime(path, images, is_fixed_batch):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    batches = images.split(1) if is_fixed_batch else [images]
    answers = [session.run(None, {"input": batch.numpy()})[0] for batch in batches]
    return torch.from_numpy(np.concatenate(answers))


def check_kept(path, model):
    """Every parameter must be an initializer of its own name and value, every BatchNorm a node."""
    exported = onnx.load(path)
    arrays = {one.name: numpy_helper.to_array(one) for one in exported.graph.initializer}
    for name, parameter in model.named_parameters():
        if not np.array_equal(arrays.get(name), parameter.detach().numpy()):
            sys.exit(f"{path.name}: no initializer `{name}` with the values of the parameter")
    n_nodes = sum(node.op_type == "BatchNormalization" for node in exported.graph.node)
    n_modules = sum(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    if n_nodes != n_modules:
        sys.exit(f"{path.name}: {n_nodes} BatchNormalization nodes for {n_modules} modules")


def row_of(path, case, sizes, logits_error, gradient_error):
    exported = onnx.load(path, load_external_data=False)
    counted = Counter(node.op_type for node in exported.graph.node)
    inside = [node.op_type for function in exported.functions for node in function.node]
    domains = {node.domain for node in exported.graph.node} - {"", "ai.onnx"}
    if domains or inside:
        sys.exit(f"{path.name}: has functions or operators of {sorted(domains)}")
    return {
        "file": path.name,
        "family": case.family,
        "exporter": case.exporter,
        "opset": case.opset,
        "kB": round(sizes / 1000),
        "nodes": sum(counted.values()),
        "ORT error": f"{logits_error:.0e}",
        "f32 gradient error": f"{gradient_error:.0e}",
        "operators": " ".join(sorted(counted)),
    }


def make(case, folder, model=None, kept_gradients=None):
    """Writes one network and its references; returns its row of the table."""
    model = model or made(case)
    seed = seed_of(case.name)
    path = folder / f"{case.name}.onnx"
    traced = images_of(case, 1 if case.is_fixed_batch else N_TRACED, seed + 3)
    path.with_suffix(".onnx.data").unlink(missing_ok=True)
    export(model, traced, path, case)
    onnx.checker.check_model(str(path))
    images = images_of(case, N_IMAGES, seed + 4)
    n_classes = 1000 if case.size == 224 else families.N_CLASSES
    generator = torch.Generator().manual_seed(seed + 5)
    labels = torch.randint(n_classes, (N_IMAGES,), generator=generator)
    wanted, of_weights, _ = gradients(model, images, labels, torch.float64)
    answers = in_onnxruntime(path, images, case.is_fixed_batch)
    logits_error = relative(answers, wanted["logits"])
    if not logits_error < LOGITS_TOLERANCE:
        sys.exit(f"{path.name}: onnxruntime's logits are off by {logits_error:.1e}")
    # How far PyTorch's own float32 gradient is off: nobody can be asked to do much better.
    in_f32, _, _ = gradients(model, images, labels, torch.float32)
    gradient_error = relative(in_f32["input_gradient"], wanted["input_gradient"])
    more = {"float32_gradient_error": f"{gradient_error:.1e}"}
    tensors = {"input": images, "labels": labels, **wanted}
    references = []
    if case.keeps_weights:
        check_kept(path, model)
        kept = kept_gradients or of_weights
        more["batch_norm"] = "frozen"
        frozen = {f"gradient:{name}": of_weights[name] for name in kept}
        is_small = kept_gradients is None
        references.append(folder / f"{case.name}{'_frozen' if is_small else ''}.reference.onnx")
        write_reference(references[-1], case, {**tensors, **frozen}, more)
        if is_small and has_batch_norm(model):
            live, of_weights, statistics = gradients(model, images, labels, torch.float64, True)
            in_f32, _, _ = gradients(model, images, labels, torch.float32, True)
            more["batch_norm"] = "live"
            error = relative(in_f32["input_gradient"], live["input_gradient"])
            more["float32_gradient_error"] = f"{error:.1e}"
            tensors = {"input": images, "labels": labels, **live}
            tensors |= {f"gradient:{name}": value for name, value in of_weights.items()}
            for name, value in statistics.items():
                tensors[f"{name.rsplit('.', 1)[1]}:{name}"] = value
            references.append(folder / f"{case.name}_live.reference.onnx")
            write_reference(references[-1], case, tensors, more)
            print(f"  {case.name} live: float32 gradient off by {error:.0e}")
    else:
        references.append(folder / f"{case.name}.reference.onnx")
        write_reference(references[-1], case, tensors, more)
    if case.is_external:
        references.append(path.with_suffix(".onnx.data"))
    sizes = sum(one.stat().st_size for one in [path, *references])
    loss = wanted["loss"].mean()
    spread = wanted["logits"].std()
    print(
        f"{path.name:<36} {sizes / 1000:7.0f} kB  onnxruntime {logits_error:.0e}  "
        f"float32 gradient {gradient_error:.0e}  loss {loss:.2f}  logits ±{spread:.2f}",
        flush=True,
    )
    return row_of(path, case, sizes, logits_error, gradient_error)


def table(rows):
    names = list(rows[0])
    marks = ["---:" if isinstance(rows[0][name], int) else "---" for name in names]
    lines = [names, marks, *([str(row[name]) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


README = """# Networks

Small networks of every family, exported from PyTorch, and PyTorch's float64 answers.
`tools/make_network_fixtures.py` makes them all, this page included; change that, not these.

## What lies here

- `<name>.onnx`: the network as exported, with random weights.
  `ts` in a name is the older exporter, which traces (`dynamo=False`); `dynamo` the newer.
  The number is the operator set. The batch is free, unless the name ends in `batch_1`.
  Input `input`, output `logits`, ten classes.
- `<name>.onnx.data`: weights outside the file, for one network.
- `<name>.reference.onnx`: an empty graph whose initializers are the reference.

| initializer | type | what |
|---|---|---|
| `input` | f32 [{n_images}, 3, h, w] | the images fed |
| `labels` | i64 [{n_images}] | their labels |
| `logits` | f32 [{n_images}, 10] | the answers |
| `loss` | f32 [{n_images}] | cross-entropy of each image |
| `input_gradient` | f32, as `input` | gradient of the *sum* of the losses |
| `gradient:<weight>` | f32, as the weight | gradient of the *mean* of the losses |
| `running_mean:<weight>`, `running_var:<weight>` | f32 | statistics after one step, if live |

All are computed in float64 from float32 images and weights, then stored as float32.
Metadata of a reference: `family`, `exporter`, `opset`, `torch`, `note`, and
`float32_gradient_error`, which is how far PyTorch's own float32 input gradient is off
(length of the difference over length).

## Weight gradients

`<name>_weights.onnx` keeps every parameter as an initializer of its own name, and every BatchNorm
as a node in inference form. It has a reference for each form of BatchNorm:

- `<name>_weights_frozen.reference.onnx`: running statistics are used and stay.
- `<name>_weights_live.reference.onnx`: statistics of the batch are used (dropout is off); `logits`,
  `loss` and `input_gradient` are those of that mode too. New running statistics are
  `(1 - m) * old + m * batch`, where `1 - m` is the attribute `momentum` of the node. PyTorch puts
  the *unbiased* variance (n - 1) of the batch into `running_var`, but normalises by the biased one.

A ViT has no BatchNorm, so `vit_weights` has only the frozen reference. Its `in_proj_weight` and
the weights of its Linear layers have the shape of the initializer, not of its transpose.

## What the exporters did

Versions: torch {torch}, onnx {onnx}.

- Dynamo makes operator set 18 at the least. Asked for less it makes 18 and lets a converter try:
  17 worked for a ViT and not for the odd layers; 16 and 14 stayed 18, with a warning. So lower
  sets here are all of the older exporter, which goes to 21 and beyond.
- The older exporter refuses scaled_dot_product_attention below 14, unflatten below 13,
  `_native_multi_head_attention` (attention under `no_grad`) at all, and adaptive pooling after
  reflecting pads or interpolation, where it has lost the size.
- Both fold BatchNorm into Conv unless told not to: `training=PRESERVE` with
  `do_constant_folding=False`, or `optimize=False`. Where BatchNorm comes first, as in DenseNet,
  it stays.
- Dynamo's notes on nodes (stack traces of the machine that exported) are removed; one file,
  squeezenet_dynamo20, keeps `namespace`.

## Licences

The architectures are those of torchvision (BSD 3-Clause) and timm (Apache 2.0), made narrow.
Weights and images are random numbers; nobody's trained weights or pictures are here.

## Table

`ORT error` is the relative error of Python onnxruntime's logits; kB are those of all files of the
network.

{table}"""


def make_large(folder):
    """Writes ResNet-50 and ViT-B/16 at full size; nobody commits these."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    resnet = torchvision.models.resnet50()
    case = Case("resnet50", "ResNet", None, TS, 17, 224)
    with torch.no_grad():
        for name, module in resnet.named_modules():
            if isinstance(module, nn.BatchNorm2d):
                # As after training, blocks add little, and no two norms are alike: the exporter
                # makes one initializer of equal ones, and activations would double at every block.
                nn.init.normal_(module.weight, 0.3 if name.endswith("bn3") else 1.0, 0.05)
                nn.init.normal_(module.bias, 0.0, 0.05)
    families.settle_batch_norms(resnet, images_of(case, 8, 2), 3)
    vit = torchvision.models.vit_b_16().eval()
    # torchvision starts the head at zero, which makes every gradient zero.
    nn.init.trunc_normal_(vit.heads.head.weight, std=0.05)
    named = ["conv1.weight", "layer1.0.bn1.weight", "layer3.2.conv2.weight", "fc.weight", "fc.bias"]
    rows = [
        make(case, folder, resnet),
        make(Case("resnet50_dynamo", "ResNet", None, DYNAMO, 18, 224), folder, resnet),
        make(
            Case("resnet50_train", "ResNet", None, TS, 17, 224, keeps_weights=True),
            folder,
            resnet,
            named,
        ),
        make(Case("vit_b_16", "ViT", None, TS, 17, 224), folder, vit),
        make(Case("vit_b_16_dynamo", "ViT", None, DYNAMO, 18, 224), folder, vit),
    ]
    print(f"\n{table(rows)}")


def check_large(folder, mohs):
    """Derives the input gradient of each full-size network and compares it with the reference."""
    for name in ["resnet50", "resnet50_dynamo", "vit_b_16", "vit_b_16_dynamo"]:
        stored = onnx.load(folder / f"{name}.reference.onnx")
        reference = {t.name: onnx.numpy_helper.to_array(t) for t in stored.graph.initializer}
        derived = folder / f"{name}.gradient.onnx"
        what = ["--of", "cross-entropy", "--with-respect-to", "input", "--output", str(derived)]
        subprocess.run([mohs, "network", "derive", folder / f"{name}.onnx", *what], check=True)
        session = onnxruntime.InferenceSession(derived, providers=["CPUExecutionProvider"])
        given = {"tensor(float)": reference["input"], "tensor(int64)": reference["labels"]}
        found = session.run(None, {port.name: given[port.type] for port in session.get_inputs()})
        outputs = {port.name: value for port, value in zip(session.get_outputs(), found)}
        gradient = next(value for key, value in outputs.items() if key.startswith("gradient:"))
        wanted = reference["input_gradient"]
        # Rectifiers that change sides in 32 bits make any program's gradient differ from 64 bits at
        # some pixels; most pixels have to agree closely, and the whole fairly.
        typical = np.median(np.abs(gradient - wanted)) / np.abs(wanted).max()
        whole = np.linalg.norm(gradient - wanted) / np.linalg.norm(wanted)
        print(f"{name}: half of the pixels are off by at most {typical:.1e}, the whole by {whole:.1e}")
        if 1e-4 < typical or 2e-2 < whole:
            sys.exit(f"the gradient of {name} is wrong")
        derived.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="make only networks with this in their name")
    parser.add_argument("--folder", type=Path, default=FIXTURES)
    parser.add_argument("--large", type=Path, metavar="DIR", help="make full-size networks instead")
    derive = "with --large: derive input gradients with this mohs and compare them with PyTorch's"
    parser.add_argument("--mohs", type=Path, help=derive)
    args = parser.parse_args()
    torch.set_num_threads(2)
    if args.large:
        make_large(args.large)
        if args.mohs:
            check_large(args.large, args.mohs)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.folder == FIXTURES and not args.only:
        # A network that was renamed should not leave its old files.
        for old in FIXTURES.glob("*.onnx*"):
            old.unlink()
    rows = table([make(case, args.folder) for case in CASES if args.only in case.name])
    print(f"\n{rows}")
    if not args.only:
        versions = {"torch": torch.__version__.split("+")[0], "onnx": onnx.__version__}
        text = README.format(n_images=N_IMAGES, table=rows, **versions)
        (args.folder / "README.md").write_text(text)
    total = sum(file.stat().st_size for file in args.folder.iterdir())
    print(f"\n{total / 1e6:.2f} MB in {args.folder.name}, at most {MOST_BYTES / 1e6} MB")
    if MOST_BYTES < total:
        sys.exit("the fixtures are too large")


if __name__ == "__main__":
    main()
