"""Runs a skewed groupByKey or join, and reports Spark's count of tasks during the run.

Arguments: groups or join; the share of the usual work.
"""

import sys
import threading

from pyspark.sql import SparkSession

import skew_join

SECONDS_BETWEEN_LOOKS = 1


def tasks(tracker):
    """Returns the numbers of succeeded tasks and of all tasks of the jobs so far."""
    done, known, seen = 0, 0, set()
    for job in tracker.getJobIdsForGroup(None):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else []:
            counts = tracker.getStageInfo(stage)
            is_skipped = counts and info.status != "RUNNING" and counts.numCompletedTasks == 0
            if counts and not is_skipped and stage not in seen:
                seen.add(stage)
                done += counts.numCompletedTasks
                known += counts.numTasks
    return done, known


def tell(tracker, over):
    before = None
    while not over.wait(SECONDS_BETWEEN_LOOKS):
        done, known = tasks(tracker)
        if known and (done, known) != before:
            print(f"Spark: {done} of {known} tasks have ended, {100 * done // known} %", flush=True)
        before = done, known


session = SparkSession.builder.getOrCreate()
context, scale, over = session.sparkContext, float(sys.argv[2]), threading.Event()
teller = threading.Thread(target=tell, args=(context.statusTracker(), over))
teller.start()
if sys.argv[1] == "groups":
    context._jvm.org.tidemark.bench.Groups.run(context._jsc, scale)
else:
    skew_join.run(session, scale)
over.set()
teller.join()
session.stop()
