"""Tests by intervention, on a real Spark with two hosts, whether a master names the cause of a slow query.

Four queries run concurrently in two FAIR pools. One computes, one shuffles, one reads, and one scans cached data. One
of them is the target. `tidemark why` reports for how many seconds each other query delayed the target. Then each of the
other queries is removed in turn, and finally all four run again. The answer is correct if the target is fastest without
the query that was named for the most seconds. A workload does not count if no removal gains 10 %. It also does not
count if the best gain exceeds the next by less than the difference between the two rounds of all four queries.

With --paper, `tidemark contention` names the query, and the interventions of the ProtoXplore paper follow. INTV1 delays
the named query by a quarter and by half of the target's time, INTV2 runs the same queries on twice the slots, and INTV3
gives the worst cause of all queries its own pool with half the weight of the other pools. The results are the times of
the target and of all queries before and after, and the responsibilities.

With --induced, one query runs alone. Other processes use the processor of a host or write to its disk, its network is
slow, or there is no contention. The answer is correct if the query waited most for that resource and host. Without
contention, a wait of more than a fifth of the query's time, or a named job, counts as a false finding.

The hosts are network namespaces with one processor each (hosts.py), which needs root. They share one disk, so the host
without disk contention keeps its shuffle files in memory. The file of --json keeps the results: a second call continues
from there. No workload starts that might not end within --minutes. `--only 3` runs one workload.
usage: ./dev bench spark_intervention [--induced | --paper] [--runs N] [--only N] [--minutes N] [--json FILE] [--save]
"""

import argparse
import contextlib
import os
import pathlib
import queue
import random
import statistics
import subprocess
import tempfile
import threading
import time

import cluster
import hosts as machines
import why

KINDS = ("compute", "shuffle", "read", "cache")
TARGETS = KINDS[1:]  # `compute` starts first, so it waits little
# Initial amount of work of a query with weight 1, in processor seconds, megabytes, files or scans.
AMOUNTS = {"compute": 8, "shuffle": 160, "read": 24, "cache": 120}
ALONE_SECONDS = 4  # target duration of a query that runs alone
TRIED = 0.5  # share of these amounts that is used to measure them
POOLS = ("a", "b")
OWN_POOL = "own"  # pool of the query that INTV3 isolates
DELAYS = (0.25, 0.5)  # as shares of the target's time, in INTV1
SLOTS = 4  # of each host, with one processor
ROUND_SECONDS = 180  # timeout of a round
GAIN_MIN = 0.1
WAIT_MIN = 0.2  # share of a query's time above which the console names the wait
CONTENTIONS = ("processor", "disk", "network", "none")
CONTENTION_FOR = {"io": "disk"}  # Names of resources that differ from the names of waits.
SPINNERS = 3
WRITERS = 8
# Each task of the target fetches about 0.4 MB from the other host.
SLOW_RATE = "1mbit"
TARGET = "target:mixed:a:12:0.8"
WARM = "warm:mixed:a:12:0.2"


class Application:
    """Runs Rounds.java on a standalone cluster, one round at a time."""

    def __init__(self, spark, hosts, manager, asked, more):
        data = spark.folder / f"data-{time.monotonic_ns()}"
        events = spark.folder / f"events-{time.monotonic_ns()}"
        data.mkdir()
        events.mkdir()
        settings = {"spark.master": manager.address, "spark.driver.host": machines.HUB,
                    "spark.driver.bindAddress": machines.HUB, "spark.scheduler.mode": "FAIR",
                    **cluster.reporting_to(asked.address), **more}
        command = spark.submit(["--name", "rounds", "--class", "org.tidemark.bench.Rounds", str(spark.jobs_jar()),
                                str(data)], settings, events)
        self.log = f"{events}.log"
        self.hosts = hosts
        known = asked.jobs()
        self.process = hosts.start(hosts.within_hub(*command), self.log, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, cwd=spark.folder,
                                   env={**spark.environment(), "SPARK_LOCAL_IP": machines.HUB})
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.until("READY")
        self.job = asked.wait_for(None, known)

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def until(self, last):
        said = []
        deadline = time.monotonic() + ROUND_SECONDS
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                raise SystemExit(f"no {last} within {ROUND_SECONDS} s; see the end of its log:\n{self.end_of_log()}")
            if line is None:
                raise SystemExit(f"the application has ended:\n{self.end_of_log()}")
            if line == last:
                return said
            said.append(line)

    def end_of_log(self):
        return pathlib.Path(self.log).read_text()[-3000:]

    def round(self, *queries):
        """Returns the group and the seconds of each query by its name."""
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


