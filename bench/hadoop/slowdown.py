#!/usr/bin/env python3
"""What the connector costs a job on YARN: the same job with and without it, in pairs.

Each pair runs both in alternating order. The slowdown is with / without - 1: of the client's
wall-clock time, and of the processor time of all tasks as Hadoop counts it, which other work on the
machine disturbs less. With: `tidemark hadoop run`, its master included. The bytes of what the tasks
reported are compared with those they shuffled. Writes bench/results/hadoop_slowdown.json.
usage: slowdown.py [--tidemark PATH] [--pairs N] [--jobs NAME...]
"""

import argparse
import pathlib
import re
import sys
import tempfile

import accuracy
import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import measure  # noqa: E402

TERA_BYTES = 60_000_000
JOBS = {  # name: jar, words, input
    "word-count": ("examples", ["wordcount"], "books"),
    "terasort": ("examples", ["terasort"], "rows"),
    "two-path": ("jobs", ["two-path", "-Dtwo.path.rounds=1000"], "facebook-combined"),
}


def counter(err, name):
    found = re.search(rf"{re.escape(name)}=(\d+)", err)
    if not found:
        raise SystemExit(f"the client did not print {name}:\n{err[-2000:]}")
    return int(found.group(1))


def run(cluster, name, watched):
    """Wall-clock seconds, processor seconds of the tasks, and the share of reported bytes."""
    jar, words, source = JOBS[name]
    words = [words[0], *words[1:], "-Dmapreduce.job.reduces=4", f"/inputs/{source}",
             cluster.output()]
    if not watched:
        seconds, err = cluster.timed(cluster.command(jar, words))
        return {"wall": seconds, "processor": counter(err, "CPU time spent (ms)") / 1000}
    with tempfile.TemporaryDirectory() as logs:
        seconds, err = cluster.timed(cluster.watched_command(
            jar, words, ["--progress", "quiet", "--log-dir", logs]))
        reported = sum(log.stat().st_size for log in pathlib.Path(logs).iterdir())
    return {"wall": seconds, "processor": counter(err, "CPU time spent (ms)") / 1000,
            "reported_share": reported / counter(err, "Reduce shuffle bytes")}


def measure_job(cluster, name, pairs):
    run(cluster, name, False)  # warms the caches of files
    times = []
    for pair in range(pairs):
        order = [True, False] if pair % 2 == 0 else [False, True]
        runs = {watched: run(cluster, name, watched) for watched in order}
        times.append({"with": runs[True], "without": runs[False]})
        print(f"{name}, pair {pair + 1}: " + ", ".join(
            f"{what} {100 * (runs[True][what] / runs[False][what] - 1):+.1f} %"
            for what in ("wall", "processor")), flush=True)
    result = {"pairs": times, "reported_share": measure.spread(
        [pair["with"]["reported_share"] for pair in times])}
    for what in ("wall", "processor"):
        result[what] = measure.spread(
            [pair["with"][what] / pair["without"][what] - 1 for pair in times])
        result[f"{what}_of_sums"] = (sum(pair["with"][what] for pair in times) /
                                     sum(pair["without"][what] for pair in times) - 1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=list(JOBS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        inputs = accuracy.unpack(directory)
        with hadoop.Cluster(arguments.tidemark, 1280, inputs) as cluster:
            if "terasort" in arguments.jobs:
                cluster.run("examples", ["teragen", str(TERA_BYTES // 100), "/inputs/rows"])
            jobs = {name: measure_job(cluster, name, arguments.pairs) for name in arguments.jobs}
    for name, job in jobs.items():
        print(f"{name}: wall {100 * job['wall']['mean']:+.1f} %, "
              f"processor {100 * job['processor']['mean']:+.1f} %, "
              f"reported {100 * job['reported_share']['median']:.2f} % of the shuffle")
    measure.save("hadoop_slowdown", {"jobs": jobs})


if __name__ == "__main__":
    main()
