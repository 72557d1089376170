#!/usr/bin/env python3
"""Compares predicted with measured task times on YARN, as in sections 7.2 and 7.3 of the BOE paper.

The tasks of the cluster share one processor, a disk and a network with limited bandwidths. `words` computes and `sort`
reads and shuffles. Each job runs once with PROFILED tasks at a time, with a master that keeps its history. The master
then predicts the task times and durations of other runs from a plan with the speeds that `tidemark profile node`
measured: fewer or more tasks at a time (Figure 9), two jobs that run at the same time (Table 3), and a workflow. A
measured task time is the median of the tasks of a phase, or of its tasks within a state. The accuracy is 1 - |predicted
- measured| / measured. `constant` assumes the profiled task time (Starfish). All runs report to a master, which needs
processor time, too. Needs root, fio and iperf3. The file of --json keeps the runs, and a second call continues from
there; if no run is missing, it only predicts.
usage: ./dev bench hadoop_boe [--json FILE] [--minutes N] [--only NAME...]
"""

import argparse
import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import accuracy
import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import measure  # noqa: E402

RATE = 4_000_000  # bytes per second, of the disk and of the network
CORES = 1
PERIOD_MICROSECONDS = 20_000
SHARES = 20_000
FILES = 8
TASKS_AT_ONCE = (1, 4, 8)
PROFILED = 2
TOGETHER = 4  # slots of several jobs together
AM_MEGABYTES = 512
NODE_MEGABYTES = 1536
# Job name in Hadoop, jar words, size of each input file in bytes, number of reduce tasks.
JOBS = {"words": ("word count", ["wordcount"], 12_000_000, 4),
        "sort": ("TeraSort", ["terasort", "-Dmapreduce.terasort.simplepartitioner=true"], 16_000_000, 8)}
# Jobs of a workflow, and the jobs that each waits for.
WORKFLOWS = {"pair": {"words": [], "sort": []},
             "chain": {"words": [], "sort": ["words"], "words2": ["words"]}}
PHASES = {"MAP": 0, "REDUCE": 1}
FIRST_PHASE = 1 << 31  # number of the map phase in snapshots


def kind(job):
    return job.rstrip("2")


class Limits(threading.Thread):
    """A control group for task processes. Moves the tasks of the cluster there until exit."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder = str(folder)
        self.over = threading.Event()
        self.seen = set()

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        self.start()
        return self

    def make(self):
        self.groups = []
        for kind in ("cpu", "blkio"):
            self.groups.append(measure.control_group(kind))
        processor, disk = self.groups
        (processor / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
        (processor / "cpu.cfs_quota_us").write_text(str(CORES * PERIOD_MICROSECONDS))
        (processor / "cpu.shares").write_text(str(SHARES))
        device = os.stat(self.folder).st_dev
        (disk / "blkio.throttle.read_bps_device").write_text(f"{os.major(device)}:{os.minor(device)} {RATE}")
        must("ip", "link", "set", "lo", "up", "mtu", "9000")

    def limit_network(self):
        """Limits the loopback interface of the own network namespace. A short queue shares it evenly."""
        must("tc", "qdisc", "add", "dev", "lo", "root", "handle", "1:", "htb", "default", "1")
        must("tc", "class", "add", "dev", "lo", "parent", "1:", "classid", "1:1", "htb", "rate", f"{8 * RATE}bit",
             "burst", "128kb", "quantum", "20000")
        must("tc", "qdisc", "add", "dev", "lo", "parent", "1:1", "pfifo", "limit", "50")

    def run(self):
        while not self.over.wait(0.1):
            for process in set(filter(str.isdigit, os.listdir("/proc"))) - self.seen:
                with contextlib.suppress(OSError):
                    line = pathlib.Path("/proc", process, "cmdline").read_bytes().decode(errors="replace")
                    if "java" not in line.split("\0")[0]:
                        continue  # It may yet become a task.
                    self.seen.add(process)
                    if "YarnChild" in line and self.folder in line:
                        for group in self.groups:
                            (group / "cgroup.procs").write_text(process)

    def __exit__(self, *exception):
        self.over.set()
        self.join()
        self.remove()

    def remove(self):
        for group in self.groups:
            for process in (group / "cgroup.procs").read_text().split():
                (group.parent / "cgroup.procs").write_text(process)
            group.rmdir()


def must(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def write_inputs(folder):
    text = accuracy.books()
    for job, (_, _, size, _) in JOBS.items():
        (folder / job).mkdir(parents=True)
        for number in range(FILES):
            rows = os.urandom(size // 100 * 100) if job == "sort" else (text * (size // len(text) + 1))[:size]
            (folder / job / str(number)).write_bytes(rows)


def drop_from_cache(folder):
    for path in folder.iterdir():
        with open(path) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run_job(cluster, job, at_once, megabytes, address):
    """Runs a job with at most `at_once` tasks at a time, which report to a master. Returns each task's phase, start and end."""
    _, words, _, reduces = JOBS[kind(job)]
    data = cluster.folder / "data"
    drop_from_cache(data / kind(job))
    words = [*words, f"-Dmapreduce.job.running.map.limit={at_once}", f"-Dmapreduce.job.running.reduce.limit={at_once}",
             f"-Dmapreduce.map.memory.mb={megabytes}", f"-Dmapreduce.reduce.memory.mb={megabytes}",
             f"-Dmapreduce.job.reduces={reduces}", f"-Dyarn.app.mapreduce.am.resource.mb={AM_MEGABYTES}",
             "-Dmapreduce.job.reduce.slowstart.completedmaps=1", "-Dmapreduce.map.speculative=false",
             "-Dmapreduce.reduce.speculative=false",
             # A fetch that loses its connection would delay its task by three minutes.
             "-Dmapreduce.reduce.shuffle.read.timeout=20000", f"file://{data / kind(job)}", f"file://{data}{cluster.output()}"]
    command = cluster.watched_command("examples", words, ["-o", "quiet", "--master", address])
    number = re.search(r"Running job: (job_\d+_\d+)", cluster.timed(command)[1])[1]
    return tasks_of(cluster, number)


