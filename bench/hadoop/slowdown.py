#!/usr/bin/env python3
"""Measures the cost of the connector for a job on YARN, with pairs of runs with and without the connector.

Each pair runs both in alternating order. The slowdown is with / without - 1, of three times. The job's time is from its
submission to its end by the resource manager. The command's time includes the start of the client and the end of
`tidemark run hadoop`. The processor time of all tasks comes from Hadoop's counters, and other work on the machine affects
it less. The master runs on the same machine. Reported bytes are compared with shuffled bytes. The job short-tasks has
almost idle tasks, so it shows the cost per task process. Writes bench/results/hadoop_slowdown.json.
usage: ./dev bench hadoop_slowdown [--pairs N] [--jobs NAME...] [--scale X] [--split-bytes N] [--add]
"""

import argparse
import pathlib
import re
import string
import sys
import tempfile

import accuracy
import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import measure  # noqa: E402

REDUCES = 4
TERA_BYTES = 240_000_000
LANGUAGE_COPIES = 78
TWO_PATH_ROUNDS = 60
SPLIT_BYTES = 32_000_000
SHORT_SPLIT_BYTES = 40_000  # yields 22 map tasks
# of each of the two nodes; eight tasks of 256 run next to an application master of 384
NODE_MEGABYTES = 1280
MEASURES = ("job", "command", "processor")


def jobs(scale, split_bytes=SPLIT_BYTES):
    """name: jar, words, input"""
    rounds = accuracy.scaled(TWO_PATH_ROUNDS, scale)
    return {
        "word-count": ("examples", ["wordcount", splits_of(split_bytes)], "languages"),
        "terasort": ("examples", ["terasort", splits_of(split_bytes)], "rows"),
        "two-path": ("jobs", ["two-path", f"-Dtwo.path.rounds={rounds}"], "musae-github"),
        "short-tasks": ("jobs", ["two-path", splits_of(SHORT_SPLIT_BYTES)], "facebook-combined"),
    }


def splits_of(size_bytes):
    return f"-Dmapreduce.input.fileinputformat.split.maxsize={size_bytes}"


def write_languages(path, copies):
    """Writes the books repeatedly, each time in another artificial language, whose alphabet is shifted.

    Many copies of a few books would have the vocabulary of these books, and a combiner would leave almost nothing to
    shuffle.
    """
    text = accuracy.books()
    small, large = string.ascii_lowercase, string.ascii_uppercase
    with open(path, "wb") as file:
        for copy in range(copies):
            shift = copy % len(small)
            shifted = small[shift:] + small[:shift] + large[shift:] + large[:shift]
            file.write(text.translate(bytes.maketrans((small + large).encode(), shifted.encode())))


def counter(err, name):
    found = re.search(rf"{re.escape(name)}=(\d+)", err)
    if not found:
        raise SystemExit(f"the client did not print {name}:\n{err[-2000:]}")
    return int(found.group(1))


def job_seconds(cluster, err):
    number = re.search(r"Running job: job_(\d+_\d+)", err).group(1)
    return cluster.ask(f"/ws/v1/cluster/apps/application_{number}")["app"]["elapsedTime"] / 1000


def run(cluster, job, watched):
    """Returns the seconds of each measure, and the reported and shuffled bytes."""
    jar, words, source = job
    words = [words[0], *words[1:], f"-Dmapreduce.job.reduces={REDUCES}",
             "-Dmapreduce.map.speculative=false", "-Dmapreduce.reduce.speculative=false",
             f"/inputs/{source}", cluster.output()]
    with tempfile.TemporaryDirectory() as logs:
        command = cluster.command(jar, words)
        if watched:
            command = cluster.watched_command(
                jar, words, ["-o", "quiet", "--log-dir", logs])
        seconds, err = cluster.timed(command)
        reported = sum(log.stat().st_size for log in pathlib.Path(logs).iterdir())
    if watched and reported == 0:
        raise SystemExit("the connector did not report")
    return {"job": job_seconds(cluster, err), "command": seconds,
            "processor": counter(err, "CPU time spent (ms)") / 1000,
            "tasks": counter(err, "Launched map tasks") + counter(err, "Launched reduce tasks"),
            "reported_bytes": reported, "shuffled_bytes": counter(err, "Reduce shuffle bytes")}


def compare(pairs):
    """Returns the slowdown of each measure over all pairs."""
    result = {"pairs": pairs, "reported_share": measure.spread(
        [pair["with"]["reported_bytes"] / pair["with"]["shuffled_bytes"] for pair in pairs])}
    for what in MEASURES:
        result[what] = measure.spread(
            [pair["with"][what] / pair["without"][what] - 1 for pair in pairs])
        result[f"{what}_of_sums"] = (sum(pair["with"][what] for pair in pairs) /
                                     sum(pair["without"][what] for pair in pairs) - 1)
    result["processor_seconds_a_task"] = measure.spread(
        [(pair["with"]["processor"] - pair["without"]["processor"]) / pair["with"]["tasks"]
         for pair in pairs])
    return result


def measure_job(cluster, name, job, count):
    run(cluster, job, False)  # Fills the caches of files.
    pairs = []
    for pair in range(count):
        order = [True, False] if pair % 2 == 0 else [False, True]
        runs = {watched: run(cluster, job, watched) for watched in order}
        pairs.append({"with": runs[True], "without": runs[False]})
        print(f"{name}, pair {pair + 1}, {runs[False]['job']:.0f} s: " + ", ".join(
            f"{what} {100 * (runs[True][what] / runs[False][what] - 1):+.1f} %"
            for what in MEASURES), flush=True)
    return compare(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--jobs", nargs="+", default=list(jobs(1)), choices=list(jobs(1)))
    parser.add_argument("--scale", type=float, default=1, help="share of the usual work")
    parser.add_argument("--split-bytes", type=int, default=SPLIT_BYTES, help="input bytes of a map task")
    parser.add_argument("--add", action="store_true", help="add to the results in the file")
    arguments = parser.parse_args()
    scale = arguments.scale
    suffix = "" if scale == 1 else f", {scale:g} times the work"
    commit = measure.context()["commit"]
    saved = measure.load("hadoop_slowdown")["jobs"] if arguments.add else {}
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        inputs = accuracy.unpack(directory, scale)
        inputs["languages"] = pathlib.Path(directory) / "languages"
        write_languages(inputs["languages"], accuracy.scaled(LANGUAGE_COPIES, scale))
        with hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES, inputs) as cluster:
            if "terasort" in arguments.jobs:
                cluster.generate_rows(TERA_BYTES * scale)
            for name in arguments.jobs:
                job = jobs(scale, arguments.split_bytes)[name]
                results[name + suffix] = {"commit": commit, "split_bytes": arguments.split_bytes,
                                          **measure_job(cluster, name, job, arguments.pairs)}
                measure.save("hadoop_slowdown", {"jobs": saved | results})
    for name, job in results.items():
        print(f"{name}: " + ", ".join(
            f"{what} {100 * job[what]['mean']:+.1f} % (worst {100 * job[what]['max']:+.1f} %)"
            for what in MEASURES) +
            f", {job['processor_seconds_a_task']['mean']:+.2f} s of processor a task, reported "
            f"{100 * job['reported_share']['median']:.2f} % of the shuffle")


if __name__ == "__main__":
    main()
