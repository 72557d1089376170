#!/usr/bin/env python3
"""How wrong `tidemark what-if` is about real runs of Spark at other settings, parameters and executors.

Four programs run at 16 settings each (executors, cores, memory, compression, partitions, data); from each half
the other is foretold. Three programs run at other parameters, data and resources; from half of the runs the
others are foretold. The time is that from the first job of an application to the end of its last. Event logs
are kept in --keep: what is there is not run again. docs/what-if.md says what each figure is.

usage: ./dev bench what_if [--json FILE] [--keep DIR] [--suites NAME...] [--logs DIR...]
"""

import argparse
import itertools
import json
import pathlib
import re
import statistics
import subprocess
import time

import cluster
import what_if_runs

SUITES = ("settings", "gray_box", "logs")
ORDER_COUNTS_FROM = 0.10  # two settings that differ by less are not to be told apart


def seconds_of(log):
    """From the first job of a run to the end of its last."""
    first, last = None, None
    for line in open(log, encoding="utf-8", errors="replace"):
        if line.startswith('{"Event":"SparkListenerJobStart"'):
            at = json.loads(line)["Submission Time"]
            first = at if first is None else min(first, at)
        elif line.startswith('{"Event":"SparkListenerJobEnd"'):
            at = json.loads(line)["Completion Time"]
            last = at if last is None else max(last, at)
    return (last - first) / 1000


def in_seconds(text):
    return float(text.removesuffix("s"))


def foretold(tidemark, subject, others, options):
    """Rows of what-if: median, lower and upper bound in seconds, and what else it says."""
    command = [str(tidemark), "what-if", str(subject), *options, "-o", "jsonl"]
    if others:
        command += ["--learn", *map(str, others)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed with {done.returncode}:\n{done.stderr[-2000:]}")
    rows = []
    for line in done.stdout.splitlines():
        said = json.loads(line)
        left = said["snapshot"]["estimate"]["remaining"]
        rows.append({"median": in_seconds(left["median"]), "lower": in_seconds(left.get("lower", left["median"])),
                     "upper": in_seconds(left.get("upper", left["median"])), "binding": said.get("binding"),
                     "remarks": said.get("remarks", [])})
    return rows


def options_of(run, subject):
    return ["--executors", str(run["executors"]), "--cores", str(run["cores"]),
            "--partitions", str(run["partitions"]), "--compress", str(run["compress"]).lower(),
            "--data", f"{run['data'] / subject['data']:g}",
            "--conf", f"spark.memory.fraction={run['memory_fraction']}"]


def judged(row, truth):
    return {"truth_s": round(truth, 3), "foretold_s": round(row["median"], 3), "lower_s": round(row["lower"], 3),
            "upper_s": round(row["upper"], 3), "err": abs(row["median"] - truth) / truth,
            "held": row["lower"] <= truth <= row["upper"], "binding": row["binding"], "remarks": row["remarks"]}


def order(rows):
    """Of pairs whose truths differ enough, how often the faster one was called that."""
    right = wrong = 0
    for one, other in itertools.combinations(rows, 2):
        if max(one["truth_s"], other["truth_s"]) <= (1 + ORDER_COUNTS_FROM) * min(one["truth_s"], other["truth_s"]):
            continue
        same = (one["truth_s"] < other["truth_s"]) == (one["foretold_s"] < other["foretold_s"])
        right, wrong = right + same, wrong + (not same)
    return right, wrong


def summary(rows, pairs):
    return {"mean_err": statistics.fmean(row["err"] for row in rows),
            "coverage90": statistics.fmean(row["held"] for row in rows),
            "order_right": pairs[0] / sum(pairs) if sum(pairs) else None, "n": len(rows), "pairs": sum(pairs)}


def settings(arguments, kept):
    """Rows and their summary."""
    runs = [run for run in what_if_runs.settings_runs() if kept.has(run)]
    rows, pairs = [], [0, 0]
    for program, half in itertools.product(what_if_runs.PROGRAMS, (0, 1)):
        seen = [run for run in runs if run["program"] == program and run["half"] == half]
        asked = [run for run in runs if run["program"] == program and run["half"] != half]
        if not seen:
            continue
        some = []
        for run in asked:
            said = foretold(arguments.tidemark, kept.log(seen[0]), [kept.log(other) for other in seen[1:]],
                            options_of(run, seen[0]))
            some.append({**run, **judged(said[-1], seconds_of(kept.log(run)))})
        right, wrong = order(some)
        pairs = [pairs[0] + right, pairs[1] + wrong]
        rows += some
        if some:
            print(f"{program}, learnt from half {half}: " + told(summary(some, (right, wrong))), flush=True)
    return rows, pairs


def told(figures):
    return (f"mean error {100 * figures['mean_err']:.1f} %, bounds held {100 * figures['coverage90']:.0f} %" +
            (f", order right {100 * figures['order_right']:.0f} %" if figures["order_right"] is not None else ""))
