#!/usr/bin/env python3
"""Compares the savings that `tidemark advise` predicts with savings on a real Spark.

Two programs after section 7.2 of the gray-box paper run on generated text files, each time with another threshold. The
advice is based on the logs of these runs. Then each intermediate result is written as Parquet, and the programs run
again from it. The saving is the median difference between an unchanged run and the following run, which reads the
result. A run is timed from the first access to the data to the last row, so JVM startup is excluded. The first program
also runs on a hundredth of the data, where nothing can be saved.

--keep DIR stores the runs. A later call with the same folder does not repeat them.

usage: materialization.py [--json FILE] [--keep DIR] [--tidemark FILE] [--version V] [--scale X] [--runs N]
Prints {"predicted_s", "saved_s", "harmful", "points": [...]}: sums over the advised results, the number of advised
results that cost time, and each result, advised or not.
"""

import argparse
import json
import pathlib
import shutil
import statistics

import cluster

PROGRAM = cluster.JOBS / "materialization.py"
VERSION = "3.5.7"
KEPT = cluster.BUILD / "materialization"
RUNS = 3
# The last operator in the plan of each result.
RESULTS = {"gdelt": {"filtered": "Project", "condensed": "Aggregate"},
           "weather": {"joined": "Project", "condensed": "Aggregate"}}
# Thresholds of the runs, in hundredths of a tone, and in observations at scale 1.
THRESHOLDS = {"gdelt": (50, 80, 60, 90, 70), "weather": (130, 140, 120, 135, 125)}


class Kept:
    """The times and outputs of the runs, in a folder with the data, the results and the logs of unchanged runs. Existing
    runs are not repeated."""

    def __init__(self, folder, scale):
        self.folder = pathlib.Path(folder).resolve() / f"scale-{scale:g}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def file(self, name):
        return self.folder / f"{name}.json"

    def has(self, name):
        return self.file(name).exists()

    def of(self, name):
        return json.loads(self.file(name).read_text())

    def history(self, program):
        return self.folder / f"history-{program}"

    def result(self, program, result):
        return self.folder / f"kept-{program}-{result}"

    def record(self, spark, name, program, words):
        """Runs a program, and adds the log of an unchanged run to the history."""
        ended = spark.run(["--name", program, str(PROGRAM), *map(str, words)])
        lines = dict(line.split(" ", 1) for line in ended.out.splitlines() if line.startswith(("RESULT", "SECONDS")))
        if name.startswith(f"{program}-plain-"):
            self.history(program).mkdir(exist_ok=True)
            shutil.move(ended.events, self.history(program) / f"{name}.spark-log")
        self.file(name).write_text(json.dumps({"seconds": float(lines.get("SECONDS", 0)),
                                               "result": lines.get("RESULT")}) + "\n")


def parts(kept_in, scale):
    """Returns the folder, the scale of the data and the programs of each benchmark."""
    return ((Kept(kept_in, scale), scale, tuple(RESULTS)), (Kept(kept_in, scale / 100), scale / 100, ("gdelt",)))


def runs_of(kept, programs, scale, count):
    """Yields the name, program and arguments of each run. Unchanged runs and runs from each result alternate, so that
    other load of the machine affects all."""
    yield "make", "make", ["make", kept.folder, scale]
    for program in programs:
        thresholds = thresholds_of(program, scale, count)
        for result in RESULTS[program]:
            yield f"{program}-write-{result}", program, [program, kept.folder, "write", result, thresholds[0]]
        for number, threshold in enumerate(thresholds):
            yield f"{program}-plain-{number}", program, [program, kept.folder, "plain", threshold]
            for result in RESULTS[program]:
                yield f"{program}-read-{result}-{number}", program, [program, kept.folder, "read", result, threshold]


def record_missing(version, kept_in, scale, count):
    missing = [(kept, run) for kept, share, programs in parts(kept_in, scale)
               for run in runs_of(kept, programs, share, count) if not kept.has(run[0])]
    if not missing:
        return
    with cluster.Spark(version) as spark:
        for kept, (name, program, words) in missing:
            kept.record(spark, name, program, words)
            print(f"materialization, {name}: {kept.of(name)['seconds']:.1f} s", flush=True)


