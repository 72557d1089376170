#!/usr/bin/env python3
"""Measures the accuracy of Tidemark on YARN, compared with Hadoop's own progress of the same run.

Both are sampled at the same instants. The error is that of [NF] 7.4 for the whole job: the mean
distance between the shown progress and elapsed / total, in points of progress. Writes
bench/results/hadoop_accuracy.json.
In one or two waves, eight reduce tasks share the cores of this machine and run faster when others end.
In four waves on two cores, each has a separate core. With --again each job runs twice with one
master that has a history: first as an unknown job, then with a past run. With --short, eight of Hadoop's
example jobs run instead. Each is unknown to its master, which has observed four others.
With --ordinary, jobs with ordinary features of Hadoop run twice with one master each, and their
event logs stay in --log-dir. --replay judges them again, without a cluster.
usage: ./dev bench hadoop_accuracy [--waves 1 2 4] [--jobs NAME...] [--again] [--short]
                                   [--ordinary | --replay] [--log-dir DIR] [--scale X] [--add]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import cluster as hadoop

sys.path.insert(0, str(hadoop.ROOT / "bench"))
import judge  # noqa: E402
import measure  # noqa: E402

MAPS = 4
REDUCES = 8
TERA_BYTES = 300_000_000
INDICATORS = ("tidemark", "nearestfit", "hadoop", "jobratio", "taskratio")
BOOK_COPIES = 24
# Megabytes of each of the two nodes. An application master takes 384, and a task 256.
NODE_MEGABYTES = {1: 1664, 2: 832, 4: 512}


# Maps a name to its jar, job, setting for the amount of work and its value, input, whether it is
# skewed, and other settings.
JOBS = {
    "two-path-github": ("jobs", "two-path", "two.path.rounds", 200, "musae-github", True),
    "two-path-facebook": ("jobs", "two-path", "two.path.rounds", 3000, "facebook-combined", True),
    "two-path-wiki-vote": ("jobs", "two-path", "two.path.rounds", 2000, "wiki-vote", True),
    "two-path-regular": ("jobs", "two-path", "two.path.rounds", 450, "regular", False),
    "inverted-index": ("jobs", "inverted-index", "index.rounds", 6, "books", False),
    "terasort": ("examples", "terasort", None, 0, "rows", False),
    "random-text": ("examples", "randomtextwriter", None, 0, None, False,
                    "-Dmapreduce.randomtextwriter.totalbytes=1600000000",
                    "-Dmapreduce.randomtextwriter.bytespermap=200000000"),
    "index-maps": ("jobs", "inverted-index", None, 0, "books", False, "-Dmapreduce.job.reduces=0",
                   "-Dmapreduce.input.fileinputformat.split.maxsize=8000000"),
    "hanging-map": ("jobs", "faulty-words", None, 0, "books", False, "-Dfaulty.map.hangs=1",
                    "-Dmapreduce.map.speculative=true", "-Dmapreduce.job.reduce.slowstart.completedmaps=1",
                    "-Dmapreduce.task.progress-report.interval=300",
                    "-Dmapreduce.job.speculative.retry-after-no-speculate=300",
                    "-Dmapreduce.input.fileinputformat.split.maxsize=4000000"),
}


# Jobs of Hadoop's examples in two halves. Each half is measured at a master that has run the other
# half.
SHORT_JOBS = (
    {"wordcount": ["-Dmapreduce.job.reduces=4", "IN", "OUT"],
     "wordmean": ["IN", "OUT"],
     "aggregatewordcount": ["IN", "OUT", "2", "textinputformat"],
     "terasort": ["-Dmapreduce.job.reduces=4", "/inputs/rows", "OUT"]},
    {"wordmedian": ["IN", "OUT"],
     "wordstandarddeviation": ["IN", "OUT"],
     "aggregatewordhist": ["IN", "OUT", "2", "textinputformat"],
     "pi": ["4", "20000000"]},
)
SHORT_TERA_BYTES = 60_000_000


FOUR_REDUCES = ["-Dmapreduce.job.reduces=4"]
STREAMING_JOB = pathlib.Path(__file__).with_name("streaming_job.py")


def streaming(mapper, reducer, source):
    return ("streaming", [*FOUR_REDUCES, "-files", f"file://{STREAMING_JOB}", "-input", f"/inputs/{source}",
                          "-output", "OUT", "-mapper", f"python3 streaming_job.py {mapper}",
                          "-reducer", f"python3 streaming_job.py {reducer}"])


SPLITS = "-Dmapreduce.input.fileinputformat.split.maxsize="
# Maps the name of a job to its jar and arguments.
ORDINARY_JOBS = {
    "streaming-pairs": streaming("edges", "pairs 2", "musae-github"),
    "giant-key": ("jobs", ["giant-key", *FOUR_REDUCES, SPLITS + "8000000", "-Dordinary.reduce.rounds=60",
                           "/inputs/books", "OUT"]),
    "secondarysort": ("examples", ["secondarysort", *FOUR_REDUCES, SPLITS + "12000000", "/inputs/edges", "OUT"]),
    "hanging-map": ("jobs", [*JOBS["hanging-map"][1:2], *JOBS["hanging-map"][6:], *FOUR_REDUCES,
                             "/inputs/books", "OUT"]),
    "digest-maps": ("jobs", ["digest-maps", SPLITS + "3000000", "-Dordinary.map.rounds=120",
                             "/inputs/books", "OUT"]),
    "small-files": ("jobs", ["small-files", *FOUR_REDUCES, SPLITS + "4000000", "-Dordinary.map.rounds=60",
                             "-Dordinary.reduce.rounds=40", "/inputs/small", "OUT"]),
    "grep": ("examples", ["grep", SPLITS + "4000000", "/inputs/books", "OUT", "[a-z]*ing"]),
    "streaming-words": streaming("words 12", "count", "books"),
    "combined-words": ("examples", ["wordcount", *FOUR_REDUCES, SPLITS + "4000000",
                                    "-Dmapreduce.map.output.compress=true", "/inputs/books", "OUT"]),
}
SMALL_FILES = 200
EDGE_COPIES = 20


def regular_graph(nodes, neighbours):
    """Returns a graph in which all nodes have the same number of neighbours."""
    return "".join(f"{node}\t{(node + 97 * step) % nodes}\n"
                   for node in range(nodes) for step in range(1, neighbours // 2 + 1))


def scaled(count, scale):
    return max(1, round(count * scale))


def books():
    return b"".join(
        subprocess.run(["zstd", "-dc", book], capture_output=True, check=True).stdout
        for book in sorted((hadoop.ROOT / "data" / "text").glob("*.zst")))


def unpack(directory, scale):
    """Returns the inputs: unchanged graphs, repeated books."""
    data = hadoop.ROOT / "data"
    inputs = {}
    for graph in ("musae-github", "facebook-combined", "wiki-vote"):
        path = pathlib.Path(directory) / graph
        subprocess.run(["zstd", "-dqo", path, data / "graphs" / f"{graph}.txt.zst"], check=True)
        inputs[graph] = path
    inputs["regular"] = pathlib.Path(directory) / "regular"
    inputs["regular"].write_text(regular_graph(nodes=20_000, neighbours=80))
    inputs["books"] = pathlib.Path(directory) / "books"
    inputs["books"].write_bytes(books() * scaled(BOOK_COPIES, scale))
    return inputs


def sampled(said, begin, end):
    """Returns the fractions at evenly spaced instants."""
    return [one.fraction if one else 0 for one in judge.at_instants(said, begin, end)]


def average_error(curve):
    return judge.mean([100 * abs(said - share) for said, share in zip(curve, judge.TRUTH)])


def run_job(cluster, name, scale, address):
    jar, job, effort, amount, source, skewed, *others = JOBS[name]
    size = (TERA_BYTES * scale if source in ("rows", None)
            else (cluster.folder / "inputs" / source).stat().st_size)
    settings = [f"-Dmapreduce.job.reduces={REDUCES}",
                f"-Dmapreduce.input.fileinputformat.split.maxsize={int(size) // MAPS + 1}",
                "-Dmapreduce.reduce.speculative=false", "-Dmapreduce.map.speculative=false"]
    if effort:
        # Books are repeated in proportion to the amount of work, and graphs are not.
        settings.append(f"-D{effort}={amount if source == 'books' else scaled(amount, scale)}")
    paths = [f"/inputs/{source}"] if source else []
    run = run_words(cluster, jar, [job, *settings, *others, *paths, cluster.output()], address)
    return {"job": name, "skewed": skewed, **run}


def run_words(cluster, jar, words, address):
    with hadoop.AmProgress(cluster) as progress:
        _, snapshots = cluster.run_watched(jar, words, ["--compare", "--master", address])
    final = snapshots[-1]
    if final["state"] != "JOB_STATE_SUCCEEDED":
        raise SystemExit(f"{words[0]}: the job did not report success: {final['state']}")
    begin = judge.instant(final["started_at"])
    end = judge.instant(final["ended_at"])
    own = [judge.Said(at, fraction) for at, fraction in progress.samples.get(final["job_id"], [])]
    curves = {"tidemark": sampled(judge.said_by_snapshots(snapshots), begin, end),
              "hadoop-am": sampled(own, begin, end)}
    return {"seconds": end - begin,
            "errors": {indicator: average_error(curve) for indicator, curve in curves.items()},
            "reduce_phase": {error["indicator"]: [error["last_stage_avg_points"], error["last_stage_max_points"]]
                             for error in final.get("errors", []) if "last_stage_avg_points" in error}}


def run_short_jobs(arguments, inputs):
    """Runs each job for the first time, at a master that has run the other half."""
    runs = []
    for waves in arguments.waves:
        with hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES[waves], inputs) as cluster:
            cluster.generate_rows(SHORT_TERA_BYTES)
            for measured in range(2):
                with measure.master(arguments.tidemark, arguments.log_dir, INDICATORS) as address:
                    for half in (1 - measured, measured):
                        for name, words in SHORT_JOBS[half].items():
                            words = [{"IN": "/inputs/books", "OUT": cluster.output()}.get(word, word)
                                     for word in words]
                            run = run_words(cluster, "examples", [name, *words], address)
                            tell(name, waves, "others only" if half == measured else "the first at its master",
                                 run)
                            if half == measured:
                                runs.append({"job": name, "waves": waves, **run})
    behind = sum(run["errors"]["tidemark"] > run["errors"]["hadoop-am"] for run in runs)
    print(f"behind Hadoop's own in {behind} of {len(runs)}")
    measure.save("hadoop_accuracy_short", {"commit": measure.context()["commit"], "runs": runs})


def add_ordinary_inputs(cluster, scale):
    folder = cluster.folder / "inputs"
    edges = b"".join(line for line in (folder / "musae-github").open("rb") if not line.startswith(b"#"))
    (folder / "edges").write_bytes(edges * scaled(EDGE_COPIES, scale))
    (folder / "small").mkdir()
    lines = (folder / "books").read_bytes().splitlines(keepends=True)
    for i in range(SMALL_FILES):
        (folder / "small" / f"{i:03}").write_bytes(b"".join(lines[i::SMALL_FILES]))


def record_ordinary_jobs(arguments, inputs):
    """Runs each job twice with one master. Stores the event logs, and Hadoop's own progress beside them."""
    cluster = hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES[2], inputs)
    add_ordinary_inputs(cluster, arguments.scale)
    with cluster:
        for name in arguments.jobs:
            jar, words = ORDINARY_JOBS[name]
            logs = pathlib.Path(arguments.log_dir) / name
            with measure.master(arguments.tidemark, logs) as address:
                for earlier_runs in range(2):
                    output = cluster.output()
                    with hadoop.AmProgress(cluster) as progress:
                        seconds, _ = cluster.run_watched(
                            jar, [output if word == "OUT" else word for word in words], ["--master", address])
                    measure.keep(logs / f"run{earlier_runs}.json", {"hadoop": progress.samples})
                    print(f"{name}, {earlier_runs} runs known, {seconds:.0f} s", flush=True)


