#!/usr/bin/env python3
"""How wrong `tidemark what-if` is about real runs of Spark at other settings, parameters and executors.

Suite settings: four programs run at 16 settings each (executors, cores, memory, compression, partitions, data);
from each half the other is foretold. The time is that from the start of an application to the end of its last
job. Event logs are kept in --keep: what is there is not run again. Suite gray_box: three
programs run at other parameters, data and resources; from each half of the runs the other is foretold. Suite logs: from one run of a query at one
number of executors all others (folders of event logs named QUERY-eNN-*), beside three other methods.
Row: what one row of an answer takes.

usage: ./dev bench what_if [--json FILE] [--keep DIR] [--suites NAME...] [--logs DIR...] [--no-runs]
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

SUITES = ("settings", "gray_box", "logs", "row")
ORDER_COUNTS_FROM = 0.10  # two settings that differ by less are not to be told apart


def seconds_of(log):
    """From the start of an application to the end of its last job."""
    start, last = None, None
    for line in open(log, encoding="utf-8", errors="replace"):
        if line.startswith('{"Event":"SparkListenerApplicationStart"'):
            start = json.loads(line)["Timestamp"]
        elif line.startswith('{"Event":"SparkListenerJobEnd"'):
            at = json.loads(line)["Completion Time"]
            last = at if last is None else max(last, at)
    return (last - start) / 1000


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


def gray_box(arguments, kept):
    """Rows, and 1 - mean error of each program."""
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
                some.append({**run, **judged(said[-1], seconds_of(kept.log(run)))})
        if some:
            accuracies[program] = 1 - statistics.fmean(row["err"] for row in some)
            print(f"{program}: {told(summary(some, order(some)))}", flush=True)
        rows += some
    return rows, accuracies


METHODS = ("tidemark", "sparklens", "boe", "waves")


def of_log(path):
    """Seconds, executors, cores of one, and stages with parents and task times."""
    text = (subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout.decode("utf-8", "replace")
            if path.suffix == ".zst" else path.read_text(errors="replace"))
    start, last, executors, cores, now = None, None, 0, 1, set()
    stages = {}
    for line in text.splitlines():
        if not line.startswith('{"Event":"SparkListener'):
            continue
        event = json.loads(line)
        kind = event["Event"]
        if kind == "SparkListenerApplicationStart":
            start = event["Timestamp"]
        elif kind == "SparkListenerJobEnd":
            last = max(last or event["Completion Time"], event["Completion Time"])
        elif kind == "SparkListenerExecutorAdded":
            now.add(event["Executor ID"])
            executors, cores = max(executors, len(now)), event["Executor Info"]["Total Cores"]
        elif kind == "SparkListenerExecutorRemoved":
            now.discard(event["Executor ID"])
        elif kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            stage = stages.setdefault(info["Stage ID"], {"tasks": []})
            stage.update(start=info["Submission Time"] / 1000, end=info["Completion Time"] / 1000)
        elif kind == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
            task = event["Task Info"]
            stages.setdefault(event["Stage ID"], {"tasks": []})["tasks"].append(
                (task["Finish Time"] - task["Launch Time"]) / 1000)
    stages = [stage for stage in stages.values() if stage["tasks"] and "end" in stage]
    return {"path": path, "seconds": (last - start) / 1000, "executors": executors, "cores": cores, "stages": stages}


def driver_seconds(run):
    """Of the run, what no stage was at work, start-up included."""
    busy, until = 0, 0
    for stage in sorted(run["stages"], key=lambda stage: stage["start"]):
        busy += max(stage["end"] - max(stage["start"], until), 0)
        until = max(until, stage["end"])
    return max(run["seconds"] - busy, 0)


def by_critical_path(run, slots):
    """As Sparklens describes its own: the driver's time, and of each stage the larger of its longest task and its
    work over the slots."""
    return driver_seconds(run) + sum(max(max(stage["tasks"]), sum(stage["tasks"]) / slots) for stage in run["stages"])


def by_boe(run, slots):
    """A mean task as long as it was, on as many slots as it can fill: work over slots, stage after stage."""
    return driver_seconds(run) + sum(
        max(statistics.fmean(stage["tasks"]), sum(stage["tasks"]) / min(slots, len(stage["tasks"])))
        for stage in run["stages"])


def by_waves(run, slots):
    """Mean task times whole waves of them, stage after stage."""
    return driver_seconds(run) + sum(
        statistics.fmean(stage["tasks"]) * -(-len(stage["tasks"]) // slots) for stage in run["stages"])


OTHERS = {"sparklens": by_critical_path, "boe": by_boe, "waves": by_waves}


def logs(arguments):
    """Of each query: every method's mean error, from two runs of each number of executors to all others."""
    suites = {}
    for folder in map(pathlib.Path, arguments.logs):
        found = {}
        for path in sorted(folder.iterdir()):
            if match := re.match(r"(\w+)-e(\d+)-", path.name):
                found.setdefault(match[1], {}).setdefault(int(match[2]), []).append(path)
        for query, by_executors in found.items():
            runs = {count: [of_log(path) for path in paths] for count, paths in by_executors.items()}
            errors = {method: [] for method in METHODS}
            for count, some in runs.items():
                for base in some[:2]:
                    others = [other for other in sorted(runs) if other != count]
                    said = foretold(arguments.tidemark, base["path"], [],
                                    ["--executors", ",".join(map(str, others))])[1:]
                    for other, row in zip(others, said):
                        slots = other * base["cores"]
                        ours = {"tidemark": row["median"],
                                **{name: method(base, slots) for name, method in OTHERS.items()}}
                        for run in runs[other]:
                            for name, seconds in ours.items():
                                errors[name].append(abs(seconds - run["seconds"]) / run["seconds"])
            suites[query] = {method: statistics.fmean(some) for method, some in errors.items()}
            print(f"{query}: " + ", ".join(f"{name} {100 * err:.1f} %" for name, err in suites[query].items()), flush=True)
    return suites


