"""Whether what a master names is what slows a query down, on a real Spark of two hosts.

Four queries of different kinds run at once in two FAIR pools: one computes, one shuffles, one reads, one goes over what
is cached. `tidemark why` names what one of them, the target, waited for most; then each of the others is taken away in
turn. Right: without the one that was named first the target is fastest. A workload in which the target gains less than
5 % from any of that tells nothing, and does not count.

With --induced one query runs alone while a process beside it spins on a host's processor, writes to its disk, or its
network is slow; or nothing of that. Right: the resource and the host are those that the query waited for most. Without
contention, and a wait that takes more than a fifth of the query's time, or a job that is named, is false blame.

Hosts are network namespaces with a processor each, made here, which needs root (hosts.py); they have one disk together,
so the host whose disk is not written to has its shuffle files in memory. What was run is kept in the file of --json: a
second call goes on from there.
"""

import argparse
import contextlib
import json
import pathlib
import queue
import random
import subprocess
import tempfile
import threading
import time

import cluster
import hosts as machines
import why

KINDS = ("compute", "shuffle", "read", "cache")
POOLS = ("a", "b")
SLOTS = 4  # of each host, on one processor
WORKLOAD_SECONDS = 180
GAIN_MIN = 0.05
WAIT_MIN = 0.2  # of a query's time, from which on the console names it
CONTENTIONS = ("none", "processor", "disk", "network")
CONTENTION_FOR = {"io": "disk"}  # what is waited for then; of the others the name is the same
SPINNERS = 3
WRITERS = 2
SLOW_RATE = "4mbit"
TARGET = "target:mixed:a:8:0.5"
WARM = "warm:mixed:a:8:0.2"


class Application:
    """Rounds.java on a standalone cluster: one round at a time."""

    def __init__(self, spark, hosts, manager, tidemark_address, more=()):
        self.deadline = time.monotonic() + WORKLOAD_SECONDS
        data = spark.folder / f"data-{time.monotonic_ns()}"
        events = spark.folder / f"events-{time.monotonic_ns()}"
        data.mkdir()
        events.mkdir()
        settings = {"spark.master": manager.address, "spark.driver.host": machines.HUB,
                    "spark.driver.bindAddress": machines.HUB, "spark.scheduler.mode": "FAIR",
                    "spark.jars": str(cluster.CONNECTOR), "spark.plugins": "org.tidemark.spark.TidemarkPlugin",
                    "spark.tidemark.master": tidemark_address, **dict(more)}
        command = spark.submit(["--name", "rounds", "--class", "org.tidemark.bench.Rounds", str(spark.jobs_jar()),
                                str(data)], settings, events)
        self.log = f"{events}.log"
        self.hosts = hosts
        self.process = hosts.start(hosts.within_hub(*command), self.log, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, cwd=spark.folder,
                                   env={**spark.environment(), "SPARK_LOCAL_IP": machines.HUB})
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.until("READY")

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def until(self, last):
        said = []
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, self.deadline - time.monotonic()))
            except queue.Empty:
                raise SystemExit(f"no {last} within {WORKLOAD_SECONDS} s; see the end of its log:\n{self.end_of_log()}")
            if line is None:
                raise SystemExit(f"the application has ended:\n{self.end_of_log()}")
            if line == last:
                return said
            said.append(line)

    def end_of_log(self):
        return pathlib.Path(self.log).read_text()[-3000:]

    def round(self, *queries):
        """Of each query by its name: what a master calls it, and its seconds."""
        self.process.stdin.write(" ".join(queries) + "\n")
        self.process.stdin.flush()
        ended = [line.split() for line in self.until("ROUND") if line.startswith("QUERY ")]
        return {name: (f"job/{job}", float(seconds)) for _, name, job, seconds in ended}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.process.stdin.close()
            self.process.wait(20)
        self.hosts.end(self.process)
        self.hosts.processes.remove(self.process)