def tasks_of(cluster, number):
    path = f"/ws/v1/history/mapreduce/jobs/{number}/tasks"
    deadline = time.monotonic() + 30
    while not (listed := cluster.ask(path, "past")):
        if time.monotonic() > deadline:
            raise SystemExit(f"the history server does not have {number}")
        time.sleep(0.5)
    attempts = [(task["type"], attempt) for task in listed["tasks"]["task"]
                for attempt in cluster.ask(f"{path}/{task['id']}/attempts", "past")["taskAttempts"]["taskAttempt"]]
    return [(phase, attempt["startTime"] / 1000, attempt["finishTime"] / 1000) for phase, attempt in attempts
            if attempt["state"] == "SUCCEEDED"]


def run_workflow(cluster, jobs, address):
    """Starts each job when the jobs before it have ended."""
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as threads:
        started = {}

        def run(job):
            for before in jobs[job]:
                started[before].result()
            return run_job(cluster, job, TOGETHER, AM_MEGABYTES, address)

        for job in jobs:
            started[job] = threads.submit(run, job)
        return {job: future.result() for job, future in started.items()}


def node_of(tidemark, folder):
    """Returns the speeds of the node. The measured directory is outside the limits of the tasks' disk."""
    measured = must(tidemark, "profile", "node", "--directory", folder, "--size", "64MiB")
    node = {name: float(value) for name, value in re.findall(r"(\w+): ([\d.e+]+)", measured)}
    return {**node, "cores": CORES, "file_system_read_bytes_per_second": RATE}


def predict(tidemark, address, jobs, slots, node):
    """Returns the duration, and the tasks' time for each state, which is a set of phases of jobs."""
    names = list(jobs)
    plan = {"name": "boe", "cluster": {"slots": slots, "nodes": 1, "policy": "fair"},
            "jobs": [{"name": job, "history": JOBS[kind(job)][0], "after": after} for job, after in jobs.items()]}
    if node:
        plan["node"] = node
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(plan, file)
        file.flush()
        answer = json.loads(must(tidemark, "what-if", file.name, "--master", address, "-o", "json"))[0]
    states = {}
    for state in answer.get("states", []):
        times = {(names[each["id"]["child"] - 1], each["id"]["stage"] - FIRST_PHASE): seconds(each["task_time"])
                 for each in state["stages"]}
        lasts = seconds(state["ends_in"]) - seconds(state["starts_in"])
        longest = states.get(frozenset(times))
        if longest is None or lasts > longest[0]:
            states[frozenset(times)] = lasts, times
    return seconds(answer["snapshot"]["estimate"]["remaining"]["median"]), {key: times for key, (_, times) in states.items()}


def seconds(text):
    return float(text.rstrip("s"))


def medians_by_state(ran):
    """Returns the median task time of each phase in each state. A task belongs to the state at its middle."""
    phases = {}
    for job, tasks in ran.items():
        for phase, start, end in tasks:
            phases.setdefault((job, PHASES[phase]), []).append((start, end))
    spans = {key: (min(start for start, _ in tasks), max(end for _, end in tasks)) for key, tasks in phases.items()}
    times = {}
    for key, tasks in phases.items():
        for start, end in tasks:
            middle = (start + end) / 2
            state = frozenset(other for other, (begin, last) in spans.items() if begin <= middle <= last)
            times.setdefault(state, {}).setdefault(key, []).append(end - start)
    return {state: {key: (statistics.median(some), len(some)) for key, some in each.items()}
            for state, each in times.items()}


def lasted(ran):
    every = [task for tasks in ran.values() for task in tasks]
    return max(end for _, _, end in every) - min(start for _, start, _ in every)


def accuracy_of(predicted, measured):
    return 100 * (1 - abs(predicted - measured) / measured)


def name_of(key):
    return f"{key[0]}/{'map' if key[1] == 0 else 'reduce'}"