@contextlib.contextmanager
def application(spark, hosts, slots, disks, asked, more=None):
    with machines.Standalone(spark, hosts, slots, disks) as manager, \
            Application(spark, hosts, manager, asked, more or {}) as begun:
        yield begun


def workload(number):
    """Returns the target, the pools, tasks and weights of the four queries, and the order of their removal."""
    chance = random.Random(number)
    queries = {kind: (chance.choice(POOLS), chance.choice((4, 8, 12)), chance.choice((1, 1.5, 2))) for kind in KINDS}
    target = TARGETS[number % len(TARGETS)]
    sources = [kind for kind in KINDS if kind != target]
    chance.shuffle(sources)
    return target, queries, sources


def words_of(queries, amounts, share=1.0, delays=None):
    """Returns a line for Rounds.java, with the queries in the order in which a pool starts them (KINDS)."""
    words = []
    for kind, (pool, tasks, weight) in queries.items():
        work = amounts[kind] * weight * share
        if kind == "read":
            tasks = 1  # each task reads one file
        if kind in ("compute", "shuffle"):
            work /= tasks
        word = f"{kind}:{kind}:{pool}:{tasks}:{work if kind == 'compute' else max(1, round(work))}"
        words.append(f"{word}:{delays[kind]}" if delays and kind in delays else word)
    return words


def measured(begun):
    """Returns the amounts of work that take ALONE_SECONDS on these hosts, and warms the hosts up."""
    usual = {kind: ("a", 8, 1) for kind in KINDS}
    begun.round(*words_of(usual, AMOUNTS, 0.2))
    amounts = {}
    for kind in KINDS:
        seconds = begun.round(*words_of({kind: usual[kind]}, AMOUNTS, TRIED))[kind][1]
        amounts[kind] = AMOUNTS[kind] * TRIED * ALONE_SECONDS / seconds
    return amounts


def said_of(found, names):
    """Returns the reported seconds of each source, by its kind, with their bounds."""
    said = {}
    for culprit in found:
        if culprit.get("query") not in names:
            continue
        sums = said.setdefault(names[culprit["query"]], [0, 0, 0])
        for at, limit in enumerate(("seconds", "seconds_lower", "seconds_upper")):
            sums[at] += culprit.get(limit, culprit["seconds"])
    return said


def counts(gains, seconds):
    """Returns true if the largest gain is clear. `seconds` are the times of the target in two rounds of all queries."""
    following, best = sorted(gains.values())[-2:]
    return best >= GAIN_MIN * sum(seconds) / 2 and best - following >= abs(seconds[0] - seconds[1])


def intervene(begun, amounts, asked, number):
    target, queries, sources = workload(number)
    together = begun.round(*words_of(queries, amounts))
    time.sleep(why.SETTLED_SECONDS)
    names = {name: kind for kind, (name, _) in together.items() if kind != target}
    found = why.culprits(asked.why(f"{begun.job}/{together[target][0]}", "--top", "100"))
    said = said_of(found, names)
    named = max(said, key=lambda kind: said[kind][0], default=None)
    without = {}
    for source in sources:
        rest = {kind: query for kind, query in queries.items() if kind != source}
        without[source] = begun.round(*words_of(rest, amounts))[target][1]
    seconds = together[target][1], begun.round(*words_of(queries, amounts))[target][1]
    lasted = sum(seconds) / 2
    gains = {source: lasted - took for source, took in without.items()}
    return {"run": number, "target": target, "seconds": seconds, "queries": queries, "amounts": amounts,
            "gains": gains, "counts": counts(gains, seconds), "named": named, "said": said,
            "right": named == max(gains, key=gains.get),
            "is_within": named is not None and said[named][1] <= gains[named] <= said[named][2],
            "culprits": found[:5]}


def pools_file(folder):
    """Returns the settings of the pools. The own pool has half the weight of the other pools."""
    path = folder / "pools.xml"
    pools = [(pool, 2) for pool in POOLS] + [(OWN_POOL, 1)]
    path.write_text("<allocations>" + "".join(
        f'<pool name="{name}"><schedulingMode>FAIR</schedulingMode><weight>{weight}</weight><minShare>0</minShare></pool>'
        for name, weight in pools) + "</allocations>")
    return {"spark.scheduler.allocation.file": path.as_uri()}


