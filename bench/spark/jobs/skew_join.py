"""A sort-merge join with one key in three tenths of one side. Argument: the share of the usual work."""

import sys

from pyspark.sql import SparkSession

FACTS = 16_000_000
KEYS = 50_000
MATCHES_OF_THE_HOT_KEY = 3_000


def run(spark, scale):
    facts = spark.range(0, int(FACTS * scale), 1, 8).selectExpr(
        f"CASE WHEN id % 10 < 3 THEN 0 ELSE 1 + pmod(hash(id), {KEYS}) END AS k", "id AS fact")
    dimensions = spark.range(0, 3 * KEYS + MATCHES_OF_THE_HOT_KEY, 1, 4).selectExpr(
        f"CASE WHEN id < {MATCHES_OF_THE_HOT_KEY} THEN 0 ELSE 1 + id % {KEYS} END AS k",
        "id AS dimension")
    joined = facts.hint("merge").join(dimensions, "k")
    return joined.selectExpr("count(*)", "sum(xxhash64(fact, dimension) & 1023)").collect()[0]


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    print("RESULT", *run(session, float(sys.argv[1])))
    session.stop()
