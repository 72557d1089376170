#!/usr/bin/env python3
"""Measures the overhead of the connector for Spark, in pairs of runs with and without it.

Each pair runs in alternating order on two executors in separate processes, with a master on the same machine and no
watcher. The slowdown is with / without - 1, for the duration in Spark's event log and for the processor time of all
processes, which other load of the machine disturbs less. The cost of a shuffled record comes from an application that
does little else, with the connector and with its key groups. The cost of a task at the driver is the processor time of
the thread that passes events to the connector, minus that of a thread that passes them to an empty listener.
usage: ./dev bench spark_slowdown [--json FILE] [--pairs N] [--record-pairs N] [--tasks N] [--version V]
                                  [--jobs NAME...] [--scale X]
"""

import argparse
import tempfile

import applications
import cluster
import judge

# Applications that take half a minute to two minutes. The pairs use them in turn.
JOBS = ("aggregate", "groups", "query", "pagerank", "skew-join-aqe")
# Settings of each kind of run, in addition to those for reports.
PLAIN, CONNECTED, KEYS = None, {}, {"spark.tidemark.keys": "true"}


def run(spark, words, settings, address, kind):
    """Returns the duration and the processor time of the application, in seconds."""
    if kind is not PLAIN:
        settings = {**settings, **cluster.reporting_to(address), **kind}
    ended = spark.run(words, settings)
    log = judge.TasksDone(ended.events)
    return {"job": log.end - log.begin, "processor": ended.processor_seconds, "out": ended.out}


def runs_of(spark, words, settings, address, kinds):
    """Runs the applications sequentially."""
    runs = {name: run(spark, words, settings, address, kind) for name, kind in kinds}
    outs = {one.pop("out") for one in runs.values()}
    if len(outs) != 1:
        raise SystemExit(f"the output is not the same with the connector: {outs}")
    return runs


def ratio(runs, kind, measure):
    return runs[kind][measure] / runs["plain"][measure] - 1


def pairs(spark, address, arguments):
    kinds = [("plain", PLAIN), ("connected", CONNECTED)]
    for pair in range(arguments.pairs):
        name = arguments.jobs[pair % len(arguments.jobs)]
        # Each kind of run comes first equally often.
        order = kinds if (pair + pair // len(arguments.jobs)) % 2 == 0 else kinds[::-1]
        runs = runs_of(spark, *applications.words_of(spark, name, arguments.scale), address, order)
        print(f"{name}, pair {pair + 1} of {arguments.pairs}, {runs['plain']['job']:.0f} s: " +
              ", ".join(f"{measure} {100 * ratio(runs, 'connected', measure):+.1f} %"
                        for measure in ("job", "processor")), flush=True)
        yield {"application": name, **runs}


def records(spark, address, arguments):
    kinds = [("plain", PLAIN), ("connected", CONNECTED), ("keys", KEYS)]
    words = ["--name", "records", "--class", "org.tidemark.bench.Records", str(spark.jobs_jar()),
             f"{arguments.scale:g}"]
    for pair in range(arguments.record_pairs):
        turn = pair % len(kinds)
        runs = runs_of(spark, words, {}, address, kinds[turn:] + kinds[:turn])
        print(f"records, {pair + 1} of {arguments.record_pairs}, {runs['plain']['processor']:.0f} s of "
              "processors: " + ", ".join(f"{kind} {100 * ratio(runs, kind, 'processor'):+.1f} %"
                                         for kind in ("connected", "keys")), flush=True)
        yield runs


def micros_of_a_task_end(spark, address, tasks):
    words = ["--name", "tasks", "--class", "org.tidemark.bench.Tasks", str(spark.jobs_jar()), str(tasks)]
    out = run(spark, words, {}, address, CONNECTED)["out"]
    ours, nothing = (float(micros) for micros in out.split("MICROS ")[1].split())
    if ours == 0:
        raise SystemExit("the connector has no queue of events")
    return (ours - nothing) / tasks, nothing / tasks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", default=cluster.BUILD / "slowdown.json", help="output file")
    parser.add_argument("--version", default="3.5.7", help="version of Spark")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--record-pairs", type=int, default=6, help="pairs of the application that shuffles records")
    parser.add_argument("--tasks", type=int, default=12_000, help="tasks of the application of empty tasks")
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=list(applications.OURS))
    parser.add_argument("--scale", type=float, default=1, help="share of the usual work")
    arguments = parser.parse_args()
    cluster.build_connector()
    with cluster.Spark(arguments.version, arguments.tidemark) as spark, \
            tempfile.TemporaryDirectory() as logs, cluster.measure.master(arguments.tidemark, logs) as address:
        task_end_us, sparks_us = micros_of_a_task_end(spark, address, arguments.tasks)
        print(f"a task, its start and end: {task_end_us:.2f} us at the driver, beside {sparks_us:.2f} us of Spark's",
              flush=True)
        record_runs = list(records(spark, address, arguments))
        pair_runs = list(pairs(spark, address, arguments))
    result = {"context": cluster.measure.context(), "version": arguments.version, "pairs": len(pair_runs),
              "task_end_us": round(task_end_us, 3),
              "task_end_us_of_spark": round(sparks_us, 3), "runs": pair_runs, "record_runs": record_runs}
    if pair_runs:
        for name, measure in (("job", "job"), ("cpu", "processor")):
            result[f"{name}_mean"], result[f"{name}_standard_error"] = cluster.measure.mean_and_error(
                [ratio(runs, "connected", measure) for runs in pair_runs])
            print(f"{name}: {100 * result[f'{name}_mean']:+.2f} %, standard error "
                  f"{cluster.measure.percent(result[f'{name}_standard_error'])}")
    if record_runs:
        of_records = {name: cluster.measure.mean_and_error([ratio(runs, kind, "processor") for runs in record_runs])
                      for name, kind in (("plain", "connected"), ("keys", "keys"))}
        result["per_record"] = {name: mean for name, (mean, _) in of_records.items()}
        result["per_record_standard_error"] = {name: error for name, (_, error) in of_records.items()}
        print("a shuffled record: " + ", ".join(
            f"{name} {100 * mean:+.2f} % +- {cluster.measure.percent(error)}"
            for name, (mean, error) in of_records.items()))
    cluster.measure.keep(arguments.json, result)


if __name__ == "__main__":
    main()
