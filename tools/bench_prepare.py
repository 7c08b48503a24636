#!/usr/bin/env python3
"""Races `mohs prepare` against the same algorithm in numpy and Pillow, end to end.

    pip install numpy==2.4.6 pillow==13.0.0
    python3 tools/bench_prepare.py [--photographs 400] [--rounds 3] [--processes 2] [--mohs PATH]

A round is one process from its start to its end: read and decode every photograph, cut the square
around its box, resize it to 224 pixels (bicubic), make its phase mask (`paper`), write both as PNG
named by their SHA-256, write a table. mohs also counts flashes, which the peers do not. All
contenders do one round in turn, each into an empty folder, then all again, so that a busy machine is
busy for everybody; ratios are of medians.

The peers are one script with a pool of processes, one per core: transforms of real numbers over all
channels at once, no loop over pixels. Pillow's PNG writer is run as it is (`compress_level` 6) and
with the fastest setting that still compresses (1); the sizes of what each wrote are printed, too.

The photographs are those of the pets data set, if it lies beside the project, cut to 500 by 375
pixels, upright or not, quality 90, as most of ImageNet; boxes are drawn from a seed. Squares of the
first ten are compared byte by byte with those of mohs before the race.
"""

import argparse
import csv
import hashlib
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIDE = 224
# How much faster than the best of the peers we want to be.
WANTED = 4.0
STUDY = """version = 1
name = "race"
task = "flash"

[prepare]
crop = "box"
side_px = 224
masks = "paper"
"""


