"""Runs a MapReduce job in the driver of an application. Each has the connector for its engine.

Arguments: the input, the output and the master.
"""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("both").getOrCreate()
jvm = spark.sparkContext._jvm
print("APPLICATION", spark.sparkContext.applicationId)
mapred = jvm.org.apache.hadoop.mapred
conf = mapred.JobConf()
for key, value in {
    "mapreduce.framework.name": "local",
    "tidemark.master": sys.argv[3],
    "mapreduce.job.map.output.collector.class":
        "org.tidemark.hadoop.TidemarkCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
    "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.tidemark.hadoop.TidemarkShuffle",
}.items():
    conf.set(key, value)
mapred.FileInputFormat.setInputPaths(conf, sys.argv[1])
mapred.FileOutputFormat.setOutputPath(conf, jvm.org.apache.hadoop.fs.Path(sys.argv[2]))
job = mapred.JobClient.runJob(conf)
print("MAPREDUCE", job.getID().toString(), job.isSuccessful())
print("RESULT", spark.read.text(sys.argv[2]).count())
spark.stop()
deadline = jvm.java.lang.System.currentTimeMillis() + 10000
while True:
    names = [thread.getName() for thread in jvm.java.lang.Thread.getAllStackTraces().keySet()]
    left = [name for name in names if name.startswith("tidemark-")]
    if not left or jvm.java.lang.System.currentTimeMillis() > deadline:
        break
print("THREADS", len(left), *left)
