"""The applications that the benchmarks for Spark run."""

import re
import shlex

from cluster import JOBS

ADAPTIVE = {"spark.sql.adaptive.enabled": "true",
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2m",
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "2m",
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2"}
# Partitions of the size that clusters use would leave the cores of this machine idle.
PARTITIONED = {"spark.sql.adaptive.enabled": "true",
               "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m"}

OURS = {  # Maps a name to a class or a script, and to its settings.
    "groups": ("Groups", {}),
    "groups-keys": ("Groups", {"spark.tidemark.keys": "true"}),
    "skew-join-aqe": ("skew_join.py", ADAPTIVE),
    "skew-join": ("skew_join.py", {"spark.sql.adaptive.enabled": "false"}),
    "sort": ("sort.py", PARTITIONED),
    "aggregate": ("aggregate.py", PARTITIONED),
    "pagerank": ("PageRank", {}),
    "kmeans": ("KMeans", {}),
    "query": ("query.py", PARTITIONED),
    "python-udf": ("python_udf.py", PARTITIONED),
    "fair-pools": ("fair_pools.py", {**ADAPTIVE, "spark.scheduler.mode": "FAIR"}),
}


def words_of(spark, name, scale):
    """Returns the arguments of spark-submit for an application, and its settings. Histories use its name."""
    program, settings = OURS[name]
    if program.endswith(".py"):
        words = [str(JOBS / program)]
    else:
        words = ["--class", f"org.tidemark.bench.{program}", str(spark.jobs_jar())]
    return ["--name", name, *words, f"{scale:g}"], settings


def others(words):
    """Returns applications by name. Each begins with a file, or with options and a file, in one word.

    Words without a .py or .jar file are arguments of the preceding application.
    """
    found = {}
    for word in words:
        parts = shlex.split(word)
        file = next((part for part in parts if re.search(r"\.(py|jar)$", part)), None)
        if file:
            name = re.sub(r".*/|\.(py|jar)$", "", file)
            found[f"{name}-{len(found) + 1}" if name in found else name] = command = parts
        elif not found:
            raise SystemExit(f"{word}: no file that ends in .py or .jar")
        else:
            command += parts
    return found
