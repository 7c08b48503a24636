#!/usr/bin/env python3
"""Takes part in real studies of `mohs serve` with a real browser, and looks at what was stored.

    python3 tools/test_browser.py MOHS [--only WORD] [--shots FOLDER]

Makes a small study of each task, hosts them, and lets simulated participants click, type and tap
through whole sessions in Chromium (crates/mohs-serve/page/test/browser.mjs): reloads, time offline, two
tabs, and a server that is killed and started again. Then the export is looked at: every session that
ended has all its trials, no trial stands there twice, nobody saw a picture twice, and `mohs score`
takes it. Installs the page's npm packages, and Chromium from Debian where it is missing and may be
installed; says what is missing and ends with 77 where it cannot run.
"""

import argparse
import collections
import csv
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import serve_bench as bench

PAGE = bench.ROOT / "crates" / "mohs-serve" / "page"
CANNOT_RUN = 77

COMMON = """
[page]
contact = "Vision Lab, lab@example.org"
pay = "3 €"
trials_between_breaks = 2
language = "{language}"

[prepare]
side_px = 96

[screen]
calibrate = {calibrate}
"""
DESIGNS = {
    "flash": "[flash]\nexposures_ms = [50, 250, 1000]\nparticipants_per_cell = 20\n"
             "trials_per_participant = 4\n",
    "beep": "[beep]\nbeeps_ms = [600, 900]\npractice_trials = 2\ntrials_per_block = 3\n"
            "participants = 40\ngate_trials = 0\n",
    "pairs": "[pairs]\npairs_per_stimulus = 3\njudgements_per_pair = 20\n"
             "trials_per_participant = 4\nties = true\n",
    "rate": "[rate]\nparticipants_per_stimulus = 20\ntrials_per_participant = 4\n",
}


def cannot(what):
    print(f"the browser tests cannot run here: {what}")
    sys.exit(CANNOT_RUN)


def chromium():
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("google-chrome")
    if not found and shutil.which("apt-get") and os.geteuid() == 0:
        print("installing Chromium from Debian's packages", flush=True)
        subprocess.run(["apt-get", "update", "-qq"])
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], stdout=subprocess.DEVNULL)
        found = shutil.which("chromium")
    return found or cannot("Chromium is missing; install it or name it in CHROMIUM")


def make(mohs, folder, name, task, language):
    study = folder / name
    quiet = dict(check=True, stderr=subprocess.DEVNULL)
    subprocess.run([mohs, "init", task, study, "--world", "32", "--size", "96"], **quiet)
    text = (study / "study.toml").read_text().split("\n[")[0]
    # Measuring the screen takes a while; once in each language is enough.
    calibrate = "true" if task == "flash" else "false"
    text += "\n" + DESIGNS[task] + COMMON.format(language=language, calibrate=calibrate)
    (study / "study.toml").write_text(text)
    return study


class Control(http.server.BaseHTTPRequestHandler):
    """Kills the server, and starts it again a while later."""

    server_of_studies = None

    def do_POST(self):
        self.server_of_studies.kill()
        threading.Timer(2.0, self.server_of_studies.start).start()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mohs", type=Path)
    parser.add_argument("--only", help="tests whose name matches this regular expression")
    parser.add_argument("--shots", type=Path, help="folder for screenshots")
    args = parser.parse_args()
    if not (shutil.which("node") and shutil.which("npm")):
        cannot("Node and npm are missing")
    browser = chromium()
    if not (PAGE / "node_modules").exists():
        subprocess.run(["npm", "ci", "--silent"], cwd=PAGE, check=True)
    bench.FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mohs-browser-") as folder:
        folder = Path(folder)
        mohs = args.mohs.resolve()
        studies = [make(mohs, folder, task, task, "en") for task in DESIGNS]
        studies += [make(mohs, folder, "flash-de", "flash", "de")]
        server = bench.Server(mohs, studies[0], f"sqlite:{folder}/mohs.db")
        server.command[2:3] = studies
        server.start()
        Control.server_of_studies = server
        control = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
        threading.Thread(target=control.serve_forever, daemon=True).start()
        surroundings = dict(os.environ, BASE_URL=f"http://{server.address}", CHROMIUM=browser,
                            CONTROL_URL=f"http://127.0.0.1:{control.server_port}",
                            SHOTS=str(args.shots or folder / "shots"))
        links = [line.split()[-1] for line in Path(server.log.name).read_text().splitlines()
                 if line.startswith("owner") and server.address in line]
        surroundings["ADMIN_URL"] = links[-1]
        if args.only:
            surroundings["ONLY"] = args.only
        ended = subprocess.run(["node", "test/browser.mjs"], cwd=PAGE, env=surroundings)
        server.stop()
        failures = [] if ended.returncode == 0 else ["the browser tests failed"]
        for study in studies:
            failures += look_at(mohs, study, f"sqlite:{folder}/mohs.db", folder)
    if failures:
        sys.exit("\n".join(failures))
    print("the browser's sessions are stored whole")


def look_at(mohs, study, database, folder):
    """Exports a study and returns what is wrong with it."""
    output = folder / f"{study.name}.csv"
    words = [mohs, "export", database, "--study", study.name, "--to", "csv", "--output", output]
    ended = subprocess.run(words, capture_output=True, text=True)
    if ended.returncode:
        return [f"{study.name}: mohs export: {ended.stderr}"]
    rows = list(csv.DictReader(open(output)))
    failures = []
    # A comparison is a trial, too; its table calls it so.
    ids = [row.get("trial") or row.get("comparison") for row in rows]
    if None in ids or len(set(ids)) != len(ids):
        failures.append(f"{study.name}: a trial stands twice in the export, or has no name")
    if study.name.startswith(("flash", "rate")):
        seen = collections.Counter((row["participant"], row["stimulus"]) for row in rows)
        if any(1 < n for n in seen.values()):
            failures.append(f"{study.name}: somebody saw a picture twice")
    if study.name == "flash" and rows:
        scored = subprocess.run([mohs, "score", "viewing-time", output, "--stimuli",
                                 study / "stimuli.csv"], capture_output=True, text=True)
        if scored.returncode:
            failures.append(f"mohs score: {scored.stderr}")
    print(f"{study.name}: {len(rows)} trials exported")
    return failures


if __name__ == "__main__":
    main()
