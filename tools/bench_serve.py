#!/usr/bin/env python3
"""Races `mohs serve` against other ways to store trials, with the same crowd on the same machine.

    python3 tools/bench_serve.py [--seconds 8] [--rounds 3] [--at-once 200] [--peers toolkit lean psiturk noop]
                                 [--no-alone]

`toolkit` is the design of the viewing-time paper's toolkit, Node + Express + Redis, with the two forms
that its page sends of each trial; `lean` the same server with one request of JSON for each trial
(tools/peers/node-redis; both need redis-server, Node and npm). `psiturk` is psiTurk 3.3.1 from PyPI with
gunicorn and SQLite, as it comes; its pyOpenSSL needs a `cryptography` before 38. Whatever is missing is
left out and named. `noop` reads a trial, forgets it and says ok: no server can be faster in front of
this crowd.

The crowd (crates/mohs-serve/examples/crowd, one thread, one keep-alive connection per participant where
the server keeps it) shares the machine with the server. Sides take turns, --rounds times, and medians
are printed: answered trials per second, median and 99th percentile of the time to the answer, memory,
what the crowd itself took of one core, and how many times more `mohs serve` does. `durable` says whether
an answer means that the trial is on disk. Then `mohs serve` alone: a steady pace of --pace submissions
per second from --sessions open sessions, cold start, memory, and the export of a million trials.
"""

import argparse
import functools
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

import serve_bench as bench


def ours(args, mohs, crowd, study):
    database = args.folder / "bench.db"
    for file in args.folder.glob("bench.db*"):
        file.unlink()
    server = bench.Server(mohs, study, f"sqlite:{database}")
    cold = server.start()
    idle, _ = server.memory_mb()
    said = bench.finish(bench.crowd(crowd, server.address, study.name, participants=10**7,
                                    at_once=args.at_once, seconds=args.seconds))
    _, peak = server.memory_mb()
    server.stop()
    return dict(said, memory_mb=peak, cold_start_s=cold, idle_mb=idle)


