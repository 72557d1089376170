#!/usr/bin/env python3
"""Measures the error of `tidemark what-if` for real runs of Spark at other settings, parameters and executors.

Durations are from the start of an application to the end of its last job. --keep holds the event logs; existing runs
are not repeated. The suites are

settings         four programs run at 16 settings each (executors, cores, memory, compression, partitions, data),
                 --rounds times. The runs of each half of the settings predict the other half.
gray_box         three programs run at other parameters, data and resources. Each half of the runs predicts the other
                 half.
materialization  savings from results that `tidemark advise` names.
logs             one run of a query predicts all runs on other numbers of executors (folders of event logs named
                 QUERY-eNN-*), and one run of an application those on other hosts (tables of stages). Three other
                 methods are compared.
learnt           runs of a query on some numbers of executors of a cluster predict its runs on others, by all sets of
                 two or more numbers (the same folders), within and outside of the learnt numbers.

usage: ./dev bench what_if [--json FILE] [--keep DIR] [--suites NAME...] [--rounds N] [--logs DIR...]
                           [--tables FILE] [--no-runs | --only-runs]
"""

import argparse
import itertools
import json
import statistics

import cluster
import materialization
import what_if_logs
import what_if_runs
from what_if_answers import foretold

SUITES = ("settings", "gray_box", "materialization", "logs", "learnt")
ORDER_COUNTS_FROM = 0.10  # settings whose times differ by less are indistinguishable


def seconds_of(log):
    """Returns the seconds from the start of an application to the end of its last job."""
    start, last = None, None
    for line in open(log, encoding="utf-8", errors="replace"):
        if line.startswith('{"Event":"SparkListenerApplicationStart"'):
            start = json.loads(line)["Timestamp"]
        elif line.startswith('{"Event":"SparkListenerJobEnd"'):
            at = json.loads(line)["Completion Time"]
            last = at if last is None else max(last, at)
    return (last - start) / 1000


def options_of(run, subject):
    return ["--executors", str(run["executors"]), "--cores", str(run["cores"]),
            "--partitions", str(run["partitions"]), "--compress", str(run["compress"]).lower(),
            "--data", f"{run['data'] / subject['data']:g}",
            "--conf", f"spark.memory.fraction={run['memory_fraction']}"]


def judged(row, truths):
    """Returns the error against the median of the true times, and the share of them within the bounds."""
    truth = statistics.median(truths)
    held = statistics.fmean(row["lower"] <= one <= row["upper"] for one in truths)
    return {"truth_s": round(truth, 3), "truths_s": truths, "foretold_s": round(row["median"], 3),
            "lower_s": round(row["lower"], 3), "upper_s": round(row["upper"], 3),
            "err": abs(row["median"] - truth) / truth, "held": held, "binding": row["binding"],
            "remarks": row["remarks"]}


def order(rows):
    """Returns how often the faster of two settings was predicted, for pairs with a clear difference."""
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
    """Returns rows and their summary."""
    runs = [run for run in what_if_runs.settings_runs(arguments.rounds) if kept.has(run)]
    rows, pairs = [], [0, 0]
    for program, half in itertools.product(what_if_runs.PROGRAMS, (0, 1)):
        seen = [run for run in runs if run["program"] == program and run["half"] == half]
        asked = [run for run in runs if run["program"] == program and run["half"] != half]
        if not seen:
            continue
        some = []
        for number in sorted({run["number"] for run in asked}):
            alike = [run for run in asked if run["number"] == number]
            said = foretold(arguments.tidemark, kept.log(seen[0]), [kept.log(other) for other in seen[1:]],
                            options_of(alike[0], seen[0]))
            some.append({**alike[0], **judged(said[-1], [seconds_of(kept.log(run)) for run in alike])})
        right, wrong = order(some)
        pairs = [pairs[0] + right, pairs[1] + wrong]
        rows += some
        if some:
            print(f"{program}, learnt from half {half}: " + told(summary(some, (right, wrong))), flush=True)
    return rows, pairs


