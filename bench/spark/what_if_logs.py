"""Predicts runs on other numbers of executors or hosts, compared with other methods."""

import csv
import itertools
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

from what_if_answers import foretold
from what_if_methods import OF_SEVERAL, OTHERS

METHODS = ("tidemark", *OTHERS)
# Assumed, since the tables do not describe their machines. Each slot runs many tasks.
SLOTS_OF_HOST = 8
SAME_DATA_WITHIN = 0.02


def text_of(path):
    if path.suffix != ".zst":
        return path.read_text(errors="replace")
    unpacked = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout
    return unpacked.decode("utf-8", "replace")


def of_log(path):
    """Returns the seconds, executors, cores per executor, and stages with parents and task times."""
    start, last, executors, cores, now = None, None, 0, 1, set()
    stages = {}
    for line in text_of(path).splitlines():
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
    return {"path": path, "seconds": (last - start) / 1000, "executors": executors, "cores": cores,
            "slots": executors * cores, "stages": stages}


def logs(arguments):
    """Returns the mean error of each method by query, from two runs of each number of executors to all others."""
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
            suites[query] = summary_of(query, errors)
    return suites


def learnt(arguments):
    """Returns the mean error of each method, and the share of runs within Tidemark's bounds and their mean width, by query
    and by whether the executors are within the learnt ones. Each proper subset of two or more executor counts of
    a cluster predicts the runs with its other counts, from one run per count."""
    runs = {}
    for path in sorted(path for folder in arguments.logs for path in pathlib.Path(folder).iterdir()):
        if match := re.match(r"(\w+)-e\d+-application_(\d+)_", path.name):
            run = of_log(path)
            runs.setdefault(match.groups(), {}).setdefault(run["executors"], []).append(run)
    suites = {}
    for (query, _), by_executors in sorted(runs.items()):
        usual = statistics.mode(len(run["stages"]) for some in by_executors.values() for run in some)
        complete = {n: [run for run in some if len(run["stages"]) == usual] for n, some in by_executors.items()}
        for size in range(2, len(complete)):
            for chosen in itertools.combinations(sorted(complete), size):
                some = [complete[n][size % len(complete[n])] for n in chosen]
                others = sorted(set(complete) - set(chosen))
                rows = foretold(arguments.tidemark, some[0]["path"], [run["path"] for run in some[1:]],
                                ["--executors", ",".join(map(str, others))])[1:]
                for other, row in zip(others, rows):
                    where = "within" if chosen[0] < other < chosen[-1] else "outside"
                    suite = suites.setdefault(f"{query}, {where}", {name: [] for name in ("tidemark", *OF_SEVERAL)})
                    answers = {name: method(some, other * some[0]["cores"]) for name, method in OF_SEVERAL.items()}
                    answers["tidemark"] = row["median"]
                    for run in complete[other]:
                        for name, seconds in answers.items():
                            suite[name].append(abs(seconds - run["seconds"]) / run["seconds"])
                        suite.setdefault("held", []).append(row["lower"] <= run["seconds"] <= row["upper"])
                        suite.setdefault("width", []).append((row["upper"] - row["lower"]) / row["median"])
    return {name: summary_of(name, suite) for name, suite in sorted(suites.items())}


def concurrent_work(stages, slots):
    """Returns the slot seconds of each stage. Concurrent stages share slots equally, and no stage has more slots than
    tasks."""
    instants = sorted({instant for stage in stages for instant in (stage["start"], stage["end"])})
    work = [0.0] * len(stages)
    for begin, end in zip(instants, instants[1:]):
        busy = [i for i, stage in enumerate(stages) if stage["start"] <= begin and end <= stage["end"]]
        for i in busy:
            work[i] += min(slots / len(busy), stages[i]["count"]) * (end - begin)
    return work


