#!/usr/bin/env python3
"""Attacks a running `mohs serve` along its own OpenAPI document, and looks at what it gave away.

    python3 tools/fuzz_serve.py [MOHS] [--seconds 120]

A victim joins a study and does its practice. Then schemathesis (from PyPI, in a folder of its own) makes
up requests from /openapi.json for so many seconds, well-formed and broken, to the API and the pages,
with the token of another participant and without any. Ends with 1 if an answer was a 5xx or none at
all, if one is not as the document says, if any answer held something that belongs to the victim, or if
anything of the victim's changed in the database or in the answers to the victim.
"""

import argparse
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

import serve_bench as bench

# What is said of requests: that broken ones are refused and good ones taken is for our own tests,
# because a document cannot say that a session's token must fit its address.
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,"
          "response_schema_conformance,unsupported_method,ignored_auth")
SCREEN = {"period_ms": 1000 / 60, "period_mad_ms": 0.05, "share_late": 0, "width_px": 1280,
          "height_px": 800, "pixel_ratio": 1, "is_fullscreen": True, "is_isolated": True}


def schemathesis():
    home = bench.FOLDER / "venv-schemathesis"
    program = home / "bin" / "schemathesis"
    if not program.exists():
        venv.create(home, with_pip=True)
        subprocess.run([home / "bin" / "pip", "install", "-q", "schemathesis>=4.32,<5"], check=True)
    return program


def post(address, path, body, token=None):
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"http://{address}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def join(address, study, who):
    return post(address, f"/api/studies/{study}/join",
                {"recruiter": "link", "recruiter_id": who, "browser": "chromium", "system": "linux"})


def agree(address, joined):
    """Stores the consent of a session that has just begun: nobody is shown anything before."""
    body = json.dumps({"kind": "page", "at_ms": 1, "page": "consent", "choices": {}})
    start = hashlib.sha256(f"{joined['session']}/{joined['epoch']}".encode()).hexdigest()
    event = {"seq": 1, "body": body, "hash": hashlib.sha256((start + body).encode()).hexdigest()}
    post(address, f"/api/sessions/{joined['session']}/events", {"events": [event]}, joined["token"])


def describe(address, folder, known):
    """Writes the server's document with addresses that exist, so that requests come further."""
    with urllib.request.urlopen(f"http://{address}/openapi.json") as answer:
        document = json.load(answer)
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                parameter["schema"]["enum"] = known[parameter["name"]]
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    return path


def rows_of(database, session):
    """Returns everything the database has of a session."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        tables = ["session", "epoch", "event", "trial"]
        found = {table: connection.execute(f"select * from {table} where session = ? order by 1, 2",
                                           [session]).fetchall() for table in tables}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mohs", type=Path, nargs="?", help="built here when not given")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--folder", type=Path, default=bench.FOLDER / "fuzz")
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    program = schemathesis()
    mohs = args.mohs.resolve() if args.mohs else bench.build()[0]
    study = args.folder / "fuzzed"
    # Leases outlive the attack, so that what changes is the attacker's doing.
    bench.make_study(mohs, study, 40, 32, 50, [50, 250], lease_minutes=600)
    database = study / "mohs.db"
    server = bench.Server(mohs, study, f"sqlite:{database}")
    server.start()
    victim = join(server.address, study.name, "victim")
    agree(server.address, victim)
    block = post(server.address, f"/api/sessions/{victim['session']}/block", {"screen": SCREEN},
                 victim["token"])
    attacker = join(server.address, study.name, "attacker")
    before = rows_of(database, victim["session"])
    document = describe(server.address, args.folder, {
        "study": [study.name, "nobody"], "session": [attacker["session"], victim["session"], "nobody"],
        "file": ["flash.js", "page.css", block["block"]["trials"][0]["image"] + ".png", "../mohs.db"]})
    log = args.folder / "requests.ndjson"
    failures = []
    for who, header in [("another participant", ["-H", f"Authorization: Bearer {attacker['token']}"]),
                        ("nobody", [])]:
        print(f"\nas {who}", flush=True)
        log.unlink(missing_ok=True)
        done = subprocess.run(
            [program, "run", document, "--url", f"http://{server.address}", "--checks", CHECKS,
             "--max-time", str(args.seconds), "--continue-on-failure", "--report", "ndjson",
             "--report-ndjson-path", log, "--output-sanitize", "false", "--suppress-health-check",
             "all", "--generation-database", "none", *header],
            cwd=args.folder, env=dict(os.environ, NO_COLOR="1"))
        if done.returncode:
            failures.append(f"schemathesis found something as {who}")
        text = log.read_text()
        # The victim's address is in the requests; what lies behind it must not be in the answers.
        secrets = [victim["token"], *(trial["trial"] for trial in block["block"]["trials"])]
        failures += [f"an answer to {who} holds {secret}" for secret in secrets if secret in text]
        print(f"{text.count(chr(10))} lines of requests and answers were looked through")
    if rows_of(database, victim["session"]) != before:
        failures.append("something of the victim's changed in the database")
    again = post(server.address, f"/api/sessions/{victim['session']}/block", {"screen": SCREEN},
                 victim["token"])
    if again != block:
        failures.append("the victim is shown something else than before")
    if server.process.poll() is not None:
        failures.append(f"the server ended with {server.process.returncode}")
    else:
        server.stop()
    if failures:
        sys.exit("\n".join(failures))
    print("no 5xx, nothing of the victim's was given away or changed")


if __name__ == "__main__":
    main()
