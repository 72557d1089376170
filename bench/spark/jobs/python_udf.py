"""A function in Python on each row, then an aggregate. Argument: the share of the usual work."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import IntegerType

ROWS = 5_000_000


def steps_to_one(n):
    """Returns the length of the Collatz sequence of `n`."""
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


session = SparkSession.builder.getOrCreate()
rows = session.range(1, int(ROWS * float(sys.argv[1])), 1, 8).repartition(12)
steps = rows.select(udf(steps_to_one, IntegerType())("id").alias("steps"))
lengths = steps.groupBy("steps").count()
print("RESULT", *lengths.selectExpr("count(*)", "sum(steps * count)", "max(steps)").collect()[0])
session.stop()