def rows_of(name, jobs, ran, predicted, constant):
    """Returns a row for each phase in each state, and a row for the duration."""
    duration, states = predicted
    rows = []
    for state, times in medians_by_state(ran).items():
        for key, (median, count) in times.items():
            if key in states.get(state, {}):
                rows.append({"run": name, "what": name_of(key), "beside": sorted(map(name_of, state - {key})),
                             "tasks": count, "measured": median, "predicted": states[state][key],
                             "constant": constant[kind(key[0])][key[1]]})
    rows.append({"run": name, "what": "duration", "beside": [], "measured": lasted(ran), "predicted": duration})
    for row in rows:
        row["accuracy"] = accuracy_of(row["predicted"], row["measured"])
        if "constant" in row:
            row["constant_accuracy"] = accuracy_of(row["constant"], row["measured"])
        print(f"{name} {row['what']} {' and '.join(row['beside'])}: measured {row['measured']:.1f} s, predicted "
              f"{row['predicted']:.1f} s, accuracy {row['accuracy']:.1f} %, constant "
              f"{row.get('constant_accuracy', float('nan')):.1f} %", flush=True)
    return rows


def print_means(rows):
    for title, chosen in (
            ("task times by tasks at once", lambda row: "x" in row["run"] and row["what"] != "duration"),
            ("task times of jobs at the same time",
             lambda row: row["run"] in WORKFLOWS and row["beside"] and row["what"] != "duration"),
            ("durations", lambda row: row["run"] in WORKFLOWS and row["what"] == "duration")):
        some = [row for row in rows if chosen(row)]
        constants = [row["constant_accuracy"] for row in some if "constant_accuracy" in row]
        if some:
            print(f"{title}: {statistics.fmean(row['accuracy'] for row in some):.1f} % of {len(some)}" +
                  (f", constant {statistics.fmean(constants):.1f} %" if constants else ""))


def start(stack, tidemark):
    """Starts the cluster with its limits. Returns it, and the address of a master that does not predict."""
    cluster = stack.enter_context(hadoop.Cluster(tidemark, NODE_MEGABYTES, {}, **{
        "yarn.scheduler.capacity.root.default.ordering-policy": "fair"}))
    limits = stack.enter_context(Limits(cluster.folder))
    write_inputs(cluster.folder / "data")
    limits.limit_network()
    return cluster, stack.enter_context(measure.master(tidemark))


def run_all(arguments):
    began = time.monotonic()
    result = {"runs": {}, **measure.kept(arguments.json)}
    runs = result["runs"]

    with contextlib.ExitStack() as stack, \
            measure.master(arguments.tidemark, data_dir=f"{arguments.json}.data") as address:
        started = functools.cache(lambda: start(stack, arguments.tidemark))

        def kept(values, name, measured):
            """Returns values[name]. If it is missing, measures it and stores it in the file first."""
            if name not in values:
                values[name] = measured()
                result.setdefault("contexts", {})[name] = measure.context()
                measure.keep(arguments.json, {**result, "context": measure.context(), "rate": RATE, "cores": CORES})
            return values[name]

        node = kept(result, "node", lambda: node_of(arguments.tidemark, started()[0].folder))
        profiles = kept(runs, "profiled", lambda: {
            job: run_job(started()[0], job, PROFILED, 256, address) for job in JOBS})
        constant = {job: [medians_by_state({job: tasks})[frozenset([(job, phase)])][job, phase][0] for phase in (0, 1)]
                    for job, tasks in profiles.items()}
        print(f"node: {node}\nprofiled with {PROFILED} tasks at once, map and reduce: {constant}", flush=True)
        rows = []
        for name, jobs in {**{f"{job} x{at_once}": {job: []} for at_once in TASKS_AT_ONCE for job in JOBS},
                           **WORKFLOWS}.items():
            if name not in runs and (time.monotonic() - began > 60 * arguments.minutes or
                                     name not in (arguments.only or [name])):
                continue
            at_once = TOGETHER if name in WORKFLOWS else int(name.split("x")[1])
            ran = kept(runs, name, (lambda: run_workflow(started()[0], jobs, started()[1])) if name in WORKFLOWS else (
                lambda: {job: run_job(started()[0], job, at_once, 256, started()[1]) for job in jobs}))
            predicted = predict(arguments.tidemark, address, jobs, at_once, node)
            rows += rows_of(name, jobs, ran, predicted, constant)
            rows[-1]["without_node"], _ = predict(arguments.tidemark, address, jobs, at_once, None)
            print(f"{name}: predicted without the node's speeds {rows[-1]['without_node']:.1f} s", flush=True)
    measure.keep(arguments.json, {**result, "rows": rows})
    print_means(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--json", default=hadoop.ROOT / "build" / "bench" / "boe.json", help="output file")
    parser.add_argument("--minutes", type=float, default=25, help="start no run after this time")
    parser.add_argument("--only", nargs="+", help='run only these, such as "sort x4" or pair')
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--inside"])
    measure.end_when_cut()
    must("ip", "link", "set", "lo", "up")
    run_all(arguments)


if __name__ == "__main__":
    main()
