#!/usr/bin/env python3
"""Writes what numpy and Pillow make of small pictures by the rules of `mohs prepare`, for tests
without Python.

The pictures are made by a formula that the tests know, too, so only noise and results are stored:

    pip install numpy==2.4.6 pillow==13.0.0
    python tools/make_stimulus_fixtures.py crates/mohs-vision/tests/fixtures/stimulus.json

Sizes are width, height. Bytes are base64: of 8-bit pictures red, green, blue, row by row; noise is
64-bit floats. Everything is written straight from the rules, with numpy's plain transforms, and
shares no trick with the Rust code.
"""

import argparse
import base64
import json
import math

import numpy as np
import PIL
from PIL import Image


def picture(kind, width, height):
    """The formula: `busy` jumps from pixel to pixel, `calm` changes slowly."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    if kind == "busy":
        levels = (x * 37 + y * 101 + c * 59 + x * y * 7) % 256
    else:
        levels = (x * 5 * (c + 1) + y * 3) // 2 % 256
    return levels.astype(np.uint8)


def text(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def square(size, boxes, crop):
    width, height = size
    left, top, right, bottom = 0, 0, width, height
    if crop == "box" and boxes:
        left = max(0, math.floor(min(box[0] for box in boxes)))
        top = max(0, math.floor(min(box[1] for box in boxes)))
        right = min(width, math.ceil(max(box[0] + box[2] for box in boxes)))
        bottom = min(height, math.ceil(max(box[1] + box[3] for box in boxes)))
    elif crop == "centre":
        side = min(width, height)
        left, top = (width - side) // 2, (height - side) // 2
        right, bottom = left + side, top + side
    side = max(right - left, bottom - top)
    left -= (side - (right - left)) // 2
    top -= (side - (bottom - top)) // 2
    return left, top, left + side, top + side


def crops():
    cases = []
    for kind, size, boxes, crop, side in [
        ("busy", (40, 30), [[10, 5, 12, 20]], "box", 16),
        ("busy", (40, 30), [[0, 0, 9, 25]], "box", 16),
        ("busy", (40, 30), [[25.5, 10.2, 30, 4]], "box", 16),
        ("calm", (40, 30), [[3, 3, 5, 5], [20, 10, 4, 15]], "box", 20),
        ("calm", (11, 7), [[2, 2, 3, 4]], "box", 24),
        ("busy", (23, 41), [], "box", 16),
        ("calm", (23, 41), [], "whole", 30),
        ("busy", (41, 24), [], "whole", 16),
        ("busy", (41, 24), [[0, 0, 3, 3]], "centre", 16),
        ("calm", (24, 41), [], "centre", 24),
    ]:
        image = Image.fromarray(picture(kind, *size), "RGB")
        cut = image.crop(square(size, boxes, crop)).resize((side, side))
        cases.append({
            "picture": kind, "size": size, "boxes": boxes, "crop": crop, "side": side,
            "bytes": text(np.asarray(cut)),
        })
    return cases


def turns(side, rng):
    """Uniform numbers, opposite for opposite frequencies."""
    drawn = rng.random((side, side))
    turns = np.zeros((side, side))
    for row in range(side):
        for column in range(side):
            opposite = (-row % side, -column % side)
            if (row, column) < opposite:
                turns[row, column] = drawn[row, column]
                turns[opposite] = -drawn[row, column]
    return turns


def paper_masks(rng):
    cases = []
    for kind, side in [("busy", 7), ("calm", 12), ("busy", 16), ("calm", 21)]:
        image = picture(kind, side, side) / 255
        noise = turns(side, rng)
        planes = []
        for channel in range(3):
            spectrum = np.fft.fft2(image[..., channel])
            amplitude, phase = np.abs(spectrum), np.angle(spectrum)
            turned = np.fft.ifft2(amplitude * np.exp(1j * (phase + 2 * np.pi * noise)))
            assert np.abs(turned.imag).max() < 1e-12
            planes.append(turned.real)
        mask = np.round(np.clip(np.stack(planes, -1), 0, 1) * 255).astype(np.uint8)
        cases.append({"picture": kind, "side": side, "noise": text(noise), "bytes": text(mask)})
    return cases


def code_masks(rng):
    """As phase_scramble.py of the viewing-time toolkit does it."""
    cases = []
    for kind, side in [("busy", 7), ("calm", 12), ("busy", 16), ("calm", 21)]:
        image = picture(kind, side, side) / 255
        noise = rng.standard_normal((3, side, side))
        planes = []
        for channel in range(3):
            amplitude = np.abs(np.fft.fft2(image[..., channel]))
            phase = np.angle(np.fft.fft2(noise[channel]))
            plane = np.real(np.fft.ifft2(amplitude * np.exp(1j * phase)))
            planes.append((plane - plane.min()) / (plane.max() - plane.min()))
        mask = (np.stack(planes, -1) * 255).astype(np.uint8)
        cases.append({"picture": kind, "side": side, "noise": text(noise), "bytes": text(mask)})
    return cases


def blurred(plane, sigma):
    radius = math.ceil(3 * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    for axis in (1, 0):
        width = [(radius, radius) if side == axis else (0, 0) for side in (0, 1)]
        padded = np.pad(plane, width, mode="reflect")
        plane = np.apply_along_axis(lambda row: np.convolve(row, weights, "valid"), axis, padded)
    return plane


def degradations():
    cases = []
    for kind in ("busy", "calm"):
        levels = picture(kind, 18, 18)
        grey = np.asarray(Image.fromarray(levels, "RGB").convert("L")) / 255
        shifted = grey - grey.mean() + 0.5
        made = {("gray", None): np.repeat(grey[..., None], 3, -1)}
        for contrast in (0.2, 0.6):
            pulled = contrast * shifted + (1 - contrast) * 0.9999 * shifted.mean()
            made["contrast", contrast] = np.repeat(np.clip(pulled, 0, 1)[..., None], 3, -1)
        for sigma in (0.7, 3.0):
            planes = [blurred(levels[..., channel] / 255, sigma) for channel in range(3)]
            made["blur", sigma] = np.stack(planes, -1)
        for (degradation, amount), numbers in made.items():
            shown = np.round(np.clip(numbers, 0, 1) * 255).astype(np.uint8)
            cases.append({
                "picture": kind, "side": 18, "kind": degradation, "amount": amount,
                "bytes": text(shown),
            })
    return cases


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("output")
    output = arguments.parse_args().output
    rng = np.random.default_rng(7)
    fixtures = {
        "made_with": f"numpy {np.__version__}, Pillow {PIL.__version__}",
        "crops": crops(),
        "paper_masks": paper_masks(rng),
        "code_masks": code_masks(rng),
        "degradations": degradations(),
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(fixtures, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
