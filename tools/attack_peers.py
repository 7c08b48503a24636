"""What the tools about attacks share: both versions of torchattacks in one process, ONNX files as
torch modules, the grid of epsilons, and the settings of the presets.

Not a program. See make_attack_fixtures.py, check_attacks.py and bench_attack.py.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"

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
