#!/usr/bin/env python3
"""What results that `tidemark advise` names save on a real Spark, beside what it said they would.

Two programs after section 7.2 of the gray-box paper run on made text files, with a threshold of their own each
time; the logs of these runs are what the advice is of. Then each result of them is written as Parquet and the
programs run again from it. Saved is what a run that reads took less than the run as it is before it, from the first
look at the data to the last row, in the median of the pairs; JVMs start before. The first program runs on a
hundredth of the data, too, where there is nothing to gain.

usage: materialization.py [--json FILE] [--tidemark FILE] [--version V] [--scale X] [--runs N]
prints {"predicted_s", "saved_s", "harmful", "points": [...]}: sums over what is advised, how many pieces of advice
cost time, and each result that could be kept, advised or not.
"""

import argparse
import json
import pathlib
import statistics
import sys

import cluster

PROGRAM = cluster.JOBS / "materialization.py"
VERSION = "3.5.7"
# A result by the last operator of its plan.
RESULTS = {"gdelt": {"filtered": "Project", "condensed": "Aggregate"},
           "weather": {"joined": "Project", "condensed": "Aggregate"}}
# Of each run another one: of hundredths of a tone, and of observations at scale 1.
THRESHOLDS = {"gdelt": (50, 80, 60, 90, 70), "weather": (130, 140, 120, 135, 125)}


def run(spark, name, words):
    """Seconds, what it printed, and its event log."""
    ended = spark.run(["--name", name, str(PROGRAM), *map(str, words)])
    lines = dict(line.split(" ", 1) for line in ended.out.splitlines() if line.startswith(("RESULT", "SECONDS")))
    return float(lines.get("SECONDS", 0)), lines.get("RESULT"), ended.events


def point_of(advice, program, table, kind):
    """The result of that kind that is of the table and took longest: the one nearest to the end."""
    found = [point for point in advice["points"]
             if point["kind"] == kind and any(table in path for path in point["tables"])]
    if not found:
        raise SystemExit(f"{program}: no result of kind {kind} in the advice:\n{json.dumps(advice, indent=1)[:4000]}")
    return max(found, key=lambda point: (len(point["uses"]), point["computing"]["expected_s"]))


def thresholds_of(program, arguments):
    scale = arguments.scale if program == "weather" else 1
    return [threshold * scale for threshold in THRESHOLDS[program][:arguments.runs]]


def measure_program(spark, program, folder, arguments):
    """A row for each result. Runs as it is and from each result take turns: what else the machine does hits all."""
    logs = folder / f"history-{program}"
    logs.mkdir()
    thresholds = thresholds_of(program, arguments)
    wrote = {result: run(spark, program, [program, folder, "write", result, thresholds[0]])[0]
             for result in RESULTS[program]}
    plain, read = [], {result: [] for result in RESULTS[program]}
    for number, threshold in enumerate(thresholds):
        seconds, expected, events = run(spark, program, [program, folder, "plain", threshold])
        plain.append(seconds)
        events.rename(logs / f"{number}-{events.name}")
        for result in RESULTS[program]:
            seconds, answer, _ = run(spark, program, [program, folder, "read", result, threshold])
            read[result].append(seconds)
            if answer != expected:
                raise SystemExit(f"{program} from {result}: {answer}, not {expected}")
    print(f"{program}: {', '.join(f'{s:.1f}' for s in plain)} s as it is", flush=True)
    advice = json.loads(cluster.must([arguments.tidemark, "advise", str(logs), "-o", "json"]))
    table = "events" if program == "gdelt" else "observations"
    for result, kind in RESULTS[program].items():
        point = point_of(advice, program, table, kind)
        saved = statistics.median(before - after for before, after in zip(plain, read[result]))
        kept = pathlib.Path(f"{folder}/kept-{program}-{result}")
        row = {"program": program, "data": folder.name, "result": result, "advised": point["advised"],
               "predicted_s": point["benefit"]["expected_s"], "lower_s": point["benefit"]["lower_s"],
               "upper_s": point["benefit"]["upper_s"], "saved_s": saved,
               "why_not": point.get("why_not"), "plain_s": plain, "read_s": read[result],
               "write_run_s": wrote[result],
               "predicted_read_s": point["read_s"], "predicted_write_s": point["write_s"],
               "bytes_max": point.get("bytes_max"),
               "bytes": sum(file.stat().st_size for file in kept.iterdir())}
        print(f"{program}, {folder.name}, {result}: {'advised' if row['advised'] else 'not advised'}, predicted "
              f"{row['predicted_s']:.1f} s ({row['lower_s']:.1f} to {row['upper_s']:.1f}), saved {saved:.1f} s; "
              f"reading runs {', '.join(f'{s:.1f}' for s in read[result])} s, writing run {wrote[result]:.1f} s, "
              f"{row['bytes']} bytes of at most {row['bytes_max']}", flush=True)
        yield row


def measure(arguments):
    """What `what_if` has under "materialization", with rows beside it."""
    rows = []
    with cluster.Spark(arguments.version, arguments.tidemark) as spark:
        for data, scale, programs in (("data", arguments.scale, RESULTS),
                                      ("small-data", arguments.scale / 100, ["gdelt"])):
            folder = spark.folder / data
            folder.mkdir()
            run(spark, "make", ["make", folder, scale])
            for program in programs:
                rows += measure_program(spark, program, folder, arguments)
    advised = [row for row in rows if row["advised"]]
    return {"predicted_s": round(sum(row["predicted_s"] for row in advised), 3),
            "saved_s": round(sum(row["saved_s"] for row in advised), 3),
            "harmful": sum(row["saved_s"] < 0 for row in advised),
            "points": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", help="where the figures go")
    parser.add_argument("--version", default=VERSION, help="of Spark")
    parser.add_argument("--scale", type=float, default=1, help="so much of the usual data")
    parser.add_argument("--runs", type=int, default=3, help="of each program as it is, and from each result")
    arguments = parser.parse_args()
    result = measure(arguments)
    print(f"advised: predicted {result['predicted_s']:.1f} s, saved {result['saved_s']:.1f} s; "
          f"{result['harmful']} cost time")
    if arguments.json:
        path = pathlib.Path(arguments.json)
        path.parent.mkdir(parents=True, exist_ok=True)
        context = cluster.measure.context()
        path.write_text(json.dumps({"context": context, "version": arguments.version, "scale": arguments.scale,
                                    "materialization": result}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
