#!/usr/bin/env python3
"""Holds what `mohs` gives a model against what torchvision and timm give it.

    pip install -r tools/requirements-preprocessing.txt
    cargo build --release
    python tools/check_preprocessing.py --pictures ../shared/data/pets --packages \
        --squeezenet ../shared/data/onnx/squeezenet_v10_dc.onnx

Takes real photographs (`--pictures`, and with `--packages` those inside installed Python packages),
makes odd sizes and formats of them in a temporary folder, and prints per preset and per format the
mean and largest difference of pixels in levels of 255, and with `--squeezenet` on how many pictures
both ways lead to the same answer. `--speed` times decoding and fitting on one thread, both in this
run. Exits with 1 if a difference is above 0.5 levels or answers agree on less than 99.9 %.
"""

import argparse
import collections
import json
import pathlib
import site
import subprocess
import sys
import tempfile
import time

import numpy as np
import timm.data
import torch
import torchvision.transforms as T
from PIL import Image, ImageOps
from torchvision.transforms import InterpolationMode

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
ENDINGS = {".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"}


def torchvision_transform(size, side, interpolation, mean, sd):
    return T.Compose([
        T.Resize(size, interpolation=interpolation), T.CenterCrop(side), T.ToTensor(),
        T.Normalize(mean, sd),
    ])


def timm_transform(configuration):
    data = timm.data.resolve_data_config(pretrained_cfg=configuration)
    return timm.data.create_transform(**data, is_training=False)


def ways():
    """Name, options of mohs, a side file or None, their transform, sd for the way back to levels."""
    bilinear, bicubic = InterpolationMode.BILINEAR, InterpolationMode.BICUBIC
    yield ("torchvision 224", ["--preset", "torchvision"], None,
           torchvision_transform(256, 224, bilinear, *IMAGENET), IMAGENET[1])
    yield ("torchvision 299", ["--preset", "torchvision", "--size", "299"], None,
           torchvision_transform(342, 299, bilinear, *IMAGENET), IMAGENET[1])
    yield ("timm 224", ["--preset", "timm"], None, timm_transform({"input_size": (3, 224, 224)}),
           IMAGENET[1])
    yield ("clip 224", ["--preset", "clip"], None,
           torchvision_transform(224, 224, bicubic, *CLIP), CLIP[1])
    half = (0.5, 0.5, 0.5)
    yield ("tensorflow 299", ["--preset", "tensorflow", "--size", "299"], None,
           timm_transform({"input_size": (3, 299, 299), "mean": half, "std": half}), half)
    for mode, share, filter in [("squash", 1.0, "bicubic"), ("border", 1.0, "bilinear"),
                                ("center", 0.95, "lanczos")]:
        configuration = {"input_size": [3, 240, 240], "crop_mode": mode, "crop_pct": share,
                         "interpolation": filter, "mean": list(half), "std": list(half)}
        yield (f"timm config {mode} {filter}", [], {"pretrained_cfg": configuration},
               timm_transform(configuration), half)


def loaded(path):
    """As people see it: upright, on white. Pillow shows 16 bits of grey as white, we do not."""
    picture = ImageOps.exif_transpose(Image.open(path))
    if picture.mode.startswith("I;16"):
        levels = np.asarray(picture).astype(np.float64) / 257
        picture = Image.fromarray(np.round(levels).astype(np.uint8))
    if "A" in picture.getbands() or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = Image.alpha_composite(white, picture)
    return picture.convert("RGB")


def found(arguments):
    folders = [pathlib.Path(folder) for folder in arguments.pictures]
    if arguments.packages:
        folders += [pathlib.Path(folder) for folder in site.getsitepackages()]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() not in ENDINGS or "trimap" in str(path):
                continue
            try:
                picture = loaded(path)
            except Exception:
                continue
            if 32 <= min(picture.size):
                yield path


def variants(paths, folder, seed=1):
    """Odd sizes and formats, each picture in one of them, besides the originals."""
    random = np.random.default_rng(seed)
    made = [("as it is", path) for path in paths]
    formats = ["jpeg 4:2:0", "jpeg 4:4:4", "jpeg progressive", "jpeg grey", "jpeg cmyk",
               "jpeg exif", "png", "png palette", "png alpha", "png 16 bit", "webp", "gif", "bmp",
               "tiff"]
    for number, path in enumerate(paths):
        name = formats[number % len(formats)]
        picture = loaded(path)
        width, height = picture.size
        share = random.uniform(0.5, 1.0, 2)
        box = (0, 0, max(33, int(width * share[0])) | 1, max(33, int(height * share[1])) | 1)
        picture = picture.crop(box)
        kind, _, how = name.partition(" ")
        target = folder / f"v{number:04}.{kind}"
        options = {}
        if kind == "jpeg":
            options = {"quality": int(random.integers(50, 97)),
                       "subsampling": "4:4:4" if how == "4:4:4" else "4:2:0"}
        if how == "progressive":
            options["progressive"] = True
        elif how == "grey":
            picture = picture.convert("L")
            options.pop("subsampling")
        elif how == "cmyk":
            picture = picture.convert("CMYK")
            options.pop("subsampling")
        elif how == "exif":
            exif = Image.Exif()
            exif[0x112] = int(random.integers(2, 9))
            options["exif"] = exif
        elif how == "palette":
            picture = picture.convert("P", palette=Image.Palette.ADAPTIVE)
        elif how == "alpha":
            picture.putalpha(Image.linear_gradient("L").resize(picture.size))
        elif how == "16 bit":
            levels = np.asarray(picture.convert("L")).astype(np.uint16) * 257
            picture = Image.fromarray(levels)
        picture.save(target, **options)
        made.append((name, target))
    return made