def replay(tidemark, log):
    """Returns the snapshots of an event log."""
    done = subprocess.run([tidemark, "replay", log, "-o", "jsonl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge_ordinary_jobs(arguments):
    """Compares the progress in replays of the recorded jobs with Hadoop's own progress."""
    runs = []
    for name in arguments.jobs:
        logs = pathlib.Path(arguments.log_dir) / name
        for earlier_runs in range(2):
            samples = measure.kept(logs / f"run{earlier_runs}.json").get("hadoop", {})
            for number, job in enumerate(sorted(samples)):
                snapshots = replay(arguments.tidemark, logs / f"{job}.tidemark-log")
                begin, end = (judge.instant(snapshots[-1][key]) for key in ("started_at", "ended_at"))
                own = [judge.Said(at, fraction) for at, fraction in samples[job]]
                errors = {"tidemark": average_error(sampled(judge.said_by_snapshots(snapshots), begin, end)),
                          "hadoop-am": average_error(sampled(own, begin, end))}
                runs.append({"job": f"{name} {number + 1}" if len(samples) > 1 else name,
                             "earlier_runs": earlier_runs, "seconds": end - begin, "errors": errors})
                tell(runs[-1]["job"], 2, f"{earlier_runs} runs", runs[-1])
    if not runs:
        sys.exit(f"{arguments.log_dir}: no recordings of these jobs")
    for earlier_runs in range(2):
        errors = [run["errors"] for run in runs if run["earlier_runs"] == earlier_runs]
        means = {indicator: judge.mean([e[indicator] for e in errors]) for indicator in errors[0]}
        behind = sum(e["tidemark"] > e["hadoop-am"] for e in errors)
        print(f"{earlier_runs} runs known, mean of {len(errors)}: " +
              ", ".join(f"{k} {v:.1f}" for k, v in means.items()) + f"; behind Hadoop's own in {behind}")
    measure.save("hadoop_accuracy_ordinary", {"runs": runs})


def tell(name, waves, known, run):
    print(f"{name}, {waves} wave(s), known: {known}, {run['seconds']:.0f} s: " +
          ", ".join(f"{k} {v:.1f}" for k, v in run["errors"].items()), flush=True)


def print_reduce_phase(runs):
    """Prints the mean errors of the reduce phase alone, beside the means of Table 2 of [NF]."""
    printed = {"nearestfit": "2.73 / 7.05", "hadoop": "13.71 / 28.46", "jobratio": "12.53 / 26.45", "taskratio": "10.94 / 25.35"}
    measured = [run["reduce_phase"] for run in runs if run.get("reduce_phase")]
    for indicator in measured[0] if measured else []:
        average, largest = (sum(run[indicator][i] for run in measured) / len(measured) for i in (0, 1))
        print(f"reduce phase, {indicator}: {average:.2f} / {largest:.1f}, printed {printed.get(indicator, '-')}")


def print_means(runs):
    """Summarizes the jobs of a kind by work, waves and past runs."""
    def kind(run):
        return run["scale"], run["waves"], run["earlier_runs"], not run["skewed"]

    for scale, waves, earlier_runs, balanced in sorted({kind(run) for run in runs}):
        errors = [run["errors"] for run in runs
                  if kind(run) == (scale, waves, earlier_runs, balanced)]
        print(f"{scale:g} times the work, {waves} wave(s), {earlier_runs} earlier, "
              f"{'balanced' if balanced else 'skewed'}: " +
              ", ".join(f"{indicator} {sum(e[indicator] for e in errors) / len(errors):.1f}"
                        for indicator in errors[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default=measure.TIDEMARK)
    parser.add_argument("--waves", type=int, nargs="+", default=list(NODE_MEGABYTES),
                        choices=list(NODE_MEGABYTES))
    parser.add_argument("--jobs", nargs="+")
    parser.add_argument("--again", action="store_true", help="run each job a second time")
    parser.add_argument("--short", action="store_true", help="run short jobs on a cluster that has run other jobs")
    parser.add_argument("--ordinary", action="store_true", help="run jobs with ordinary features of Hadoop twice")
    parser.add_argument("--replay", action="store_true", help="judge the recordings of --ordinary in --log-dir again")
    parser.add_argument("--log-dir", help="folder for the event logs")
    parser.add_argument("--scale", type=float, default=1, help="share of the usual work")
    parser.add_argument("--add", action="store_true", help="add to the results in the file")
    arguments = parser.parse_args()
    known = ORDINARY_JOBS if arguments.ordinary or arguments.replay else JOBS
    if unknown := set(arguments.jobs or known) - set(known):
        parser.error(f"unknown jobs: {', '.join(sorted(unknown))}")
    arguments.jobs = arguments.jobs or list(known)
    if (arguments.ordinary or arguments.replay) and not arguments.log_dir:
        parser.error("--ordinary and --replay need --log-dir")
    if arguments.replay:
        judge_ordinary_jobs(arguments)
        return
    commit = measure.context()["commit"]
    runs = measure.load("hadoop_accuracy")["runs"] if arguments.add else []
    with tempfile.TemporaryDirectory() as directory:
        inputs = unpack(directory, arguments.scale)
        if arguments.ordinary:
            record_ordinary_jobs(arguments, inputs)
            judge_ordinary_jobs(arguments)
            return
        if arguments.short:
            run_short_jobs(arguments, inputs)
            return
        for waves in arguments.waves:
            with hadoop.Cluster(arguments.tidemark, NODE_MEGABYTES[waves], inputs) as cluster:
                if "terasort" in arguments.jobs:
                    cluster.generate_rows(TERA_BYTES * arguments.scale)
                for name in arguments.jobs:
                    with measure.master(arguments.tidemark, arguments.log_dir, INDICATORS) as address:
                        for earlier_runs in range(2 if arguments.again else 1):
                            run = {"commit": commit, "scale": arguments.scale,
                                   "waves": waves, "earlier_runs": earlier_runs,
                                   **run_job(cluster, name, arguments.scale, address)}
                            runs.append(run)
                            tell(name, waves, f"{earlier_runs} runs", run)
                            measure.save("hadoop_accuracy",
                                         {"reduces": REDUCES, "runs": runs})
    print_means(runs)
    print_reduce_phase(runs)


if __name__ == "__main__":
    main()