def causes_of(ended, begun, asked, target=None):
    """Returns the row of each query that delayed the target, or without a target any query, by its kind."""
    names = {name: kind for kind, (name, _) in ended.items()}
    question = f"{begun.job}/{ended[target][0]}" if target else begun.job
    lists = {each["list"]: each["rows"] for each in asked.ask("contention", question, "--top", "100")}
    return {names[row["cause"]["query"]]: row for row in lists.get("causing_queries", [])
            if row["cause"].get("query") in names}


def figures_of(ended, begun, asked, target):
    """Returns the times of a round, and the responsibility and delay of each other query for the target's waits."""
    causes = causes_of(ended, begun, asked, target)
    return {"seconds": ended[target][1], "total": sum(seconds for _, seconds in ended.values()),
            "responsibilities": {kind: row["responsibility"] for kind, row in causes.items()},
            "delays": {kind: [row["seconds"], row["seconds_lower"], row["seconds_upper"]]
                       for kind, row in causes.items() if "seconds" in row}}


def paper_rounds(begun, wide, amounts, asked, number):
    """Returns the figures of INTV0 to INTV3 for one workload."""
    target, queries, sources = workload(number)
    base = begun.round(*words_of(queries, amounts))
    time.sleep(why.SETTLED_SECONDS)
    first = figures_of(base, begun, asked, target)
    # Causes are sorted, worst first.
    named = next(iter(first["responsibilities"]), None)
    aggressive = next(iter(causes_of(base, begun, asked)), None)
    without = {}
    for source in sources:
        rest = {kind: query for kind, query in queries.items() if kind != source}
        without[source] = begun.round(*words_of(rest, amounts))
    others = {}
    for part in DELAYS if named else ():
        others[f"delayed {part}"] = begun.round(*words_of(queries, amounts, delays={named: part * first["seconds"]}))
    if aggressive:
        alone = {**queries, aggressive: (OWN_POOL, *queries[aggressive][1:])}
        others["own_pool"] = begun.round(*words_of(alone, amounts))
    others["again"] = begun.round(*words_of(queries, amounts))
    twice = wide.round(*words_of(queries, amounts))
    time.sleep(why.SETTLED_SECONDS)
    run = {"run": number, "target": target, "queries": queries, "amounts": amounts, "base": first, "named": named,
           "aggressive": aggressive, "twice_the_slots": figures_of(twice, wide, asked, target),
           **{name: figures_of(ended, begun, asked, target) for name, ended in others.items()}}
    seconds = first["seconds"], run["again"]["seconds"]
    gains = {source: statistics.fmean(seconds) - ended[target][1] for source, ended in without.items()}
    best = max(gains, key=gains.get)
    delay = first["delays"].get(named)
    responsibilities = first["responsibilities"]
    return {**run, "gains": gains, "counts": counts(gains, seconds), "right": named == best,
            "is_most_responsible": best == max(responsibilities, key=responsibilities.get, default=None),
            "is_within": delay is not None and delay[1] <= gains[named] <= delay[2]}


def paper_all(arguments, kept, spark, hosts, asked):
    """Runs an application for the workloads, and another with twice the slots (INTV2)."""
    disks = [spark.folder / f"disk-of-{host.number}" for host in hosts.hosts]
    for disk in disks:
        disk.mkdir()
    with contextlib.ExitStack() as stack:
        begun = None
        for number in kept.missing(range(arguments.runs)):
            if begun is None:
                manager = stack.enter_context(machines.Standalone(spark, hosts, 3 * SLOTS, disks))
                begun, wide = (stack.enter_context(Application(spark, hosts, manager, asked, {
                    **pools_file(spark.folder), "spark.cores.max": slots * len(hosts.hosts)}))
                    for slots in (SLOTS, 2 * SLOTS))
                amounts = measured(begun)
                # The first of many rounds is slow.
                for each in (begun, wide):
                    each.round(*words_of(workload(number)[1], amounts))
            yield paper_rounds(begun, wide, amounts, asked, number)