def of_table(folder, hosts):
    """Like of_log(), but reads tables of stages and assumes equal task times in each stage."""
    def rows(name):
        with open(folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    told = dict(line.split(";", 1) for line in (folder / "application.info").read_text().splitlines() if ";" in line)
    start = next(int(row["Timestamp"]) for row in rows("application.csv") if row["Event"].endswith("ApplicationStart"))
    stages = [{"id": row["Stage ID"], "parents": row["Parent IDs"].split(), "count": int(row["Number of Tasks"]),
               "start": (int(row["Submission Time"]) - start) / 1000, "end": (int(row["Completion Time"]) - start) / 1000}
              for row in rows("StageDetails.csv") if row["Executed"] == "True" and int(row["Number of Tasks"]) > 0]
    slots = hosts * SLOTS_OF_HOST
    for stage, work in zip(stages, concurrent_work(stages, slots)):
        stage["tasks"] = [work / min(stage["count"], slots) / -(-stage["count"] // slots)] * stage["count"]
    return {"name": folder.name, "hosts": hosts, "data": float(told["Data Size"]), "slots": slots, "stages": stages,
            "seconds": (max(int(row["Completion Time"]) for row in rows("JobDetails.csv")) - start) / 1000}


def plan_of(run):
    """Returns the stages as a plan. Each stage waits for its parents, and for the last stage that ended before its
    submission."""
    ran = {stage["id"] for stage in run["stages"]}
    stages = []
    for stage in run["stages"]:
        before = [other for other in run["stages"] if other["end"] <= stage["start"]]
        last = max(before, key=lambda other: other["end"], default=None)
        after = {parent for parent in stage["parents"] if parent in ran} | ({last["id"]} if last else set())
        stages.append({"name": stage["id"], "after": sorted(after), "tasks": stage["count"],
                       "task_seconds": [max(stage["tasks"][0], 1e-3)],
                       "lag_seconds": stage["start"] - (last["end"] if last else 0)})
    return {"name": run["name"], "cluster": {"slots": run["slots"]}, "stages": stages}


def log_of(run):
    """Returns the stages of a table as an event log. An eighth of the tasks run on an eighth of the slots, with equal times
    and equal shares of the data."""
    slots, ran = run["slots"] // SLOTS_OF_HOST, {stage["id"] for stage in run["stages"]}
    events = [{"Event": "SparkListenerLogStart", "Spark Version": "1.4.0"},
              {"Event": "SparkListenerApplicationStart", "App Name": "table", "App ID": run["name"], "Timestamp": 0},
              {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.executor.memory": "8g"}}]
    events += [{"Event": "SparkListenerExecutorAdded", "Timestamp": 0, "Executor ID": str(host),
                "Executor Info": {"Host": f"h{host}", "Total Cores": 1}} for host in range(run["hosts"])]
    for number, stage in enumerate(run["stages"]):
        start, end = (int(1000 * stage[name]) for name in ("start", "end"))
        count, bytes_of_all = max(1, round(stage["count"] / SLOTS_OF_HOST)), run["data"] * 2 ** 27
        info = {"Stage ID": int(stage["id"]), "Stage Attempt ID": 0, "Stage Name": f"stage {stage['id']}",
                "Number of Tasks": count, "Parent IDs": [int(parent) for parent in stage["parents"] if parent in ran]}
        events += [{"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": start, "Stage Infos": [info],
                    "Properties": {}},
                   {"Event": "SparkListenerStageSubmitted", "Stage Info": {**info, "Submission Time": start}}]
        took = max(1, (end - start) // -(-count // slots))
        moved = {"Bytes Read": int(bytes_of_all / count), "Records Read": int(bytes_of_all / count / 100)}
        read = {"Shuffle Read Metrics": {"Remote Bytes Read": moved["Bytes Read"] // 4,
                                         "Total Records Read": moved["Records Read"] // 4}}
        for task in range(count):
            at = start + task // slots * took
            events.append({"Event": "SparkListenerTaskEnd", "Stage ID": int(stage["id"]), "Stage Attempt ID": 0,
                           "Task End Reason": {"Reason": "Success"},
                           "Task Info": {"Task ID": 10 ** 6 * number + task, "Index": task, "Attempt": 0, "Host": "h",
                                         "Executor ID": str(task % slots), "Launch Time": at, "Finish Time": at + took},
                           "Task Metrics": {"Executor Run Time": took,
                                            **(read if info["Parent IDs"] else {"Input Metrics": moved})}})
        events += [{"Event": "SparkListenerStageCompleted", "Stage Info": {**info, "Completion Time": end}},
                   {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": end,
                    "Job Result": {"Result": "JobSucceeded"}}]
    events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": int(1000 * run["seconds"])})
    return "".join(json.dumps(event) + "\n" for event in events)


def evenly(some, count):
    return some[len(some) // count // 2::max(len(some) // count, 1)][:count]


def learnt_tables(arguments, application, runs, folder):
    """Returns a summary of answers for other hosts and other data. Eight runs of each half of the runs, ordered by data,
    predict eight runs of the other half. Neighbours in this order are in the same half, since runs come in pairs."""
    suite = {"tidemark": [], "held": [], "width": []}
    runs = sorted(runs, key=lambda run: (run["data"], run["hosts"], run["name"]))
    for half in (0, 1):
        halves = [[run for i, run in enumerate(runs) if i // 2 % 2 == part] for part in (half, 1 - half)]
        seen, asked = (evenly(part, 8) for part in halves)
        for run in seen:
            (folder / run["name"]).write_text(log_of(run))
        for run in asked:
            row = foretold(arguments.tidemark, folder / seen[0]["name"], [folder / run["name"] for run in seen[1:]],
                           ["--executors", str(run["hosts"]), "--data", f"{run['data'] / seen[0]['data']:.6g}"])[-1]
            suite["tidemark"].append(abs(row["median"] - run["seconds"]) / run["seconds"])
            suite["held"].append(row["lower"] <= run["seconds"] <= row["upper"])
            suite["width"].append((row["upper"] - row["lower"]) / row["median"])
    return summary_of(f"{application}, hosts and data", suite)


def tables(arguments):
    """Returns the mean error of each method by application in tables of stages, from each run to the runs with as much
    data on other numbers of hosts."""
    suites = {}
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run(["tar", "--zstd", "-xf", arguments.tables, "-C", temporary], check=True)
        plan = pathlib.Path(temporary) / "plan.json"
        runs = {}
        for file in sorted(pathlib.Path(temporary).glob("*/*hosts*/**/StageDetails.csv")):
            application, hosts, *_ = file.relative_to(temporary).parts
            run = of_table(file.parent, int(re.match(r"\d+", hosts)[0]))
            runs.setdefault(application, []).append(run)
        for application, some in runs.items():
            errors = {method: [] for method in METHODS}
            for base in some:
                others = [run for run in some if run["hosts"] != base["hosts"]
                          and abs(run["data"] / base["data"] - 1) <= SAME_DATA_WITHIN]
                slots = sorted({run["slots"] for run in others})
                if not slots:
                    continue
                plan.write_text(json.dumps(plan_of(base)))
                said = foretold(arguments.tidemark, plan, [], ["--slots", ",".join(map(str, slots))])
                ours = {row_slots: row["median"] for row_slots, row in zip(slots, said[-len(slots):])}
                for run in others:
                    answers = {"tidemark": ours[run["slots"]],
                               **{name: method(base, run["slots"]) for name, method in OTHERS.items()}}
                    for name, seconds in answers.items():
                        errors[name].append(abs(seconds - run["seconds"]) / run["seconds"])
            if errors["tidemark"]:
                suites[application] = summary_of(application, errors)
            if len({run["hosts"] for run in some}) > 1:
                suites[f"{application}, hosts and data"] = learnt_tables(arguments, application, some,
                                                                         pathlib.Path(temporary))
    return suites


def summary_of(suite, errors):
    means = {method: statistics.fmean(some) for method, some in errors.items()}
    print(f"{suite}, {len(errors['tidemark'])} answers: "
          + ", ".join(f"{name} {100 * err:.1f} %" for name, err in means.items()), flush=True)
    return means