def told(figures):
    return (f"mean error {100 * figures['mean_err']:.1f} %, bounds held {100 * figures['coverage90']:.0f} %" +
            (f", order right {100 * figures['order_right']:.0f} %" if figures["order_right"] is not None else ""))


def gray_box(arguments, kept):
    """Returns rows, and (1 - mean error) of each program."""
    runs = [run for run in what_if_runs.parameter_runs() if kept.has(run)]
    rows, accuracies = [], {}
    for program in what_if_runs.PARAMETERS:
        some = []
        for half in (0, 1):
            seen = [run for run in runs if run["program"] == program and run["half"] == half]
            for run in (run for run in runs if run["program"] == program and run["half"] != half):
                if not seen:
                    continue
                options = options_of(run, seen[0]) + ["--param", *(f"{k}={v}" for k, v in run["parameters"].items())]
                said = foretold(arguments.tidemark, kept.log(seen[0]), [kept.log(other) for other in seen[1:]], options)
                some.append({**run, **judged(said[-1], [seconds_of(kept.log(run))])})
        if some:
            accuracies[program] = 1 - statistics.fmean(row["err"] for row in some)
            print(f"{program}: {told(summary(some, order(some)))}", flush=True)
        rows += some
    return rows, accuracies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", default=cluster.BUILD / "what_if.json", help="output file")
    parser.add_argument("--keep", default=cluster.BUILD / "what_if", help="folder for the logs of each run")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of suite settings")
    parser.add_argument("--suites", nargs="+", default=list(SUITES), choices=SUITES)
    parser.add_argument("--logs", nargs="+", default=[], help="folders of event logs, QUERY-eNN-*")
    parser.add_argument("--tables", help="stage-tables.tar.zst: tables of stages, APPLICATION/N-hosts/ID/*.csv")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--no-runs", action="store_true", help="use only existing runs")
    how.add_argument("--only-runs", action="store_true", help="only record missing runs")
    arguments = parser.parse_args()
    kept = what_if_runs.Kept(arguments.keep)
    if not arguments.no_runs:
        record(arguments, kept)
    if not arguments.only_runs:
        judge(arguments, kept)


def record(arguments, kept):
    """Records the missing runs of Spark. Only this part needs an idle machine."""
    if "settings" in arguments.suites:
        what_if_runs.record_missing(kept, list(what_if_runs.settings_runs(arguments.rounds)))
    if "gray_box" in arguments.suites:
        what_if_runs.record_missing(kept, what_if_runs.parameter_runs())
    if "materialization" in arguments.suites:
        materialization.record_missing(materialization.VERSION, kept.folder / "materialization", 1,
                                       materialization.RUNS)


def judge(arguments, kept):
    figures, rows = {"context": cluster.measure.context()}, []
    if "settings" in arguments.suites:
        rows, pairs = settings(arguments, kept)
        if rows:
            figures["settings"] = summary(rows, pairs)
            print("settings: " + told(figures["settings"]), flush=True)
    if "gray_box" in arguments.suites:
        some, accuracies = gray_box(arguments, kept)
        if accuracies:
            figures["gray_box"] = accuracies
            rows += some
    if "materialization" in arguments.suites:
        found = materialization.judged(arguments.tidemark, kept.folder / "materialization", 1, materialization.RUNS)
        if found:
            figures["materialization"] = found
    if "logs" in arguments.suites and (arguments.logs or arguments.tables):
        figures["logs"] = {**(what_if_logs.logs(arguments) if arguments.logs else {}),
                           **(what_if_logs.tables(arguments) if arguments.tables else {})}
    if "learnt" in arguments.suites and arguments.logs:
        figures["learnt"] = what_if_logs.learnt(arguments)
    cluster.measure.keep(arguments.json, {**figures, "rows": rows})


if __name__ == "__main__":
    main()
