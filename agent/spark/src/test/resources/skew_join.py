"""Runs a join whose partitions adaptive execution merges and splits, and the same join without it.

Arguments: the number of partitions, and "true" or "false" for each run with or without adaptive
execution.
"""
import sys

from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.appName("skew join").getOrCreate()
print("APPLICATION", spark.sparkContext.applicationId)
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
spark.conf.set("spark.sql.shuffle.partitions", sys.argv[1])
spark.conf.set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "150k")
spark.conf.set("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")
spark.conf.set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "200k")
for adaptive in sys.argv[2:]:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    key = F.when(F.col("id") % 3 == 0, F.lit(7)).otherwise(F.col("id") % 2000)
    text = F.sha1(F.col("id").cast("string"))
    left = spark.range(0, 100000, 1, 6).select(key.alias("key"), text.alias("text"))
    right = spark.range(0, 2000, 1, 3).select(F.col("id").alias("key"))
    joined = left.join(right, "key").agg(F.count("*"), F.max("text")).collect()[0]
    print("RESULT", joined[0], joined[1])
spark.stop()