def line_of_paper(run):
    base = run["base"]
    gains = ", ".join(f"{kind} {gain:.1f} s" for kind, gain in run["gains"].items())
    named = "nobody"
    if run["named"]:
        seconds, lower, upper = base["delays"].get(run["named"], (0, 0, 0))
        named = f"{run['named']} ({seconds:.1f} s, {lower:.1f} to {upper:.1f})"
    told = "right" if run["right"] else "wrong"
    changed = ", ".join(f"{name} {run[name]['seconds']:.1f} s ({run[name]['total']:.1f} s in total)"
                        for name in (*(f"delayed {part}" for part in DELAYS), "own_pool", "twice_the_slots", "again")
                        if name in run)
    return (f"workload {run['run']}: {run['target']} took {base['seconds']:.1f} s ({base['total']:.1f} s in total); named "
            f"{named}; gained without {gains}: {told if run['counts'] else f'does not count ({told})'}; {changed}; "
            f"in its own pool: {run['aggressive']}")


def summary_of_paper(runs):
    """Returns how often the named query was the one with the largest gain, and the median gains of INTV1 to INTV3."""
    def gains(name, of="seconds"):
        gained = [1 - run[name][of] / statistics.fmean((run["base"][of], run["again"][of]))
                  for run in runs if name in run]
        return statistics.median(gained) if gained else None
    counted = [run for run in runs if run["counts"]]
    return {"paper": {"right": sum(run["right"] for run in counted), "of": len(counted),
                      "within_limits": sum(run["is_within"] for run in counted), "runs": len(runs),
                      "right_of_all": sum(run["right"] for run in runs),
                      "within_limits_of_all": sum(run["is_within"] for run in runs),
                      "most_responsible_of_all": sum(run["is_most_responsible"] for run in runs),
                      **{f"delayed {part}": gains(f"delayed {part}") for part in DELAYS},
                      "twice_the_slots": gains("twice_the_slots"), "own_pool": gains("own_pool", "total")}}


def line_of_intervention(run):
    gains = ", ".join(f"{source} {gain:.1f} s" for source, gain in run["gains"].items())
    named = "nobody"
    if run["named"]:
        seconds, lower, upper = run["said"][run["named"]]
        named = f"{run['named']} ({seconds:.1f} s, {lower:.1f} to {upper:.1f})"
    told = "right" if run["right"] else "wrong"
    first, again = run["seconds"]
    return (f"workload {run['run']}: {run['target']} took {first:.1f} and {again:.1f} s; named {named}; "
            f"gained without {gains}: {told if run['counts'] else 'does not count'}")


def intervene_all(arguments, kept, spark, hosts, asked):
    disks = [spark.folder / f"disk-of-{host.number}" for host in hosts.hosts]
    for disk in disks:
        disk.mkdir()
    begun = amounts = None
    with contextlib.ExitStack() as stack:
        for number in kept.missing(range(arguments.runs)):
            if begun is None:
                begun = stack.enter_context(application(spark, hosts, SLOTS, disks, asked))
                amounts = measured(begun)
                # The first of many rounds is slow.
                begun.round(*words_of(workload(number)[1], amounts))
                print(f"amounts: {amounts}", flush=True)
            yield intervene(begun, amounts, asked, number)


@contextlib.contextmanager
def contention(kind, hosts, host, disk):
    """Induces contention for a resource of the host."""
    # The scheduler groups the processes of a session, regardless of their nice values.
    write = (f"echo 19 >/proc/self/autogroup; exec 2>/dev/null; "
             f"while :; do dd if=/dev/zero of={disk}/noise$0 bs=1M count=128 conv=fsync; done")
    commands = {"none": [], "network": [],
                "processor": SPINNERS * [host.within("sh", "-c", "while :; do :; done")],
                "disk": [["nice", "-n", "19", "sh", "-c", write, str(writer)] for writer in range(WRITERS)]}[kind]
    processes = []
    try:
        for command in commands:
            processes.append(subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL))
        if kind == "network":
            hosts.limit(host, SLOW_RATE)
        yield
    finally:
        for process in processes:
            cluster.measure.end_group(process)
        hosts.limit(host, machines.USUAL_RATE)
        for noise in pathlib.Path(disk).glob("noise*"):
            noise.unlink()
        if kind == "disk":
            os.sync()  # completes earlier writes


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


