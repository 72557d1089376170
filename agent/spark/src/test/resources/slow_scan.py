"""Reads a table from a slow file system. Argument: the path of the table, which is written first."""
import sys

from pyspark.sql import SparkSession, functions as F

SLOW_FILES = "org.tidemark.spark.jobs.SlowFiles"

spark = SparkSession.builder.appName("slow scan").config("spark.hadoop.fs.slow.impl", SLOW_FILES).getOrCreate()
print("APPLICATION", spark.sparkContext.applicationId)
spark.range(0, 1_000_000, 1, 1).write.parquet(sys.argv[1])
rows = spark.read.schema("id long").parquet("slow://" + sys.argv[1])
print("RESULT", rows.agg(F.sum("id")).collect()[0][0])
print("MICROS", spark._jvm.org.tidemark.spark.jobs.SlowFiles.sleptMicros())
spark.stop()
