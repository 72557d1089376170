"""Records event logs of real runs of Spark at other settings and parameters."""

import itertools
import json
import pathlib
import random
import shutil

import cluster

VERSION = "3.5.7"
PROGRAMS = ("aggregation", "sort", "join", "iterative")
SETTINGS_OF_EACH = 16
LEVELS = {"executors": (1, 2), "cores": (1, 2), "memory_fraction": (0.6, 0.05),
          "compress": (True, False), "partitions": (8, 32, 200), "data": (1, 2)}
PARAMETERS = {
    "word_count": ("letters", ("a", "a,b,c", "a,b,c,d,e,f", "b,d,f,h", "c,e,g,i,k,m,o,q", "e,f,g,h,i,j,k,l,m,n,o,p",
                               "q,r,s,t,u,v,w,x,y,z", "h,i")),
    "page_rank": ("iterations", ("1", "2", "3", "4", "5", "6", "8", "10")),
    "k_means": ("k", ("10", "20", "30", "40", "50", "60", "80", "100")),
}
PARAMETER_RUNS_OF_EACH = 12


def balanced(program):
    """Returns the settings of a program, which are always the same. In the first eight and in the last eight, all
    levels of a setting occur equally often."""
    chance = random.Random(program)
    all_of_them = [dict(zip(LEVELS, levels)) for levels in itertools.product(*LEVELS.values())]
    best, least = None, None
    for _ in range(3000):
        some = chance.sample(all_of_them, SETTINGS_OF_EACH)
        unbalance = 0
        for half in (some[:SETTINGS_OF_EACH // 2], some[SETTINGS_OF_EACH // 2:]):
            for name, levels in LEVELS.items():
                counts = [sum(one[name] == level for one in half) for level in levels]
                unbalance += (max(counts) - min(counts)) ** 2
            together = [(one["executors"], one["cores"]) for one in half]
            unbalance += sum(abs(together.count(pair) - 2) for pair in set(together)) + 4 * (4 - len(set(together)))
        if least is None or unbalance < least:
            best, least = some, unbalance
    return best


def settings_runs(rounds):
    """Yields all runs `rounds` times, in an order in which a disturbance of one minute affects different programs."""
    of = {program: balanced(program) for program in PROGRAMS}
    for at, i, program in itertools.product(range(rounds), range(SETTINGS_OF_EACH), PROGRAMS):
        yield {"suite": "settings", "program": program, "half": 2 * i // SETTINGS_OF_EACH, "number": i,
               "round": at, "parameters": {}, **of[program][i]}


def parameter_runs():
    chance = random.Random(22)
    runs = []
    for program, (name, values) in PARAMETERS.items():
        for i in range(PARAMETER_RUNS_OF_EACH):
            executors, cores = ((1, 1), (1, 2), (2, 1))[chance.randrange(3)]
            runs.append({"suite": "gray_box", "program": program, "half": i % 2, "number": i,
                         "round": 0, "parameters": {name: values[(i * 5 + i // 8) % len(values)]},
                         "executors": executors, "cores": cores, "memory_fraction": 0.6, "compress": True,
                         "partitions": 8, "data": 1 + chance.randrange(2)})
    return sorted(runs, key=lambda run: run["number"])


def name_of(run):
    again = f"-{run['round'] + 1}" if run["round"] else ""
    return f"{run['suite']}-{run['program']}-{run['number']:02}{again}"


def megabytes(run):
    return 1024


def properties(run):
    compress = str(run["compress"]).lower()
    return {
        "spark.master": f"local-cluster[{run['executors']},{run['cores']},{megabytes(run)}]",
        "spark.executor.memory": f"{megabytes(run)}m",
        "spark.executor.cores": str(run["cores"]),
        "spark.executor.instances": str(run["executors"]),
        "spark.memory.fraction": str(run["memory_fraction"]),
        "spark.shuffle.compress": compress,
        "spark.sql.shuffle.partitions": str(run["partitions"]),
        "spark.default.parallelism": str(run["partitions"]),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.files.maxPartitionBytes": "16m",
        "spark.hadoop.fs.local.block.size": "16777216",
        **{f"spark.tidemark.param.{name}": value for name, value in run["parameters"].items()},
    }


class Kept:
    """Stores NAME.spark-log and NAME.json of each run, in a folder with their data."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.data = self.folder / "data"
        self.data.mkdir(parents=True, exist_ok=True)

    def log(self, run):
        return self.folder / f"{name_of(run)}.spark-log"

    def has(self, run):
        return self.log(run).exists()

    def make_data(self, spark, jar):
        for size in LEVELS["data"]:
            if (self.data / f"made-{size}").exists():
                continue
            for left in self.data.glob(f"*-{size}"):
                shutil.rmtree(left)
            spark.run(["--class", "org.tidemark.bench.WhatIf", str(jar), "make", str(self.data), str(size)])
            (self.data / f"made-{size}").touch()

    def record(self, spark, jar, run):
        words = ["--name", f"what-if-{run['program']}", "--class", "org.tidemark.bench.WhatIf", str(jar),
                 run["program"], str(self.data), str(run["data"]),
                 *(f"{name}={value}" for name, value in run["parameters"].items())]
        ended = spark.run(words, properties(run))
        (self.folder / f"{name_of(run)}.json").write_text(json.dumps(run) + "\n")
        shutil.move(ended.events, self.log(run))


def record_missing(kept, runs, said=print):
    """Runs the programs that have no log yet."""
    missing = [run for run in runs if not kept.has(run)]
    if not missing:
        return
    with cluster.Spark(VERSION) as spark:
        jar = spark.jobs_jar()
        kept.make_data(spark, jar)
        for run in missing:
            kept.record(spark, jar, run)
            said(f"{name_of(run)}: {run}")
