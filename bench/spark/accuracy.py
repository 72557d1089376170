#!/usr/bin/env python3
"""Measures the forecast error of Tidemark for Spark applications, compared with Spark's own count of tasks.

Each application runs on two executors in separate processes: first without the connector, which gives the expected
output, then twice at one master with a history, without and with a past run. The errors are measured at 200 times from
the start of the application to its end. They compare the last snapshot of the master, as the bar shows it, and Spark's
share of ended tasks with the true progress. docs/internals/spark-connector.md defines each figure.

--keep DIR holds the event logs of the master and of Spark for each run. With --replay, another build of Tidemark
computes its forecasts from the master's logs, in seconds and without Spark. These logs contain the past runs of
their master. --replay spark reads Spark's logs instead, run by run with one history, so that the second run uses the
past run of this build, without the facts that only the connector measures.
usage: ./dev bench spark_accuracy [--json FILE] [--versions V...] [--jobs NAME...] [--scale X] [--runs N]
                                  [--keep DIR] [--replay [spark]] [--add]
                                  [--job 'FILE.py|FILE.jar ARGUMENT...'...]
"""

import argparse
import json
import pathlib
import shutil
import tempfile

import applications
import cluster
import judge

VERSIONS = ("3.5.7", "4.0.1", "4.3.0")
# This version is tested only with short runs.
SHORT = {"4.3.0": 0.3}
TASK_FRACTIONS = cluster.ROOT / "build" / "release" / "bench" / "tidemark_task_fractions_bench"
KEYS = ("job", "version", "run", "indicator")


def replayed(tidemark, log, options=()):
    """Returns the snapshots of a replay of the log."""
    return [json.loads(line)
            for line in cluster.must([tidemark, "replay", str(log), "-o", "jsonl", *options]).splitlines()]


