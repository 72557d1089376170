"""A slow function in Python on rows that all fit into what is sent ahead of it. Argument: how many tasks."""
import sys
import time

from pyspark.sql import SparkSession, functions as F

ROWS = 4000

spark = SparkSession.builder.appName("python rows").getOrCreate()
print("APPLICATION", spark.sparkContext.applicationId)


@F.udf("string")
def slowly(n):
    time.sleep(0.001)
    return f"{n:01000}"


tasks = int(sys.argv[1])
rows = spark.range(0, tasks * ROWS, 1, 1).repartition(tasks)
print("RESULT", rows.select(slowly("id").alias("text")).agg(F.sum(F.length("text"))).collect()[0][0])
spark.stop()
