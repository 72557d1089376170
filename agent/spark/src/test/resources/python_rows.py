"""Runs a slow Python function on few rows, which all fit into the buffer of the Python process. Argument: the number of
tasks."""
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
