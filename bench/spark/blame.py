"""Tests on a real Spark whether a master names the application that takes processors from another.

Two executors of the slowed application compute on this machine. In every other run, a noisy application computes on
more threads than there are processors. An answer is correct if `tidemark why` names processors and the noisy
application first. Without the noisy application, an answer is correct if it names no application.
"""

import argparse
import json
import os
import subprocess
import time

import cluster
import why

VICTIM = ("8", "3")  # number of tasks, and the processor seconds of each


def start(spark, name, address, words, more=()):
    """Starts a reporting application as a process."""
    events = spark.folder / f"events-{name}-{time.monotonic_ns()}"
    events.mkdir()
    command = spark.submit([*more, "--name", name, "--class", "org.tidemark.bench.Spin", str(spark.jobs_jar()), *words],
                           cluster.reporting_to(address), events)
    with open(f"{events}.log", "w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                                env=spark.environment(), cwd=spark.folder)


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
            cluster.measure.end_group(victim)
        if code != 0:
            raise SystemExit(f"the victim failed with {code}")
        seconds = time.monotonic() - began
    finally:
        if noisy:
            cluster.measure.end_group(noisy)
    return {"seconds": seconds, **why.answer(asked, victim_id, noisy_id)}


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
    result = {"context": cluster.measure.context(), "version": arguments.version, "induced": why.figures(runs),
              "runs": runs}
    cluster.measure.keep(arguments.json, result)
    print(json.dumps(result["induced"]))


if __name__ == "__main__":
    main()
