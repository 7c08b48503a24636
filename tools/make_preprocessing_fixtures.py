#!/usr/bin/env python3
"""Writes what Pillow, torchvision, timm and scipy make of small pictures, for tests without Python.

The pictures are made by a formula that the tests know, too, so only results are stored:

    pip install -r tools/requirements-preprocessing.txt
    python tools/make_preprocessing_fixtures.py crates/mohs-vision/tests/fixtures/preprocessing.json

Sizes are width, height. Bytes are base64: of 8-bit pictures red, green, blue, row by row; of numbers
32-bit floats, channel by channel.
"""

import argparse
import base64
import json
import math

import numpy as np
import PIL
import scipy
import scipy.ndimage
import timm
import timm.data
import torch
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F
from torchvision.transforms import v2  # noqa: F401  (fails early where torchvision is too old)

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def picture(kind, width, height):
    """The formula: `busy` jumps from pixel to pixel, `calm` changes slowly."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    if kind == "busy":
        levels = (x * 37 + y * 101 + c * 59 + x * y * 7) % 256
    else:
        levels = (x * 5 * (c + 1) + y * 3) // 2 % 256
    return Image.fromarray(levels.astype(np.uint8), "RGB")


def text(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def resizes():
    cases = []
    for kind, size, to in [
        ("busy", (37, 23), (11, 7)),
        ("busy", (37, 23), (12, 23)),
        ("busy", (37, 23), (37, 9)),
        ("busy", (9, 6), (20, 17)),
        ("busy", (31, 40), (16, 51)),
        ("calm", (64, 48), (13, 13)),
        ("calm", (5, 3), (8, 8)),
        ("busy", (1, 7), (5, 3)),
    ]:
        for name, filter in FILTERS.items():
            resized = picture(kind, *size).resize(to, filter)
            cases.append({
                "picture": kind, "size": size, "to": to, "filter": name,
                "bytes": text(np.asarray(resized)),
            })
    return cases


def from_torchvision(size, side, filter, mean, sd):
    transform = torchvision.transforms.Compose([
        torchvision.transforms.Resize(size, interpolation=InterpolationMode(filter)),
        torchvision.transforms.CenterCrop(side),
        torchvision.transforms.ToTensor(),
        torchvision.transforms.Normalize(mean, sd),
    ])
    return transform


def presets():
    imagenet = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    clip = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
    side = 14
    transforms = {
        "torchvision": from_torchvision(round(side / 0.875), side, "bilinear", *imagenet),
        "timm": timm.data.create_transform(side, is_training=False, interpolation="bicubic"),
        "clip": from_torchvision(side, side, "bicubic", *clip),
        "tensorflow": timm.data.create_transform(
            side, is_training=False, interpolation="bicubic", mean=(0.5,) * 3, std=(0.5,) * 3),
    }
    cases = []
    for kind, size in [("busy", (45, 31)), ("calm", (31, 46)), ("busy", (9, 12))]:
        for preset, transform in transforms.items():
            numbers = transform(picture(kind, *size)).numpy()
            cases.append({
                "picture": kind, "size": size, "preset": preset, "side": side,
                "numbers": text(numbers.astype("<f4")),
            })
    return cases


def side_files():
    """Configurations of timm, as timm itself reads them."""
    configurations = [
        {"input_size": [3, 12, 12], "interpolation": "bicubic", "crop_pct": 0.95,
         "crop_mode": "center", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
        {"input_size": [3, 12, 12], "interpolation": "bilinear", "crop_pct": 0.9,
         "crop_mode": "squash", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]},
        {"input_size": [3, 12, 12], "interpolation": "bicubic", "crop_pct": 1.0,
         "crop_mode": "border", "mean": [0.481, 0.458, 0.408], "std": [0.269, 0.261, 0.276]},
        {"input_size": [3, 10, 15], "interpolation": "bicubic", "crop_pct": 0.9,
         "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]},
        {"input_size": [3, 12, 12], "crop_pct": 0.4, "interpolation": "lanczos"},
    ]
    cases = []
    for configuration in configurations:
        data = timm.data.resolve_data_config(pretrained_cfg=configuration)
        transform = timm.data.create_transform(**data, is_training=False)
        for kind, size in [("busy", (40, 27)), ("calm", (9, 21))]:
            cases.append({
                "configuration": {"pretrained_cfg": configuration},
                "picture": kind, "size": size,
                "numbers": text(transform(picture(kind, *size)).numpy().astype("<f4")),
            })
    return cases


def lowpassed(planes, sd, background):
    filter = scipy.ndimage.gaussian_filter
    return np.stack([filter(plane, sd, mode="constant", cval=background) for plane in planes])


def probes():
    cases = []
    for kind, size in [("busy", (13, 9)), ("calm", (10, 15))]:
        source = picture(kind, *size)
        numbers = F.to_tensor(source)
        planes = numbers.numpy().astype(np.float64)
        add = lambda probe, parameters, result: cases.append({
            "picture": kind, "size": size, "kind": probe, "parameters": parameters,
            "numbers": text(np.asarray(result).astype("<f4")),
        })
        add("grayscale", {}, F.to_tensor(F.to_grayscale(source, 3)))
        for factor in [0.1, 0.6, 1.7]:
            add("contrast", {"factor": factor}, F.adjust_contrast(numbers, factor))
        for kernel, sigma in [(3, 0.8), (7, 3.0), (13, 9.0)]:
            blurred = F.gaussian_blur(numbers, [kernel, kernel], [sigma, sigma])
            add("gaussian-blur", {"kernel": kernel, "sigma": sigma}, blurred)
        for sd in [0.7, 2.5, 7.0]:
            low = lowpassed(planes, sd, 0.4423)
            add("low-pass", {"sd": sd}, np.clip(low, 0, 1))
            fine = planes - low
            shift = 0.4423 - fine.mean(axis=(1, 2), keepdims=True)
            add("high-pass", {"sd": sd}, np.clip(fine + shift, 0, 1))
        # Grey as scikit-image's rgb2gray weighs it.
        grey = np.tensordot([0.2125, 0.7154, 0.0721], planes, 1)[None].repeat(3, 0)
        add("low-pass", {"sd": 3.0, "grey": True, "background": 0.2}, lowpassed(grey, 3.0, 0.2))
        for degrees in [90, 180, 270]:
            turned = np.rot90(planes, degrees // 90, (1, 2))
            add("rotation", {"degrees": degrees}, turned)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    arguments = parser.parse_args()
    assert math.isclose(sum([0.2125, 0.7154, 0.0721]), 1.0)
    fixtures = {
        "made_with": {
            "pillow": PIL.__version__, "torchvision": torchvision.__version__.split("+")[0],
            "torch": torch.__version__.split("+")[0], "timm": timm.__version__,
            "scipy": scipy.__version__,
        },
        "resizes": resizes(),
        "presets": presets(),
        "side_files": side_files(),
        "probes": probes(),
    }
    with open(arguments.output, "w", encoding="utf-8") as file:
        lines = []
        for key, value in fixtures.items():
            if isinstance(value, list):
                rows = ",\n".join("  " + json.dumps(case) for case in value)
                lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
            else:
                lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
