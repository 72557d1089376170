"""Runs a hash aggregate of many groups. Argument: the share of the usual work."""

import sys

from pyspark.sql import SparkSession

ROWS = 120_000_000
GROUPS = 6_000_000


def run(spark, scale):
    rows = spark.range(0, int(ROWS * scale), 1, 12).selectExpr(
        f"pmod(xxhash64(id), {int(GROUPS * scale)}) AS k", "id & 1023 AS v")
    groups = rows.groupBy("k").agg({"v": "sum", "*": "count"})
    return groups.selectExpr("count(*)", "sum(`sum(v)` * (k & 1023))", "max(`count(1)`)").collect()[0]


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    print("RESULT", *run(session, float(sys.argv[1])))
    session.stop()