def node_redis(args, crowd, peer, wait):
    folder = bench.ROOT / "tools" / "peers" / "node-redis"
    if not all(shutil.which(name) for name in ["redis-server", "node", "npm"]):
        return None
    lock, installed = folder / "package-lock.json", folder / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run(["npm", "ci", "--silent"], cwd=folder, check=True)
    store = args.folder / "redis"
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir()
    port, redis_port = bench.free_port(), bench.free_port()
    durable = ["--appendonly", "yes", "--appendfsync", "always"] if wait else []
    redis = subprocess.Popen(["redis-server", "--port", str(redis_port), "--dir", store, *durable],
                             stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    surroundings = dict(os.environ, PORT=str(port), REDIS_PORT=str(redis_port))
    if wait:
        surroundings["WAIT"] = "1"
    node = subprocess.Popen(["node", "server.mjs"], cwd=folder, env=surroundings,
                            stdout=subprocess.DEVNULL)
    return against(args, crowd, peer, port, "/count", [node, redis])


def psiturk(args, crowd):
    home = args.folder / "venv-psiturk"
    if not (home / "bin" / "psiturk").exists():
        venv.create(home, with_pip=True)
        # Its pyOpenSSL asks newer versions of cryptography for names that are gone.
        subprocess.run([home / "bin" / "pip", "install", "-q", "psiturk==3.3.1", "cryptography<38"],
                       check=True)
    example = args.folder / "psiturk-example"
    shutil.rmtree(example, ignore_errors=True)
    subprocess.run([home / "bin" / "psiturk-setup-example"], cwd=args.folder, check=True,
                   stdout=subprocess.DEVNULL)
    port = bench.free_port()
    surroundings = dict(os.environ, PSITURK_PORT=str(port), PSITURK_HOST="127.0.0.1",
                        PSITURK_THREADS="2", PSITURK_LOGLEVEL="4", PSITURK_ERRORLOG="/dev/null",
                        PSITURK_ACCESSLOG="/dev/null", PSITURK_LOGFILE="/dev/null")
    server = subprocess.Popen(
        [home / "bin" / "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2",
         "--log-level", "critical", "psiturk.experiment:app"],
        cwd=example, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return against(args, crowd, "psiturk", port, "/", [server])


def noop(args, crowd):
    port = bench.free_port()
    server = subprocess.Popen([crowd, "--noop", f"127.0.0.1:{port}"])
    return against(args, crowd, "lean", port, "/count", [server])


def against(args, crowd, peer, port, path, processes):
    address = f"127.0.0.1:{port}"
    try:
        for _ in range(200):
            if bench.is_healthy(address, path):
                break
            time.sleep(0.1)
        else:
            return None
        said = bench.finish(bench.crowd(crowd, address, "-", participants=10**7, peer=peer,
                                        at_once=args.at_once, seconds=args.seconds))
        memory = sum(bench.memory_mb(pid)[1] for process in processes
                     for pid in [process.pid, *children(process.pid)])
        return dict(said, memory_mb=memory)
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


# What a server gets for each trial, and what it does before it answers.
DOES = {
    "mohs serve": "one request: the sealed report of the trial and the start of the next, as the page "
                  "sends them; token and hashes checked, answer checked against the plan, journal "
                  "synced to disk; besides, joining, four requests for plans, the first start of each "
                  "block and the completion code per 54 trials",
    "reference toolkit (Node + Express + Redis)":
        "two requests, as its page sends them: how far the participant is, which is stored, and the "
        "answer, which is printed and handed to Redis in two writes that nobody waits for; HTTPS, which "
        "the toolkit insists on, is left out",
    "the same, waiting for a log that is synced":
        "the same two requests; all writes are waited for, Redis syncs its log",
    "leaner than the toolkit: one request, nothing printed":
        "one request: the trial as JSON; two writes are handed to Redis, none is waited for",
    "the leaner one, waiting for a log that is synced":
        "one request: the trial as JSON; both writes are waited for, Redis syncs its log",
    "psiTurk 3.3.1, SQLite": "one request: all trials so far, as its page sends them",
    "a server that does nothing": "one request: the trial, read and forgotten",
}

# What is sent to Node + Express + Redis, and whether it waits for what it stores.
NODE_REDIS = {
    "reference toolkit (Node + Express + Redis)": ("toolkit", False),
    "the same, waiting for a log that is synced": ("toolkit", True),
    "leaner than the toolkit: one request, nothing printed": ("lean", False),
    "the leaner one, waiting for a log that is synced": ("lean", True),
}


def median_of(rounds, key):
    return statistics.median(said[key] for said in rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--pace", type=float, default=2500)
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--arrivals", type=float, default=200, help="sessions that begin per second")
    parser.add_argument("--peers", nargs="*", default=["toolkit", "lean", "psiturk", "noop"])
    parser.add_argument("--no-alone", action="store_true", help="only the race")
    parser.add_argument("--folder", type=Path, default=bench.FOLDER / "race")
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    mohs, crowd = bench.build()
    study = args.folder / "race"
    # Large enough that nobody runs out of trials.
    bench.make_study(mohs, study, 1000, 32, 1000, [17, 50, 100, 250], lease_minutes=30)
    print(f"load {os.getloadavg()[0]:.1f} at the start; {args.at_once} participants at once, "
          f"{args.rounds} rounds of {args.seconds:.0f} s each, medians\n", flush=True)
    sides = [("mohs serve", "yes", lambda: ours(args, mohs, crowd, study))]
    for name, (peer, wait) in NODE_REDIS.items():
        if peer in args.peers:
            race = functools.partial(node_redis, args, crowd, peer, wait)
            sides += [(name, "yes" if wait else "no", race)]
    if "psiturk" in args.peers:
        sides += [("psiTurk 3.3.1, SQLite", "yes", lambda: psiturk(args, crowd))]
    if "noop" in args.peers:
        sides += [("a server that does nothing", "no", lambda: noop(args, crowd))]
    rounds = {name: [] for name, _, _ in sides}
    for _ in range(args.rounds):
        for name, _, race in sides:
            said = race()
            if said is not None:
                rounds[name].append(said)
                print(f"    {name}: {said['acked_per_second']:.0f}/s, p99 {said['p99_ms']:.0f} ms",
                      file=sys.stderr, flush=True)
    best = median_of(rounds["mohs serve"], "acked_per_second")
    print("| server | durable | trials/s | p50 ms | p99 ms | memory MB | crowd, of one core | "
          "mohs is faster by |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name, durable, _ in sides:
        told = rounds[name]
        if not told:
            print(f"| {name} | {durable} | could not be started | | | | | |")
            continue
        per_second = median_of(told, "acked_per_second")
        share = statistics.median(said["crowd_cpu_s"] / said["seconds"] for said in told)
        print(f"| {name} | {durable} | {per_second:.0f} | {median_of(told, 'p50_ms'):.1f} | "
              f"{median_of(told, 'p99_ms'):.1f} | {median_of(told, 'memory_mb'):.0f} | {share:.0%} | "
              f"{best / per_second:.1f} |")
    print("\nper trial:")
    for name, _, _ in sides:
        print(f"- {name}: {DOES[name]}")
    if not args.no_alone:
        alone(args, mohs, crowd, study, rounds["mohs serve"][-1])


def alone(args, mohs, crowd, study, told):
    print(f"\nmohs serve alone: cold start {told['cold_start_s']:.2f} s, idle {told['idle_mb']:.0f} MB")
    database = args.folder / "pace.db"
    for file in args.folder.glob("pace.db*"):
        file.unlink()
    server = bench.Server(mohs, study, f"sqlite:{database}")
    server.start()
    said = bench.finish(bench.crowd(crowd, server.address, study.name, participants=10**7,
                                    at_once=args.sessions, per_second=args.pace,
                                    arrivals=args.arrivals,
                                    seconds=args.seconds + args.sessions / args.arrivals))
    _, peak = server.memory_mb()
    server.stop()
    steady = said["steady"]
    print(f"{args.sessions} open sessions, {args.arrivals:.0f} begun per second, then a pace of "
          f"{args.pace:.0f}/s: {steady['acked_in_median_second']}/s acked in the median second, p50 "
          f"{steady['p50_ms']:.1f} ms, p99 {steady['p99_ms']:.1f} ms; with the time in which they came "
          f"p99 {said['p99_ms']:.1f} ms; memory {peak:.0f} MB, refusals {json.dumps(said['refusals'])}")

    export(args, mohs, study.name, database)


def export(args, mohs, study, database, n_trials=1_000_000):
    """Copies what was answered until there are a million trials, and times their export."""
    connection = sqlite3.connect(database)
    columns = [row[1] for row in connection.execute("pragma table_info(trial)")]
    others = ", ".join(name for name in columns if name not in ["trial", "session"])
    answered = "is_counted = 1 and onset_ms is not null"
    n = connection.execute(f"select count(*) from trial where {answered}").fetchone()[0]
    connection.execute(f"create temp table source as select * from trial where {answered}")
    for copy in range(1, -(-n_trials // n)):
        connection.execute(f"insert into trial (trial, session, {others}) select trial || '-{copy}', "
                           f"session || '-{copy}', {others} from source limit {n_trials - copy * n}")
    connection.commit()
    connection.close()
    for kind in ["csv", "parquet"]:
        output = args.folder / f"trials.{kind}"
        output.unlink(missing_ok=True)
        begun = time.perf_counter()
        process = subprocess.Popen([mohs, "export", f"sqlite:{database}", "--study", study, "--to", kind,
                                    "--output", output], stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - begun
        print(f"export of {n_trials:,} trials as {kind}: {took:.1f} s, {usage.ru_maxrss / 1024:.0f} MB, "
              f"file {output.stat().st_size / 1e6:.0f} MB, exit {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