def workload(number):
    """The target, and the four queries: their amounts are chosen so that each alone takes some seconds of a processor."""
    chance = random.Random(number)
    queries = {}
    for kind in KINDS:
        weight = chance.choice((0.4, 1, 2))
        tasks = chance.choice((4, 8, 12))
        work = {"compute": 8 * weight / tasks, "shuffle": max(1, round(160 * weight / tasks)),
                "read": max(1, round(24 * weight / tasks)), "cache": round(120 * weight)}[kind]
        queries[kind] = (chance.choice(POOLS), tasks, work)
    return KINDS[number % len(KINDS)], queries, chance


def words_of(queries, share=1):
    """For Rounds.java; `share`: of their work, which is whole numbers of all but computing."""
    return [f"{kind}:{kind}:{pool}:{tasks}:{work * share if kind == 'compute' else max(1, round(work * share))}"
            for kind, (pool, tasks, work) in queries.items()]


def intervene(spark, hosts, manager, asked, number):
    target, queries, chance = workload(number)
    known = asked.jobs()
    with Application(spark, hosts, manager, asked.address) as application:
        job = asked.wait_for(None, known)
        application.round(*words_of(queries, 0.2))
        application.round(*words_of(queries, 0.2))
        together = application.round(*words_of(queries))
        time.sleep(why.SETTLED_SECONDS)
        names = {name: kind for kind, (name, _) in together.items()}
        found = why.culprits(asked.why(f"{job}/{together[target][0]}", "--top", "50"))
        named = [names[culprit["query"]] for culprit in found if culprit.get("query") in names]
        without = {}
        sources = [kind for kind in KINDS if kind != target]
        chance.shuffle(sources)
        for source in sources:
            rest = {kind: query for kind, query in queries.items() if kind != source}
            without[source] = application.round(*words_of(rest))[target][1]
    lasted = together[target][1]
    gains = {source: lasted - seconds for source, seconds in without.items()}
    best = max(gains, key=gains.get)
    return {"workload": number, "target": target, "seconds": lasted, "gains": gains,
            "counts": gains[best] >= GAIN_MIN * lasted, "named": named[0] if named else None,
            "right": bool(named) and named[0] == best, "culprits": found[:5]}


@contextlib.contextmanager
def contention(kind, hosts, host, disk):
    """While it lasts, the host lacks a resource."""
    commands = {"none": [], "network": [],
                "processor": SPINNERS * [host.within("sh", "-c", "while :; do :; done")],
                "disk": [["nice", "-n", "19", "sh", "-c", "while :; do dd if=/dev/zero of="
                          f"{disk}/noise{writer} bs=1M count=128 conv=fsync 2>/dev/null; done"]
                         for writer in range(WRITERS)]}[kind]
    processes = [subprocess.Popen(command, start_new_session=True) for command in commands]
    try:
        if kind == "network":
            hosts.limit(host, SLOW_RATE)
        yield
    finally:
        for process in processes:
            hosts.end(process)
        hosts.limit(host, machines.USUAL_RATE)
        for noise in pathlib.Path(disk).glob("noise*"):
            noise.unlink()


def waits_of(answer):
    return {CONTENTION_FOR.get(resource, resource): wait["seconds"]
            for query in answer for resource, wait in query["waits"].items() if "seconds" in wait}


def judge(kind, host, hosts, asked, job, query, seconds):
    answer = asked.why(f"{job}/{query}")
    waits = waits_of(answer)
    worst = max(waits, key=waits.get, default=None)
    others = why.other_jobs(answer, job)
    by_host = {one.address: waits_of(asked.why(f"{job}/{query}", "--host", one.address)).get(worst, 0)
               for one in hosts.hosts}
    where = max(by_host, key=by_host.get)
    named = waits.get(worst, 0) > WAIT_MIN * seconds
    found = {"contention": kind, "host": host.address, "seconds": seconds, "waits": waits, "by_host": by_host,
             "named": [worst, where] if named else None, "other_jobs": others[:3]}
    if kind == "none":
        return {**found, "false_blame": named or bool(others)}
    return {**found, "right": named and worst == kind and where == host.address}