def make_photographs(folder, n_photographs):
    """Cuts photographs and draws boxes; writes stimuli.csv."""
    from PIL import Image

    pets = ROOT.parent / "shared" / "data" / "pets"
    sources = sorted(pets.rglob("*.jpg"))
    if not sources:
        sys.exit(f"no photographs in {pets}")
    dice = random.Random(1)
    (folder / "photographs").mkdir()
    rows = []
    for n in range(n_photographs):
        image = Image.open(sources[n % len(sources)]).convert("RGB")
        size = (500, 375) if n % 3 else (375, 500)
        scale = max(size[0] / image.width, size[1] / image.height) * dice.uniform(1.0, 1.3)
        image = image.resize((round(image.width * scale) + 1, round(image.height * scale) + 1))
        left = dice.randint(0, image.width - size[0])
        top = dice.randint(0, image.height - size[1])
        image = image.crop((left, top, left + size[0], top + size[1]))
        name = f"photographs/{n:04}.jpg"
        image.save(folder / name, quality=90)
        width, height = dice.randint(150, size[0]), dice.randint(150, size[1])
        box = [dice.randint(0, size[0] - width), dice.randint(0, size[1] - height), width, height]
        rows.append([f"{n:04}", name, "pet", " ".join(map(str, box))])
    with open(folder / "stimuli.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["stimulus", "file", "label", "boxes"], *rows])


def square(box):
    left, top, width, height = box
    side = max(width, height)
    left, top = left - (side - width) // 2, top - (side - height) // 2
    return left, top, left + side, top + side


def cropped(path, box):
    from PIL import Image

    return Image.open(path).convert("RGB").crop(square(box)).resize((SIDE, SIDE))


def phase_mask(pixels, rng):
    """Adds noise to the phase: half of the spectrum is enough for real numbers."""
    import numpy as np

    spectrum = np.fft.rfft2(pixels / 255.0, axes=(0, 1))
    turns = rng.random(spectrum.shape[:2])
    # The columns that are their own opposite: noise of opposite rows is opposite.
    half = SIDE // 2
    for column in (0, half):
        turns[half + 1:, column] = -turns[half - 1:0:-1, column]
        turns[[0, half], column] = 0
    spectrum *= np.exp(2j * np.pi * turns)[..., None]
    mask = np.fft.irfft2(spectrum, s=(SIDE, SIDE), axes=(0, 1))
    return np.rint(np.clip(mask, 0, 1) * 255).astype(np.uint8)


def write_png(image, folder, level):
    import io

    file = io.BytesIO()
    image.save(file, "PNG", compress_level=level)
    name = hashlib.sha256(file.getbuffer()).hexdigest()
    (folder / f"{name}.png").write_bytes(file.getbuffer())
    return name


def peer_one(job):
    import numpy as np
    from PIL import Image

    path, box, output, level = job
    source = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    image = cropped(path, box)
    rng = np.random.default_rng([1, int(source[:16], 16)])
    mask = Image.fromarray(phase_mask(np.asarray(image), rng))
    folder = Path(output)
    return write_png(image, folder, level), write_png(mask, folder, level), source


def read_jobs(folder, output, level):
    with open(folder / "stimuli.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            box = [int(number) for number in row["boxes"].split()]
            yield row["stimulus"], (str(folder / row["file"]), box, str(output), level)


def peer(folder, output, level, n_processes):
    ids, jobs = zip(*read_jobs(folder, output, level))
    with multiprocessing.Pool(n_processes) as pool:
        made = pool.map(peer_one, jobs, chunksize=8)
    with open(output / "prepared.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[stimulus, *names] for stimulus, names in zip(ids, made)])


def megabytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.png")) / 1e6


def check_squares(folder):
    """Squares of mohs and Pillow are the same, byte by byte."""
    from PIL import Image

    with open(folder / "prepared.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, (_, (path, box, _, _)) in zip(rows[:10], read_jobs(folder, folder, 1)):
        ours = Image.open(folder / "prepared" / f"{row['image_sha256']}.png").convert("RGB")
        if ours.tobytes() != cropped(path, box).tobytes():
            sys.exit(f"{path}: the squares differ")


def timed(command, environment):
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def race(arguments):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_photographs(folder, arguments.photographs)
        (folder / "study.toml").write_text(STUDY, encoding="utf-8")
        # One thread per process, so that two processes use two cores.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                       "RAYON_NUM_THREADS": str(arguments.processes)}
        seconds, sizes = {}, {}
        for number in range(arguments.rounds):
            shutil.rmtree(folder / "prepared", ignore_errors=True)
            (folder / "prepared.csv").unlink(missing_ok=True)
            spent = timed([arguments.mohs, "prepare", str(folder), "--quiet"], environment)
            seconds.setdefault("mohs", []).append(spent)
            sizes["mohs"] = megabytes(folder / "prepared")
            if number == 0:
                check_squares(folder)
            for level in (6, 1):
                output = folder / f"peer-{level}"
                shutil.rmtree(output, ignore_errors=True)
                output.mkdir()
                command = [sys.executable, __file__, "--peer", str(folder), "--output", str(output),
                           "--level", str(level), "--processes", str(arguments.processes)]
                name = f"numpy + Pillow, level {level}"
                seconds.setdefault(name, []).append(timed(command, environment))
                sizes[name] = megabytes(output)
    ours = statistics.median(seconds["mohs"])
    print(f"{arguments.photographs} photographs, {arguments.processes} threads or processes, "
          f"{arguments.rounds} rounds")
    print("| who | seconds (median) | pictures a second | ÷ mohs | MB written |")
    print("|---|---:|---:|---:|---:|")
    for name, spent in seconds.items():
        median = statistics.median(spent)
        print(f"| {name} | {median:.2f} | {arguments.photographs / median:.0f} | "
              f"{median / ours:.2f} | {sizes[name]:.1f} |")
    ratio = statistics.median(seconds["numpy + Pillow, level 6"]) / ours
    print(f"ratio to Pillow as it is: {ratio:.2f} (wanted: {WANTED})")
    return 0 if WANTED <= ratio else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photographs", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--mohs", default=str(ROOT / "target" / "release" / "mohs"))
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--level", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        peer(arguments.peer, arguments.output, arguments.level, arguments.processes)
        return 0
    return race(arguments)


if __name__ == "__main__":
    sys.exit(main())