def point_of(advice, program, table, kind):
    """Returns the most expensive result of this kind and table, which is the one nearest to the end."""
    found = [point for point in advice["points"]
             if point["kind"] == kind and any(table in path for path in point["tables"])]
    if not found:
        raise SystemExit(f"{program}: no result of kind {kind} in the advice:\n{json.dumps(advice, indent=1)[:4000]}")
    return max(found, key=lambda point: (len(point["uses"]), point["computing"]["expected_s"]))


def thresholds_of(program, scale, count):
    factor = scale if program == "weather" else 1
    return [threshold * factor for threshold in THRESHOLDS[program][:count]]


def judge_program(tidemark, kept, program, count):
    """Returns a row for each result."""
    plain = [kept.of(f"{program}-plain-{number}") for number in range(count)]
    advice = json.loads(cluster.must([tidemark, "advise", str(kept.history(program)), "-o", "json"]))
    table = "events" if program == "gdelt" else "observations"
    for result, kind in RESULTS[program].items():
        read = [kept.of(f"{program}-read-{result}-{number}") for number in range(count)]
        if any(one["result"] != other["result"] for one, other in zip(plain, read)):
            raise SystemExit(f"{program} from {result} printed other rows than as it is: {kept.folder}")
        point = point_of(advice, program, table, kind)
        saved = statistics.median(before["seconds"] - after["seconds"] for before, after in zip(plain, read))
        row = {"program": program, "data": kept.folder.name, "result": result, "advised": point["advised"],
               "predicted_s": point["benefit"]["expected_s"], "lower_s": point["benefit"]["lower_s"],
               "upper_s": point["benefit"]["upper_s"], "saved_s": saved,
               "why_not": point.get("why_not"), "plain_s": [one["seconds"] for one in plain],
               "read_s": [one["seconds"] for one in read],
               "write_run_s": kept.of(f"{program}-write-{result}")["seconds"],
               "predicted_read_s": point["read_s"], "predicted_write_s": point["write_s"],
               "bytes_max": point.get("bytes_max"),
               "bytes": sum(file.stat().st_size for file in kept.result(program, result).iterdir())}
        print(f"{program}, {row['data']}, {result}: {'advised' if row['advised'] else 'not advised'}, predicted "
              f"{row['predicted_s']:.1f} s ({row['lower_s']:.1f} to {row['upper_s']:.1f}), saved {saved:.1f} s; "
              f"as it is {', '.join(f'{s:.1f}' for s in row['plain_s'])} s, reading "
              f"{', '.join(f'{s:.1f}' for s in row['read_s'])} s, writing {row['write_run_s']:.1f} s, "
              f"{row['bytes']} bytes of at most {row['bytes_max']}", flush=True)
        yield row


def judged(tidemark, kept_in, scale, count):
    """Returns the entry "materialization" of `what_if` and its rows, or None unless all runs exist."""
    rows = []
    for kept, share, programs in parts(kept_in, scale):
        if not all(kept.has(name) for name, _, _ in runs_of(kept, programs, share, count)):
            return None
        for program in programs:
            rows += judge_program(tidemark, kept, program, count)
    advised = [row for row in rows if row["advised"]]
    figures = {"predicted_s": round(sum(row["predicted_s"] for row in advised), 3),
               "saved_s": round(sum(row["saved_s"] for row in advised), 3),
               "harmful": sum(row["saved_s"] < 0 for row in advised), "points": rows}
    print(f"advised: predicted {figures['predicted_s']:.1f} s, saved {figures['saved_s']:.1f} s; "
          f"{figures['harmful']} cost time", flush=True)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", help="output file")
    parser.add_argument("--keep", default=KEPT, help="folder for the runs")
    parser.add_argument("--version", default=VERSION, help="version of Spark")
    parser.add_argument("--scale", type=float, default=1, help="share of the usual data")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each unchanged program, and from each result")
    arguments = parser.parse_args()
    record_missing(arguments.version, arguments.keep, arguments.scale, arguments.runs)
    result = judged(arguments.tidemark, arguments.keep, arguments.scale, arguments.runs)
    if arguments.json:
        cluster.measure.keep(arguments.json, {"context": cluster.measure.context(), "version": arguments.version,
                                              "scale": arguments.scale, "materialization": result})


if __name__ == "__main__":
    main()