def line_of_induced(run):
    waits = ", ".join(f"{resource} {seconds:.1f} s" for resource, seconds in run["waits"].items())
    named = " on ".join(run["named"]) if run["named"] else "nothing"
    told = {True: "false blame", False: "right"}[run["false_blame"]] if run["contention"] == "none" else \
        "right" if run["right"] else "wrong"
    return (f"run {run['run']}: {run['contention']} on {run['host']}, took {run['seconds']:.1f} s, waited {waits}; "
            f"named {named}: {told}")


def place_of(number):
    """Returns the contention of a run, and the place of its host."""
    return CONTENTIONS[number % len(CONTENTIONS)], number // len(CONTENTIONS) % 2


def induce_all(arguments, kept, spark, hosts, asked):
    """Starts one application for each host with a disk."""
    for place, host in enumerate(hosts.hosts):
        begun = None
        disk = spark.folder / f"disk-of-{host.number}"
        disk.mkdir()
        with tempfile.TemporaryDirectory(prefix="tidemark-", dir="/dev/shm", ignore_cleanup_errors=True) as memory, \
                contextlib.ExitStack() as stack:
            disks = [disk if one is host else memory for one in hosts.hosts]
            for number in kept.missing(n for n in range(arguments.runs) if place_of(n)[1] == place):
                if begun is None:
                    # A write counts when its bytes are on the disk.
                    begun = stack.enter_context(
                        application(spark, hosts, 1, disks, asked, {"spark.shuffle.sync": "true"}))
                    begun.round(WARM)
                    begun.round(WARM)
                kind = place_of(number)[0]
                with contention(kind, hosts, host, disk):
                    time.sleep(1)
                    query, seconds = begun.round(TARGET)["target"]
                time.sleep(why.SETTLED_SECONDS)
                yield {"run": number, **judge(kind, host, hosts, asked, begun.job, query, seconds)}


def summary_of_induced(runs):
    shown = [run for run in runs if run["contention"] != "none"]
    return {"induced": {"right": sum(run["right"] for run in shown), "of": len(shown),
                        "false_blame": sum(run.get("false_blame", False) for run in runs),
                        "quiet": len(runs) - len(shown)}}


def summary_of_interventions(runs):
    counted = [run for run in runs if run["counts"]]
    return {"intervention": {"right": sum(run["right"] for run in counted), "of": len(counted),
                             "within_limits": sum(run["is_within"] for run in counted), "runs": len(runs)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--induced", action="store_true", help="induce contention on one host, instead of other queries")
    mode.add_argument("--paper", action="store_true", help="also delay queries, add slots, and give a query its own pool")
    parser.add_argument("--version", default="3.5.7", help="version of Spark")
    parser.add_argument("--runs", type=int,
                        help="workloads [10]; with --induced runs, every fourth without contention [13]")
    parser.add_argument("--only", type=int, help="run only this workload, from 0, even if it has results")
    parser.add_argument("--minutes", type=float, help="start no workload that may not end by then [25; with --induced 15]")
    parser.add_argument("--tidemark", default=cluster.measure.TIDEMARK)
    parser.add_argument("--json", help="output file")
    parser.add_argument("--save", action="store_true", help="also write the figures to bench/results/blame.json")
    arguments = parser.parse_args()
    arguments.runs = max(arguments.runs or (13 if arguments.induced else 10), (arguments.only or 0) + 1)
    minutes = arguments.minutes or (15 if arguments.induced else 25)
    name, run_all, line_of, summary = \
        ("induced", induce_all, line_of_induced, summary_of_induced) if arguments.induced else \
        ("paper", paper_all, line_of_paper, summary_of_paper) if arguments.paper else \
        ("intervention", intervene_all, line_of_intervention, summary_of_interventions)
    path = arguments.json or cluster.BUILD / f"{name}.json"
    cluster.measure.end_when_cut()
    kept = cluster.measure.Kept(path, arguments.only, minutes)
    cluster.build_connector()
    with cluster.Spark(arguments.version, arguments.tidemark) as spark, machines.Hosts() as hosts, \
            cluster.measure.master(arguments.tidemark, within=hosts.within_hub(), host=machines.HUB) as address:
        asked = why.Asked(hosts.within_hub(arguments.tidemark), address)
        with contextlib.closing(run_all(arguments, kept, spark, hosts, asked)) as new:
            for run in new:
                kept.add(run, summary, version=arguments.version)
                print(line_of(run), flush=True)
    print(summary(kept.runs))
    if arguments.save:
        cluster.measure.merge("blame", summary(kept.runs))


if __name__ == "__main__":
    main()