def seen_by_mohs(mohs, options, side_file, paths, folder):
    """The numbers mohs makes, one array per picture."""
    folder.mkdir()
    if side_file:
        configuration = folder / "config.json"
        configuration.write_text(json.dumps(side_file), encoding="utf-8")
        options = ["--side-file", str(configuration)]
    links = []
    for number, path in enumerate(paths):
        link = folder / f"p{number:05}{path.suffix}"
        link.symlink_to(path.resolve())
        links.append(str(link))
    output = folder / "seen"
    subprocess.run([mohs, "network", "input", *links, *options, "--output", str(output), "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    return [np.load(output / f"p{number:05}.npy") for number in range(len(paths))]


def squeezenet_answers(path, inputs):
    """Answers of a model that takes BGR, 0 to 255 minus a mean, 227 pixels."""
    import onnxruntime
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    mean = np.array([104, 117, 123], np.float32)[:, None, None]
    answers = []
    for levels in inputs:
        numbers = (levels[::-1] * 255 - mean)[None].astype(np.float32)
        answers.append(int(session.run(None, {name: numbers})[0].reshape(-1).argmax()))
    return answers


def compare(arguments, made, folder):
    paths = [path for _, path in made]
    is_fine = True
    by_format = collections.defaultdict(list)
    pictures = [loaded(path) for path in paths]
    print(f"{len(paths)} pictures, sizes from {smallest(paths)} to {largest(paths)}")
    print(f"{'preset':28} {'mean':>8} {'worst mean':>11} {'largest':>8}   in levels of 255")
    for idx, (name, options, side_file, transform, sd) in enumerate(ways()):
        ours = seen_by_mohs(arguments.mohs, options, side_file, paths, folder / f"w{idx}")
        scale = np.array(sd, np.float32)[:, None, None] * 255
        means, most = [], []
        for (kind, _), picture, numbers in zip(made, pictures, ours):
            difference = np.abs(transform(picture).numpy() - numbers) * scale
            means.append(difference.mean())
            most.append(difference.max())
            by_format[kind].append((difference.mean(), difference.max()))
        print(f"{name:28} {np.mean(means):8.4f} {np.max(means):11.4f} {np.max(most):8.1f}")
        is_fine &= bool(np.mean(means) <= 0.5)
    print(f"\n{'format':28} {'mean':>8} {'worst mean':>11} {'largest':>8} {'n':>6}")
    for kind, rows in by_format.items():
        rows = np.array(rows)
        print(f"{kind:28} {rows[:, 0].mean():8.4f} {rows[:, 0].max():11.4f} "
              f"{rows[:, 1].max():8.1f} {len(rows):6}")
    return is_fine


def compare_answers(arguments, made, folder):
    """Both ways into the same model: torchvision's transform and ours, at 227 pixels."""
    paths = [path for _, path in made]
    plain = {"input_size": [3, 227, 227], "crop_pct": 0.875, "interpolation": "bilinear",
             "mean": [0.0, 0.0, 0.0], "std": [1.0, 1.0, 1.0]}
    ours = seen_by_mohs(arguments.mohs, [], {"pretrained_cfg": plain}, paths, folder / "answers")
    transform = T.Compose([T.Resize(259), T.CenterCrop(227), T.ToTensor()])
    theirs = [transform(loaded(path)).numpy() for path in paths]
    pairs = list(zip(squeezenet_answers(arguments.squeezenet, ours),
                     squeezenet_answers(arguments.squeezenet, theirs)))
    n_same = sum(a == b for a, b in pairs)
    print(f"\nsame answer of the model: {n_same} of {len(pairs)} ({n_same / len(pairs):.2%})")
    return 0.999 <= n_same / len(pairs)


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def smallest(paths):
    return "×".join(map(str, min((size_of(path) for path in paths), key=lambda s: s[0] * s[1])))


def largest(paths):
    return "×".join(map(str, max((size_of(path) for path in paths), key=lambda s: s[0] * s[1])))


def speed(arguments, paths):
    """Decoding and fitting on one thread, in turn, the best of five."""
    jpegs = [path for path in paths if path.suffix.lower() in {".jpg", ".jpeg"}]
    transform = torchvision_transform(256, 224, InterpolationMode.BILINEAR, *IMAGENET)
    command = [arguments.mohs, "network", "input", "--preset", "torchvision", "--quiet"]
    ours, theirs = [], []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([*command, *map(str, jpegs)], check=True, stdout=subprocess.DEVNULL)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for path in jpegs:
            with Image.open(path) as picture:
                transform(picture.convert("RGB"))
        theirs.append(time.perf_counter() - start)
    n = len(jpegs)
    print(f"\n{n} JPEG files to numbers: mohs {min(ours) / n * 1e3:.2f} ms each (start of the program"
          f" included), torchvision {min(theirs) / n * 1e3:.2f} ms, ratio"
          f" {min(theirs) / min(ours):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mohs", default="target/release/mohs", help="the program")
    parser.add_argument("--pictures", nargs="*", default=[], help="folders with photographs")
    parser.add_argument("--packages", action="store_true", help="pictures of installed packages")
    parser.add_argument("--squeezenet", help="a model to compare answers of")
    parser.add_argument("--speed", action="store_true", help="time it, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    paths = list(found(arguments))
    if not paths:
        sys.exit("no pictures found; name folders with --pictures")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = variants(paths, folder)
        is_fine = compare(arguments, made, folder)
        if arguments.squeezenet:
            is_fine &= compare_answers(arguments, made, folder)
    if arguments.speed:
        speed(arguments, paths)
    sys.exit(0 if is_fine else 1)


if __name__ == "__main__":
    main()
