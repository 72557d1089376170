#!/usr/bin/env python3
"""Attacks a real `tidemark serve` and measures its effect on the master and on a legitimate job.

usage: run_attack.py TIDEMARK [--seconds N] [--json FILE] [--no-goals] [--air X] [--any-time] [ATTACK...]

Prints one line for each attack (default: all). The exit code is 1 if a goal is missed: at most 150 MB more
memory, 99 of 100 acknowledgements of the legitimate job within 100 ms, and an answer within 2 s after the
attack. --no-goals only measures. --air multiplies the limits by X. --any-time removes the time limits, since times
depend on the machine. The job must still be served. In the JSON, null means never.
"""

import argparse
import json
import math
import multiprocessing
import resource
import sys
import time

import attacks
from good_job import GoodJob, time_until_served
from master import Master

MEMORY_MB_MAX = 150
ACK_P99_MS_MAX = 100
RECOVERED_S_MAX = 2

# Each attack with the options for its master, and its additional goals.
ATTACKS = {
    "idle_1200_of_1024": (attacks.idle(1200), {"descriptors": 1024}, {}),
    "idle_4300_of_4096_mutual_tls": (attacks.idle(4300), {"mutual_tls": True}, {}),
    "reset_flood": (attacks.reset_flood, {}, {}),
    "continuation_flood": (attacks.continuation_flood, {}, {}),
    "split_literals": (attacks.split_literals, {}, {}),
    "open_calls": (attacks.open_calls, {}, {}),
    "slow_bodies": (attacks.slow_bodies, {}, {}),
    "token_guesses": (attacks.token_guesses, {}, {"guesses_per_s": 200}),
    "idle_metrics": (attacks.idle_metrics, {"metrics": True}, {"scrape_s": 1}),
    # The job takes about 120 MB. Responses and updates that are being sent take up to 64 MiB each.
    "page_readers": (attacks.page_readers, {"page": True},
                     {"memory_mb": 450, "good_ack_max_ms": 1000}),
}


def p99(values):
    return sorted(values)[int(0.99 * (len(values) - 1))]


def attack_in_a_process(attack, master, seconds):
    """Runs the attack in its own interpreter."""
    ours, theirs = multiprocessing.Pipe()
    attacker = multiprocessing.Process(
        target=lambda: theirs.send(attack(master, time.monotonic() + seconds)))
    attacker.start()
    told = ours.recv() if ours.poll(seconds + 60) else {}
    attacker.terminate()
    attacker.join()
    return told


def run(program, name, seconds):
    attack, options, _ = ATTACKS[name]
    with Master(program, **options) as master:
        job = GoodJob(master)
        time.sleep(0.3)
        before, cpu_before = master.memory_mb(), master.cpu_s()
        told = attack_in_a_process(attack, master, seconds)
        latencies = job.latencies_s()
        recovered = time_until_served(master) if master.lives() else float("inf")
        result = {
            "rss_mb_before": before,
            "rss_mb_after": master.memory_mb("VmHWM"),  # peak memory
            "good_ack_p99_ms": 1000 * p99(latencies),
            "good_ack_max_ms": 1000 * max(latencies),
            "recovered_s": recovered,
            "cpu_s": master.cpu_s() - cpu_before,
            **told,
        }
    return {key: round(value, 3) if math.isfinite(value) else None for key, value in result.items()}


def missed(name, result, air, any_time):
    goals = {"memory_mb": MEMORY_MB_MAX, "good_ack_p99_ms": ACK_P99_MS_MAX,
             "recovered_s": RECOVERED_S_MAX, **ATTACKS[name][2]}
    got = {**result, "memory_mb": result["rss_mb_after"] - result["rss_mb_before"]}
    if any_time:
        goals = {key: math.inf if key.endswith(("_s", "_ms")) and "_per_" not in key else most
                 for key, most in goals.items()}
    return [f"{key} {got.get(key)}, allowed {air * most:g}" for key, most in goals.items()
            if got.get(key) is None or got[key] > air * most]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--json")
    parser.add_argument("--no-goals", action="store_true")
    parser.add_argument("--air", type=float, default=1)
    parser.add_argument("--any-time", action="store_true")
    arguments = parser.parse_intermixed_args()
    for name in arguments.names:
        if name not in ATTACKS:
            parser.error(f"no attack {name}; there are: {' '.join(ATTACKS)}")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    results = {}
    faults = []
    for name in arguments.names or ATTACKS:
        results[name] = run(arguments.program, name, arguments.seconds)
        print(name, json.dumps(results[name]), flush=True)
        if not arguments.no_goals:
            faults += [f"{name}: {fault}" for fault in missed(name, results[name], arguments.air, arguments.any_time)]
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=2)
            file.write("\n")
    for fault in faults:
        print("MISSED", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