def row_ms(arguments, path):
    """What a row more takes in one answer: twenty rows less one, over nineteen; the best of five."""
    def seconds(rows):
        started = time.monotonic()
        foretold(arguments.tidemark, path, [], ["--executors", ",".join(str(i + 2) for i in range(rows))])
        return time.monotonic() - started
    return 1000 * min((seconds(20) - seconds(1)) / 19 for _ in range(5))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", default=cluster.BUILD / "what_if.json", help="where the figures go")
    parser.add_argument("--keep", default=cluster.BUILD / "what_if", help="where the logs of each run go")
    parser.add_argument("--suites", nargs="+", default=list(SUITES), choices=SUITES)
    parser.add_argument("--logs", nargs="+", default=[], help="folders of event logs, QUERY-eNN-*")
    parser.add_argument("--no-runs", action="store_true", help="only what is kept")
    arguments = parser.parse_args()
    kept = what_if_runs.Kept(arguments.keep)
    figures, rows = {"context": cluster.measure.context()}, []
    if "settings" in arguments.suites:
        if not arguments.no_runs:
            what_if_runs.record_missing(kept, list(what_if_runs.settings_runs()))
        rows, pairs = settings(arguments, kept)
        if rows:
            figures["settings"] = summary(rows, pairs)
            print("settings: " + told(figures["settings"]), flush=True)
    if "gray_box" in arguments.suites:
        if not arguments.no_runs:
            what_if_runs.record_missing(kept, what_if_runs.parameter_runs())
        some, accuracies = gray_box(arguments, kept)
        if accuracies:
            figures["gray_box"] = accuracies
            rows += some
    if "logs" in arguments.suites and arguments.logs:
        figures["logs"] = logs(arguments)
    if "row" in arguments.suites:
        some = [path for folder in map(pathlib.Path, arguments.logs) for path in sorted(folder.iterdir())]
        some = some or sorted(kept.folder.glob("*.spark-log"))
        if some:
            figures["row_ms"] = row_ms(arguments, some[0])
            print(f"a row: {figures['row_ms']:.1f} ms", flush=True)
    path = pathlib.Path(arguments.json)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**figures, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
