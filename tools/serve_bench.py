"""What chaos_serve.py and bench_serve.py share: studies to host, servers to start and kill, the crowd.

Not a program.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mohs" / "bench-serve"


def build():
    """Builds mohs and the crowd for release, and returns their paths."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
    what = ["-p", "mohs", "-p", "mohs-serve", "--bin", "mohs", "--example", "crowd"]
    subprocess.run(["cargo", "build", "--release", "--locked", *what], cwd=ROOT, check=True)
    return target / "mohs", target / "examples" / "crowd"


def make_study(mohs, folder, n_pictures, side, per_cell, exposures, lease_minutes=1):
    """Makes and prepares a flash study of the built-in world; returns how many trials it asks for."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    run = lambda *words: subprocess.run([mohs, *words], check=True, stderr=subprocess.DEVNULL)
    run("init", "flash", folder, "--world", str(n_pictures), "--size", str(side))
    text = (folder / "study.toml").read_text()
    kept = [line for line in text.split("\n[")[0].splitlines()]
    design = f"""
[flash]
exposures_ms = [{', '.join(str(ms) for ms in exposures)}]
participants_per_cell = {per_cell}

[prepare]
side_px = {side}

[page]
lease_minutes = {lease_minutes}
"""
    (folder / "study.toml").write_text("\n".join(kept) + design)
    run("prepare", folder)
    return n_pictures * len(exposures) * per_cell


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """`mohs serve` in a process of its own, which can be killed and started again."""

    def __init__(self, mohs, study, database, port=None):
        self.address = f"127.0.0.1:{port or free_port()}"
        self.command = [mohs, "serve", study, "--bind", self.address, "--db", database]
        self.log = open(FOLDER / "serve.log", "ab")
        self.process = None

    def start(self):
        """Starts it; returns the seconds until it is healthy."""
        begun = time.perf_counter()
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        while not is_healthy(self.address):
            if self.process.poll() is not None:
                sys.exit(f"mohs serve ended with {self.process.returncode}; see {self.log.name}")
            time.sleep(0.005)
        return time.perf_counter() - begun

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)

    def memory_mb(self):
        """Returns resident memory now and at its highest."""
        return memory_mb(self.process.pid)


def memory_mb(pid):
    words = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                 if ":" in line)
    # A process that has ended and was not asked for yet has none.
    return tuple(int(words.get(key, "0").split()[0]) / 1024 for key in ["VmRSS", "VmHWM"])


def is_healthy(address, path="/health"):
    try:
        connection = http.client.HTTPConnection(address, timeout=1)
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except OSError:
        return False


def crowd(program, address, study, **options):
    """Starts the crowd; `finish` its process to get what it says."""
    words = [program, "--address", address, "--study", study]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def finish(process):
    said, _ = process.communicate()
    if process.returncode:
        sys.exit(f"the crowd ended with {process.returncode}")
    return json.loads(said)
