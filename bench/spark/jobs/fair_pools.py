"""Runs two queries concurrently, each in its own FAIR pool. Argument: the share of the usual
work."""

import sys

from pyspark import InheritableThread
from pyspark.sql import SparkSession

import aggregate
import skew_join

session = SparkSession.builder.getOrCreate()
results = {}


def run(pool, query, scale):
    session.sparkContext.setLocalProperty("spark.scheduler.pool", pool)
    results[pool] = query(session, scale)


share = float(sys.argv[1]) / 2
threads = [InheritableThread(target=run, args=("reports", aggregate.run, share)),
           InheritableThread(target=run, args=("joins", skew_join.run, share))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("RESULT", *(tuple(results[pool]) for pool in sorted(results)))
session.stop()