class Kept:
    """The logs in a folder, which are JOB@VERSION@RUN.tidemark-log and .spark-log for each run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def put(self, name, tidemark_log, spark_log):
        tidemark_log.rename(self.folder / f"{name}.tidemark-log")
        shutil.move(spark_log, self.folder / f"{name}.spark-log")

    def spark_log(self, name):
        return self.folder / f"{name}.spark-log"

    def tidemark_log(self, name):
        return self.folder / f"{name}.tidemark-log"

    def names(self):
        return sorted(path.name.removesuffix(".tidemark-log") for path in self.folder.glob("*.tidemark-log"))


def rows_of(snapshots, kept, name):
    """Returns the errors of both indicators."""
    job, version, run = name.split("@")
    return [{"job": job, "version": version, "run": int(run), **row}
            for row in judge.rows_of(snapshots, kept.spark_log(name))]


def with_task_fractions(rows, kept, name):
    """Returns the error of the progress of running tasks."""
    tasks = json.loads(cluster.must([TASK_FRACTIONS, str(kept.tidemark_log(name))]))["all"]
    if tasks["mean_error"] is not None:
        rows[0]["task_fraction_err"] = round(tasks["mean_error"], 4)
    return rows


def tell(rows):
    print(f"{rows[0]['job']}, Spark {rows[0]['version']}, run {rows[0]['run']}, {rows[0]['seconds']:.0f} s: " +
          ", ".join(f"{row['indicator']} {row['avg_err']:.1f}" for row in rows) +
          f"; error of the end {100 * rows[0]['eta_err']:.0f} %" +
          (f", held {100 * rows[0]['coverage90']:.0f} %" if rows[0]["coverage90"] is not None else "") +
          (f"; reduce phase {rows[0]['reduce_avg_err']:.1f}" if "reduce_avg_err" in rows[0] else ""),
          flush=True)


def run_application(spark, job, words, settings, runs, kept):
    """Yields the rows of each run."""
    plain = spark.run(words, settings)
    with tempfile.TemporaryDirectory(dir=kept.folder) as logs, cluster.measure.master(spark.tidemark, logs) as address:
        for run in range(1, runs + 1):
            ended = spark.run(words, settings, watched=["--master", address, "-o", "jsonl"])
            if ended.digest() != plain.digest():
                problem = f"{job}, run {run}: the output differs from a run without the connector"
                if job in applications.OURS:
                    raise SystemExit(f"{problem}:\n{plain.out}\n{ended.out}")
                print(problem, flush=True)
            snapshots = ended.snapshots()
            if not snapshots or not snapshots[-1].get("final"):
                raise SystemExit(f"{job}: the master did not report the end:\n{ended.err[-3000:]}")
            name = f"{job}@{spark.version}@{run}"
            kept.put(name, pathlib.Path(logs) / f"{snapshots[-1]['job_id']}.tidemark-log", ended.events)
            yield with_task_fractions(rows_of(snapshots, kept, name), kept, name)


def run_all(arguments):
    kept = Kept(arguments.keep)
    cluster.build_connector()
    for version in arguments.versions:
        with cluster.Spark(version, arguments.tidemark) as spark:
            scale = arguments.scale * SHORT.get(version, 1)
            if arguments.job:
                todo = [(name, words, {}) for name, words in applications.others(arguments.job).items()]
            else:
                todo = [(name, *applications.words_of(spark, name, scale)) for name in arguments.jobs]
            for job, words, settings in todo:
                yield from run_application(spark, job, words, settings, arguments.runs, kept)


def kept_names(arguments, kept):
    for name in kept.names():
        job, version, run = name.split("@")
        if (version in arguments.versions and int(run) <= arguments.runs and
                (job in arguments.jobs or job not in applications.OURS)):
            yield name


def replay_tidemark_logs(arguments):
    kept = Kept(arguments.keep)
    for name in kept_names(arguments, kept):
        rows = rows_of(replayed(arguments.tidemark, kept.tidemark_log(name)), kept, name)
        yield with_task_fractions(rows, kept, name)


def replay_spark_logs(arguments):
    kept = Kept(arguments.keep)
    with tempfile.TemporaryDirectory() as histories:
        for name in kept_names(arguments, kept):  # The runs of one application are consecutive.
            history = pathlib.Path(histories) / name.rpartition("@")[0]
            yield rows_of(replayed(arguments.tidemark, kept.spark_log(name), ["--history", str(history)]), kept, name)


ROWS_FROM = {None: run_all, "tidemark": replay_tidemark_logs, "spark": replay_spark_logs}


def print_means(rows):
    for version, run in sorted({(row["version"], row["run"]) for row in rows}):
        some = [row for row in rows if (row["version"], row["run"]) == (version, run)]
        means = {indicator: judge.mean([row["avg_err"] for row in some if row["indicator"] == indicator])
                 for indicator in ("tidemark", "tasks_done")}
        print(f"Spark {version}, run {run}, mean of {len(some) // 2}: " +
              ", ".join(f"{indicator} {mean:.2f}" for indicator, mean in means.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", default=cluster.BUILD / "accuracy.json", help="output file")
    parser.add_argument("--versions", nargs="+", default=list(VERSIONS))
    parser.add_argument("--jobs", nargs="+", default=list(applications.OURS), choices=list(applications.OURS))
    parser.add_argument("--job", nargs="+", help="other applications, each as one word")
    parser.add_argument("--scale", type=float, default=1, help="share of the usual work")
    parser.add_argument("--runs", type=int, default=2, help="runs of each application at one master")
    parser.add_argument("--keep", default=cluster.BUILD / "logs", help="folder for the logs of each run")
    parser.add_argument("--replay", nargs="?", choices=["tidemark", "spark"], const="tidemark",
                        help="replay the kept logs: the master's, or Spark's with their own history")
    parser.add_argument("--add", action="store_true", help="add to the figures in the file")
    arguments = parser.parse_args()
    rows = cluster.measure.kept(arguments.json).get("rows", []) if arguments.add else []
    context = cluster.measure.context()
    for some in ROWS_FROM[arguments.replay](arguments):
        tell(some)
        told = [tuple(row[key] for key in KEYS) for row in some]
        rows = [row for row in rows if tuple(row[key] for key in KEYS) not in told] + some
        cluster.measure.keep(arguments.json, {"context": context, "scale": arguments.scale, "rows": rows})
    if rows:
        print_means(rows)


if __name__ == "__main__":
    main()
