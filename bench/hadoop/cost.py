#!/usr/bin/env python3
"""Measures the processor time that each part of the connector costs per task, without a cluster.

Hadoop's own task processes (YarnChild) run one task each, assigned by a replacement of the application
master (agent/hadoop, TaskHost), alternately with and without the connector. A real master receives the reports.

process_s     additional time of an almost idle process: user and system time of all its threads. The larger
              value of map and reduce tasks.
key_group_ns  additional time of a reduce task per key group of one record of 100 bytes, with and without
              sampled keys.
reread_share  share of a map task's processor time without the connector that reading its output again takes.
report_us     time of the connector's threads per report of a reduce task, after the first two.

The medians cover differences between consecutive runs. The parts named `inside` use the clocks of threads: of the
task's thread within the connector, and of the connector's threads. They scatter less, and omit compilation and
garbage collection.
usage: ./dev bench cost [--json FILE] [--pairs N] [--long-pairs N] [--records N] [--map-megabytes N]
                        [--java=OPTIONS] [--set NAME=VALUE...]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import measure  # noqa: E402

# The same options as in the other Hadoop benchmarks (Cluster in agent/hadoop).
JAVA_OPTIONS = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
OPENS = "--add-opens=java.base/java.lang=ALL-UNNAMED"
FLUSH_SECONDS = 1
ONE_RECORD = 1


def class_path(folder):
    subprocess.run(
        ["mvn", "--batch-mode", "--no-transfer-progress", "-q", "-f", str(hadoop.ROOT / "agent" / "pom.xml"),
         "-pl", "hadoop", "-am", "verify", "-Dsurefire.skip=true", "-Dit.test=BenchClassPath",
         f"-Dtidemark.bench={folder}"], check=True)
    return (folder / "classpath").read_text()


def property_of(name, value):
    return f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"


class Tasks:
    """Runs the processes of tasks."""

    def __init__(self, folder, classes, java_options, properties, port):
        self.folder = folder
        self.properties = "".join(property_of(*words.split("=", 1)) for words in properties)
        self.java_options = java_options
        self.classes = classes
        self.port = port

    def run(self, attempt, settings):
        """Returns the nanoseconds by part of Stopwatch, and `process` for the total."""
        place = pathlib.Path(tempfile.mkdtemp(prefix="task-", dir=self.folder))
        job = (self.folder / f"{settings}.xml").read_text()
        (place / "job.xml").write_text(job.replace("</configuration>", f"{self.properties}</configuration>"))
        environment = {**os.environ, "PWD": str(place), "USER": os.environ.get("USER", "root"),
                       "LOCAL_DIRS": str(place / "local"), "HADOOP_TOKEN_FILE_LOCATION": str(self.folder / "tokens"),
                       "CONTAINER_ID": "container_1_0001_01_000002"}
        command = ["java", *self.java_options.split(), OPENS, "-cp", self.classes,
                   "-Dlog4j.configuration=container-log4j.properties", f"-Dyarn.app.container.log.dir={place}",
                   "-Dyarn.app.container.log.filesize=0", "-Dhadoop.root.logger=INFO,CLA",
                   "-Dhadoop.root.logfile=syslog",
                   "org.apache.hadoop.mapred.YarnChild", "127.0.0.1", self.port, attempt, "0"]
        with open(place / "said", "w") as said:
            process = subprocess.Popen(command, cwd=place, env=environment, stdout=said, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        try:
            log = (place / "syslog").read_text() if (place / "syslog").exists() else ""
            if process.returncode != 0 or not (place / "cost.json").exists():
                raise SystemExit(f"{attempt} failed:\n{(place / 'said').read_text()[-2000:]}\n{log[-4000:]}")
            if settings.startswith("watched") and "progress is reported to the master" not in log:
                raise SystemExit(f"{attempt} did not report:\n{log[-4000:]}")
            parts = json.loads((place / "cost.json").read_text())
        finally:
            shutil.rmtree(place)
        return {**parts, "process": round(1e9 * (used.ru_utime + used.ru_stime))}


@contextlib.contextmanager
def task_host(folder, classes, address, map_bytes, records):
    host = subprocess.Popen(
        ["java", *JAVA_OPTIONS.split(), OPENS, "-cp", classes,
         "org.tidemark.hadoop.cost.TaskHost", str(folder), address, str(map_bytes), str(records)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=open(folder / "host.log", "w"))
    try:
        port = host.stdout.readline().strip()
        if not port:
            raise SystemExit((folder / "host.log").read_text()[-3000:])
        yield port
    finally:
        host.stdin.close()
        host.wait(timeout=30)


def in_turn(pair, runs):
    """Runs both functions in alternating order."""
    order = list(runs.items())
    return {name: run() for name, run in (order if pair % 2 == 0 else order[::-1])}


def inside_map(parts):
    """Returns the time of the map task's thread in the connector, and of the connector's threads."""
    def of(place):
        return sum(parts[f"{place}_{call}"] for call in ("init", "flush", "close"))
    return of("outer") - of("inner") + parts["connector_threads"]


def inside_reduce(parts):
    return sum(parts[f"shuffle_{call}"] for call in ("init", "run", "close")) + parts["connector_threads"]


def processes(tasks, pairs):
    """Runs pairs of map and reduce tasks with almost no work."""
    runs = {"map": [], "reduce": []}
    for pair in range(pairs):
        for kind, letter in (("map", "m"), ("reduce", "r")):
            attempt = f"attempt_1_{pair + 1:04}_{letter}_000000_0"
            runs[kind].append(in_turn(pair, {
                name: lambda name=name: tasks.run(attempt, f"{name}-{ONE_RECORD}")
                for name in ("plain", "watched")}))
        print(f"process, pair {pair + 1} of {pairs}: " + ", ".join(
            f"{kind} {more(runs[kind][-1]) / 1e9:+.3f} s" for kind in runs), flush=True)
    return runs


def maps(tasks, pairs):
    runs = []
    for pair in range(pairs):
        attempt = f"attempt_2_{pair + 1:04}_m_000000_0"
        runs.append(in_turn(pair, {name: lambda name=name: tasks.run(attempt, f"{name}-{ONE_RECORD}")
                                   for name in ("plain", "watched")}))
        print(f"map, pair {pair + 1} of {pairs}, {runs[-1]['plain']['process'] / 1e9:.1f} s of processor: "
              f"{more(runs[-1]) / 1e9:+.3f} s, reading again {reread(runs[-1]['watched']) / 1e9:.3f} s", flush=True)
    return runs


def reduces(tasks, pairs, records):
    """Must run after maps(), since the master samples keys only in jobs whose map tasks have reported keys."""
    runs = []
    for pair in range(pairs):
        runs.append(in_turn(pair, {
            "plain": lambda: tasks.run(f"attempt_3_{pair + 1:04}_r_000000_0", f"plain-{records}"),
            "unsampled": lambda: tasks.run(f"attempt_3_{pair + 1:04}_r_000000_0", f"watched-{records}"),
            "sampled": lambda: tasks.run(f"attempt_2_{pair + 1:04}_r_000000_0", f"watched-{records}")}))
        print(f"reduce, {pair + 1} of {pairs}, {runs[-1]['plain']['reduce_process'] / records:.0f} ns a key group: " +
              ", ".join(f"{name} {more(runs[-1], 'reduce_process', name) / records:+.0f} ns"
                        for name in ("unsampled", "sampled")), flush=True)
    return runs


def more(runs, part="process", watched="watched"):
    return runs[watched][part] - runs["plain"][part]


def reread(parts):
    return parts["outer_flush"] - parts["inner_flush"]


def report_nanos(parts):
    """Returns the reports during the reduce phase, or None if the task was too short."""
    if "reports_begin" not in parts:
        return None
    reports = parts["reduce_wall"] // (1_000_000_000 * FLUSH_SECONDS) - 2
    return parts["reports_threads"] / reports if reports > 0 else None


def spread(values, unit):
    return {name: round(value * unit, 9) if name != "n" else value
            for name, value in measure.spread(values).items() if name != "mean"}


def figures(process_runs, map_runs, reduce_runs, records):
    process = {kind: {"plain": spread([pair["plain"]["process"] for pair in pairs], 1e-9),
                      "more": spread([more(pair) for pair in pairs], 1e-9),
                      "inside": spread([inside(pair["watched"]) - (0 if kind == "map" else inside(pair["plain"]))
                                        for pair in pairs], 1e-9)}
               for (kind, pairs), inside in zip(process_runs.items(), (inside_map, inside_reduce))}
    plain_map = statistics.median(pair["plain"]["process"] for pair in map_runs)
    of_map = {"plain": spread([pair["plain"]["process"] for pair in map_runs], 1e-9),
              "more": spread([more(pair) for pair in map_runs], 1e-9),
              "reread": spread([reread(pair["watched"]) for pair in map_runs], 1e-9)}
    groups = {name: {part.removeprefix("reduce_"): spread([more(runs, part, name) / records for runs in reduce_runs], 1)
                     for part in ("reduce_process", "reduce_thread")} for name in ("unsampled", "sampled")}
    groups["plain"] = spread([runs["plain"]["reduce_process"] / records for runs in reduce_runs], 1)
    reports = [nanos for runs in reduce_runs for name in ("unsampled", "sampled")
               if (nanos := report_nanos(runs[name])) is not None]
    return {"process_s": max(kind["more"]["median"] for kind in process.values()),
            "key_group_ns": groups["sampled"]["process"]["median"],
            "reread_share": of_map["reread"]["median"] * 1e9 / plain_map,
            "report_us": statistics.median(reports) / 1e3 if reports else None,
            "processes": process, "map": of_map, "key_groups": groups,
            "reports": spread(reports, 1e-3) if reports else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--json", default=hadoop.ROOT / "build" / "bench" / "cost.json", help="output file")
    parser.add_argument("--pairs", type=int, default=15, help="number of pairs of idle processes")
    parser.add_argument("--long-pairs", type=int, default=5, help="number of pairs of map and reduce tasks of usual size")
    parser.add_argument("--records", type=int, default=30_000_000, help="number of records of a reduce task")
    parser.add_argument("--map-megabytes", type=int, default=128)
    parser.add_argument("--java", default=JAVA_OPTIONS, metavar="OPTIONS", help='options of the tasks, as in --java="-Xmx200m"')
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="additional settings of the jobs")
    arguments = parser.parse_args()
    context = measure.context()
    with tempfile.TemporaryDirectory(prefix="tidemark-cost-") as name:
        folder = pathlib.Path(name)
        classes = class_path(folder)
        with measure.master(arguments.tidemark) as address, \
                task_host(folder, classes, address, arguments.map_megabytes * 1_000_000,
                          arguments.records) as port:
            tasks = Tasks(folder, classes, arguments.java, arguments.set, port)
            for kind in ("m", "r"):  # Fills the caches of files.
                tasks.run(f"attempt_1_9999_{kind}_000000_0", f"watched-{ONE_RECORD}")
            runs = (processes(tasks, arguments.pairs), maps(tasks, arguments.long_pairs),
                    reduces(tasks, arguments.long_pairs, arguments.records))
    result = figures(*runs, arguments.records)
    print(json.dumps(result, indent=1))
    measure.keep(arguments.json, {
        "benchmark": "cost", "context": context, "java": arguments.java, "settings": arguments.set,
        "records": arguments.records, "map_bytes": arguments.map_megabytes * 1_000_000, **result})


if __name__ == "__main__":
    main()
