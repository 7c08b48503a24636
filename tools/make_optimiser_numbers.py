#!/usr/bin/env python3
"""Prints what PyTorch's optimisers do in five steps, as Rust, for the test in mohs-vision's
`fit/optimiser.rs`.

    python3 tools/make_optimiser_numbers.py

Needs torch (tools/requirements-networks.txt). The problem is the one in the test: half the weighted squared distance to a goal, from a fixed start, in 32 bits.
"""

import torch

CASES = [
    ("&sgd(0.0, false, 0.0)", torch.optim.SGD, dict(lr=0.1)),
    ("&sgd(0.9, false, 0.0)", torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    ("&sgd(0.9, false, 0.01)", torch.optim.SGD, dict(lr=0.1, momentum=0.9, weight_decay=0.01)),
    (
        "&sgd(0.9, true, 0.01)",
        torch.optim.SGD,
        dict(lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    ),
    ("&Optimiser::Adam(adam(0.0))", torch.optim.Adam, dict(lr=0.05)),
    ("&Optimiser::Adam(adam(0.1))", torch.optim.Adam, dict(lr=0.05, weight_decay=0.1)),
    ("&Optimiser::Adamw(adam(0.1))", torch.optim.AdamW, dict(lr=0.05, weight_decay=0.1)),
]


def after_five_steps(kind, settings):
    weight = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    steepness, goal = torch.tensor([1.0, 0.3, 4.0]), torch.tensor([0.2, 0.1, -0.4])
    optimiser = kind([weight], **settings)
    for _ in range(5):
        optimiser.zero_grad()
        (0.5 * steepness * (weight - goal) ** 2).sum().backward()
        optimiser.step()
    return weight.tolist()


print(f"// Made by tools/make_optimiser_numbers.py with torch {torch.__version__}.")
for call, kind, settings in CASES:
    numbers = ", ".join(f"{number:.7}" for number in after_five_steps(kind, settings))
    print(f"    check({call}, [{numbers}]);")