def induce(spark, hosts, asked, number, done):
    """The contentions of a run that are not done: each on the host that has a disk in it."""
    host = hosts.hosts[number % len(hosts.hosts)]
    with tempfile.TemporaryDirectory(prefix="tidemark-", dir="/dev/shm") as memory:
        disk = spark.folder / f"disk{number}"
        disk.mkdir(exist_ok=True)
        disks = [disk if one is host else memory for one in hosts.hosts]
        with machines.Standalone(spark, hosts, 1, disks) as manager:
            known = asked.jobs()
            # A write counts once it is on the disk.
            with Application(spark, hosts, manager, asked.address, {"spark.shuffle.sync": "true"}) as application:
                job = asked.wait_for(None, known)
                application.round(WARM)
                application.round(WARM)
                kinds = [kind for kind in CONTENTIONS if kind not in done]
                random.Random(number).shuffle(kinds)
                for kind in kinds:
                    application.deadline = time.monotonic() + WORKLOAD_SECONDS
                    with contention(kind, hosts, host, disk):
                        time.sleep(1)
                        query, seconds = application.round(TARGET)["target"]
                    time.sleep(why.SETTLED_SECONDS)
                    yield {"run": number, **judge(kind, host, hosts, asked, job, query, seconds)}


def summary(runs, induced):
    if induced:
        shown = [run for run in runs if run["contention"] != "none"]
        return {"induced": {"right": sum(run["right"] for run in shown), "of": len(shown),
                            "false_blame": sum(run.get("false_blame", False) for run in runs),
                            "quiet": len(runs) - len(shown)}}
    counted = [run for run in runs if run["counts"]]
    return {"intervention": {"right": sum(run["right"] for run in counted), "of": len(counted), "runs": len(runs)}}


def run_all(arguments, spark, hosts, asked, runs):
    """Yields what is new."""
    if arguments.induced:
        for number in range(arguments.runs):
            done = [run["contention"] for run in runs if run["run"] == number]
            if len(done) < len(CONTENTIONS):
                yield from induce(spark, hosts, asked, number, done)
        return
    disks = [spark.folder / f"disk-of-{host.number}" for host in hosts.hosts]
    for disk in disks:
        disk.mkdir()
    for number in range(arguments.runs):
        if all(run["workload"] != number for run in runs):
            with machines.Standalone(spark, hosts, SLOTS, disks) as manager:
                yield intervene(spark, hosts, manager, asked, number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--induced", action="store_true", help="contention on one host, instead of other queries")
    parser.add_argument("--version", default="3.5.7", help="of Spark")
    parser.add_argument("--runs", type=int, default=2,
                        help="workloads; with --induced, of each contention and without any")
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", help="where figures and runs are kept")
    parser.add_argument("--save", action="store_true", help="the figures in bench/results/blame.json, too")
    arguments = parser.parse_args()
    path = arguments.json or cluster.BUILD / ("induced.json" if arguments.induced else "intervention.json")
    cluster.build_connector()
    runs = cluster.measure.kept(path).get("runs", [])
    with cluster.Spark(arguments.version, arguments.tidemark) as spark, machines.Hosts() as hosts, \
            cluster.measure.master(arguments.tidemark, within=hosts.within_hub(), host=machines.HUB) as address:
        asked = why.Asked(hosts.within_hub(arguments.tidemark), address)
        for run in run_all(arguments, spark, hosts, asked, runs):
            runs.append(run)
            print(json.dumps(run), flush=True)
            cluster.measure.keep(path, {**summary(runs, arguments.induced), "context": cluster.measure.context(),
                                        "version": arguments.version, "runs": runs})
    print(json.dumps(summary(runs, arguments.induced)))
    if arguments.save:
        cluster.measure.merge("blame", summary(runs, arguments.induced))


if __name__ == "__main__":
    main()
