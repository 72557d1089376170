"""Tests on a real Spark whether a master names the application that takes processors from another.

Two executors of the slowed application compute on this machine. In every other run, a noisy application computes on
more threads than there are processors. A run counts as right if `tidemark why` names processors and the noisy
application first, or no application in runs without it.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import time

import cluster
import why

VICTIM = ("8", "3")  # tasks, seconds of a processor each


def start(spark, name, address, words, more=()):
    """A reporting application, as a process."""
    events = spark.folder / f"events-{name}-{time.monotonic_ns()}"
    events.mkdir()
    settings = {"spark.jars": str(cluster.CONNECTOR), "spark.plugins": "org.tidemark.spark.TidemarkPlugin",
                "spark.tidemark.master": address}
    command = spark.submit([*more, "--name", name, "--class", "org.tidemark.bench.Spin", str(spark.jobs_jar()), *words],
                           settings, events)
    with open(f"{events}.log", "w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                                env=spark.environment(), cwd=spark.folder)


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    process.wait()


def run(spark, asked, is_noisy):
    known = asked.jobs()
    noisy = noisy_id = None
    try:
        if is_noisy:
            threads = 2 * (os.cpu_count() or 1)
            noisy = start(spark, "noisy", asked.address, (str(threads), "600"),
                          ("--master", f"local-cluster[1,{threads},{cluster.EXECUTOR_MEGABYTES}]"))
            noisy_id = asked.wait_for("noisy", known)
            time.sleep(5)
        began = time.monotonic()
        victim = start(spark, "victim", asked.address, VICTIM)
        try:
            victim_id = asked.wait_for("victim", known)
            code = victim.wait(cluster.PATIENCE_SECONDS)
        finally:
            stop(victim)
        if code != 0:
            raise SystemExit(f"the victim failed with {code}")
        seconds = time.monotonic() - began
    finally:
        if noisy:
            stop(noisy)
    time.sleep(why.SETTLED_SECONDS)
    queries = asked.why(victim_id)
    others = why.other_jobs(queries, victim_id)
    unreported = sum(culprit["seconds"] for culprit in why.culprits(queries) if culprit.get("unreported"))
    found = {"noisy": is_noisy, "seconds": seconds, "processor_wait_seconds": why.waited(queries, "processor"),
             "unreported_seconds": unreported, "culprits": others[:3]}
    if is_noisy:
        found["right"] = bool(others) and (others[0].get("job_id") == noisy_id and others[0]["resource"] == "processor")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="3.5.7", help="version of Spark")
    parser.add_argument("--runs", type=int, default=10, help="runs with the noisy application; as many run without it")
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", default=cluster.BUILD / "blame.json", help="output file")
    arguments = parser.parse_args()
    cluster.measure.end_when_cut()
    cluster.build_connector()
    runs = []
    with cluster.Spark(arguments.version, arguments.tidemark) as spark, \
            cluster.measure.master(arguments.tidemark) as address:
        for number in range(2 * arguments.runs):
            runs.append(run(spark, why.Asked([arguments.tidemark], address), number % 2 == 0))
            print(json.dumps(runs[-1]), flush=True)
    noisy = [one for one in runs if one["noisy"]]
    quiet = [one for one in runs if not one["noisy"]]
    result = {"context": cluster.measure.context(), "version": arguments.version,
              "induced": {"right": sum(one["right"] for one in noisy), "of": len(noisy),
                          "false_blame": sum(bool(one["culprits"]) for one in quiet), "quiet": len(quiet)},
              "runs": runs}
    pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["induced"]))


if __name__ == "__main__":
    main()
